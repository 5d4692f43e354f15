"""Projects as people use them: classes, labels, snapshots of labels into bundles."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.classes import Class
from seedbed.assets.projects.labels import Label, LabelEvent
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.bundle import Bundle, Draft, Lineage
from seedbed.assets.store.store import Store
from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.ids import new_id
from seedbed.flows.facts import names_in
from seedbed.flows.kinds.data import DataSet
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.usecases.pages import may_see, require_project

_SHOWN = 5  # names of images in one sentence


class Projects:
    """What people do with projects; somebody who is no member does not even see one."""

    def __init__(self, kept: KeptProjects, store: Store, audit: Audit) -> None:
        self._kept = kept
        self._store = store
        self._audit = audit

    def create(self, name: str, *, classes: Sequence[str] = (), by: Identity) -> Project:
        """A new project; its maker may do everything in it."""
        by.require(Role.TRAINER)
        project = self._kept.create(name, by.id, classes)
        self._audit.record(by.name, "project.create", project.id, data={"name": name})
        return project

    def list(self, *, by: Identity) -> "list[Project]":
        """The projects that `by` may see, the newest first."""
        return [project for project in self._kept.list() if may_see(by, project.id)]

    def get(self, ref: str, *, by: Identity) -> Project:
        """One project by id or name."""
        return self._require(ref, Role.VIEWER, by)

    def rename(self, ref: str, name: str, *, by: Identity) -> Project:
        """Another name; the id stays."""
        project = self._require(ref, Role.TRAINER, by)
        self._audit.record(by.name, "project.rename", project.id, data={"name": name})
        return self._kept.rename(project.id, name)

    def delete(self, ref: str, *, by: Identity) -> None:
        """The project and its labels go; its bundles stay in the store."""
        project = self._require(ref, Role.OPERATOR, by)
        self._kept.delete(project.id)
        self._audit.record(by.name, "project.delete", project.id, data={"name": project.name})

    def classes(self, ref: str, *, by: Identity) -> Sequence[Class]:
        """Its classes in order."""
        return self._kept.classes(self._require(ref, Role.VIEWER, by).id)

    def add_class(self, ref: str, name: str, *, by: Identity) -> Class:
        """One more class."""
        project = self._require(ref, Role.TRAINER, by)
        self._audit.record(by.name, "project.add-class", project.id, data={"class": name})
        return self._kept.add_class(project.id, name)

    def rename_class(self, ref: str, old: str, new: str, *, by: Identity) -> None:
        """Another name for a class and its labels."""
        project = self._require(ref, Role.TRAINER, by)
        self._kept.rename_class(project.id, old, new, by=by.name)
        self._audit.record(by.name, "project.rename-class", project.id, data={"old": old, "new": new})

    def remove_class(self, ref: str, name: str, *, with_labels: bool = False, by: Identity) -> None:
        """Take a class away; one that images are labelled with only `with_labels`."""
        project = self._require(ref, Role.TRAINER, by)
        self._kept.remove_class(project.id, name, with_labels=with_labels, by=by.name)
        self._audit.record(by.name, "project.remove-class", project.id, data={"class": name})

    def set_data(self, ref: str, bundle: str, *, by: Identity) -> Project:
        """Which data set the project is about: a bundle by uuid or name."""
        project = self._require(ref, Role.TRAINER, by)
        found = self._store.get(bundle)
        require_project(by, Role.VIEWER, found.project)
        if found.kind != DataSet.kind:
            raise InvalidInput(f"'{bundle}' is of kind '{found.kind}'; a project works on a '{DataSet.kind}'.")
        self._audit.record(by.name, "project.set-data", project.id, data={"bundle": found.uuid})
        return self._kept.set_data(project.id, found.uuid)

    def add_labels(self, ref: str, events: Sequence[LabelEvent], *, by: Identity) -> int:
        """Append label events in the name of `by`; on disk when it returns. How many were new.

        All or none: where the project has its data set, every image that gets a label must be in it.
        """
        project = self._require(ref, Role.LABELLER, by)
        self._check_images(project, events)
        return self._kept.add_labels(project.id, [replace(event, by=by.name) for event in events])

    def labels(self, ref: str, *, by: Identity) -> Mapping[str, Label]:
        """Image to what counts of it."""
        return self._kept.labels(self._require(ref, Role.VIEWER, by).id)

    def counts(self, ref: str, *, by: Identity) -> Mapping[str, int]:
        """How many images each class has."""
        return self._kept.counts(self._require(ref, Role.VIEWER, by).id)

    def history(self, ref: str, image: str = "", *, by: Identity) -> Sequence[Label]:
        """Everything that was ever said of one image, or of all."""
        return self._kept.history(self._require(ref, Role.VIEWER, by).id, image)

    def snapshot_labels(self, ref: str, *, by: Identity) -> Bundle:
        """The labels as they are now, as a labels bundle; unchanged labels give the bundle that is already there."""
        with TemporaryDirectory() as folder:
            made = self.draft_labels(ref, Path(folder), by=by)
            return made if isinstance(made, Bundle) else self._store.publish(made)

    def draft_labels(self, ref: str, folder: Path, *, by: Identity) -> Bundle | Draft:
        """The same before it is published, with its files in a fresh folder; or the bundle that is already there."""
        project = self._require(ref, Role.LABELLER, by)
        rows = {str(row["image"]): str(row["label"]) for row in self._kept.snapshot(project.id)}
        if not rows:
            raise InvalidInput(f"No image of '{project.name}' has a label yet.", hint="Label a few images first.")
        labels = Labels.write(folder, rows)
        draft = labels.draft(name=f"{project.name}.labels", project=project.id, lineage=Lineage(step="snapshot-labels"))
        newest = self._store.find(draft.name, kind=Labels.kind, project=project.id)
        if newest and _same(newest[0], labels, self._store):
            return newest[0]
        return replace(draft, uuid=new_id())

    def _check_images(self, project: Project, events: Sequence[LabelEvent]) -> None:
        """Refuse labels of images that are not there; what was said of an image that has gone can be taken back."""
        try:
            data = self._store.get(project.data) if project.data else None
        except NotFound:  # it was removed: nothing is known of its images
            data = None
        if data is None:
            return
        known = names_in(self._store, data)
        strange = sorted({event.image for event in events if event.label and event.image not in known})
        if strange:
            shown = ", ".join(strange[:_SHOWN]) + (", ..." if len(strange) > _SHOWN else "")
            images = (
                "1 of the labelled images is" if len(strange) == 1 else f"{len(strange):,} of the labelled images are"
            )
            raise InvalidInput(
                f"{images} not in '{data.name}', the data set of '{project.name}': {shown}. No label was kept.",
                hint=f"Correct the names, or bring the images in first: seedbed data add IMAGES --to {data.name}",
            )

    def _require(self, ref: str, role: Role, by: Identity) -> Project:
        project = self._kept.get(ref)
        by.require(role, project.id)
        return project


def _same(bundle: Bundle, labels: Labels, store: Store) -> bool:
    (kept,) = bundle.arrays["labels"].files
    return store.path_of(kept.digest).read_bytes() == labels.file("labels", "labels.csv").read_bytes()
