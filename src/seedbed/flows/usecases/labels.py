"""Labels as people give and read them: kept by image, on disk before they are acknowledged; snapshots into bundles."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.labels import Changes, Label, LabelEvent, Source
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.bundle import Bundle, Draft, Lineage
from seedbed.assets.store.store import Store
from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.ids import new_id
from seedbed.base.names import in_a_name
from seedbed.flows.golden import Check, Golden
from seedbed.flows.images import SEVERAL, Images, images_in, refuse_names
from seedbed.flows.kinds.data import DataSet
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.quality import Quality, quality_of
from seedbed.flows.usecases.pages import require_project


@dataclass(frozen=True)
class Said:
    """What somebody says of an image, which they name by its row in a data set, or in the event itself."""

    event: LabelEvent
    row: int | None = None


@dataclass(frozen=True)
class Feed:
    """Changes, with the row of each event's image; -1: it is not in that data set."""

    changes: Changes
    rows: Sequence[int]


@dataclass(frozen=True)
class Disagreement:
    """An image that people call by different classes."""

    image: str
    index: int
    said: Mapping[str, str]  # person to class


class ProjectLabels:
    """What people do with the labels of projects."""

    def __init__(self, kept: KeptProjects, store: Store, audit: Audit) -> None:
        self._kept = kept
        self._store = store
        self._audit = audit

    def add_labels(self, ref: str, events: Sequence[LabelEvent], *, by: Identity) -> int:
        """Append label events in the name of `by`; on disk when it returns. How many were new.

        All or none: where the project has its data set, every image that gets a label must be in it. It is kept by
        its id, whichever of its names the event has.
        """
        project = self._require(ref, Role.LABELLER, by)
        if any(event.source == Source.GOLDEN for event in events):
            by.require(Role.TRAINER, project.id)
        said = [replace(event, by=by.name) for event in self._by_id(project, events)]
        return self._keep(project, said)

    def labels(self, ref: str, *, by: Identity) -> Mapping[str, Label]:
        """Image to what counts of it: by id, where the image is in the project's data set."""
        project = self._require(ref, Role.VIEWER, by)
        return self._kept.labels(project.id, self._same(project))

    def counts(self, ref: str, *, by: Identity) -> Mapping[str, int]:
        """How many images each class has."""
        project = self._require(ref, Role.VIEWER, by)
        return self._kept.counts(project.id, self._same(project))

    def history(self, ref: str, image: str = "", *, by: Identity) -> Sequence[Label]:
        """Everything that was ever said of one image (by any of its names), or of all."""
        project = self._require(ref, Role.VIEWER, by)
        images = self._images(project.data) if image else None
        row = images.only(image) if images else None
        if images is None or row is None:
            return self._kept.history(project.id, image)
        names = dict.fromkeys((images.ids[row], *images.record(row).files))
        found = [event for name in names for event in self._kept.history(project.id, name)]
        return sorted(found, key=lambda event: event.number)

    def is_meant(self, ref: str, image: str, *, by: Identity) -> bool:
        """Whether the same was said of an image twice in a row: somebody looked again and kept its label."""
        said = [event.label for event in self.history(ref, image, by=by)][-2:]
        return len(said) == 2 and said[0] == said[1] != ""

    def changes(self, ref: str, *, after: int = 0, limit: int = 10_000, data: str = "", by: Identity) -> Feed:
        """What was said after a number, with the row of each image in a data set: the project's, or another."""
        project = self._require(ref, Role.VIEWER, by)
        images = self._rows_of(project, data, by)
        changes = self._heard(project, self._kept.changes(project.id, after=after, limit=limit), by)
        rows = [_row(images, event.image) for event in changes.events]
        return Feed(changes, rows)

    def last_number(self, ref: str, *, by: Identity) -> int:
        """The number of the newest event, changes of classes among them; 0: there is none."""
        return self._kept.last_number(self._require(ref, Role.VIEWER, by).id)

    def disagreements(self, ref: str, *, data: str = "", by: Identity) -> Sequence[Disagreement]:
        """Images on which people's last labels differ, with what each of them said, the newest first.

        Whoever says something of an image on which people differ already has settled it, until somebody differs anew.
        """
        project = self._require(ref, Role.VIEWER, by)
        images, same = self._rows_of(project, data, by), self._same(project)
        to_say = {check.image for check in self.checks_for(project, by=by) if not check.said}
        opinions = self._kept.opinions(project.id, same).items()
        apart = {image: said for image, said in opinions if _differ(one.label for one in said.values())}
        names = dict.fromkeys(one.image for said in apart.values() for one in said.values())
        asked = _open_questions(self._kept.said_of(project.id, list(names)), same) - to_say
        newest = sorted(asked & apart.keys(), key=lambda image: -max(one.number for one in apart[image].values()))
        told = {image: {person: one.label for person, one in apart[image].items()} for image in newest}
        return [Disagreement(image, _row(images, image), said) for image, said in told.items()]

    def quality(self, ref: str, *, by: Identity) -> Quality:
        """How far people agree on images that several have labelled, and how they do where the answer is known.

        Trainers see how everybody does, others how they do themselves.
        """
        project = self._require(ref, Role.VIEWER, by)
        same = self._same(project)
        golden = Golden(self._kept.on_golden(project.id, same))
        person = "" if by.may(Role.TRAINER, project.id) else by.name
        return quality_of(self._kept.opinions(project.id, same), golden, only=person)

    def checks_for(self, project: Project, *, by: Identity) -> Sequence[Check]:
        """Images with a golden label that `by` is asked about; none where that is switched off."""
        return self._golden(project).asked_of(by.name)

    def events_of(self, ref: str, said: Sequence[Said], *, data: str = "", by: Identity) -> Sequence[LabelEvent]:
        """Label events from what was said of images by their row in a data set (the project's, or another) or name."""
        project = self._require(ref, Role.LABELLER, by)
        images = self._rows_of(project, data, by) if any(one.row is not None for one in said) else None
        count = len(images.ids) if images else 0
        wrong = [one.row for one in said if one.row is not None and not 0 <= one.row < count]
        if wrong:
            hint = "Give the data set that the numbers are of as 'data'." if count else "Name the images instead."
            raise InvalidInput(
                f"There are {count:,} images; there is no number {wrong[0]}. No label was kept.", hint=hint
            )
        ids = images.ids if images else ()
        return [replace(one.event, image=ids[one.row]) if one.row is not None else one.event for one in said]

    def label_row(self, ref: str, row: int, label: str, *, data: str = "", by: Identity) -> None:
        """Say what one image shows, by its row in a data set (the project's, or another)."""
        said = Said(LabelEvent(new_id(), "", label, by.name), row)
        self.add_labels(ref, self.events_of(ref, [said], data=data, by=by), by=by)

    def snapshot_labels(self, ref: str, *, by: Identity) -> Bundle:
        """The labels as they are now, as a labels bundle; unchanged labels give the bundle that is already there."""
        with TemporaryDirectory() as folder:
            made = self.draft_labels(ref, Path(folder), by=by)
            return made if isinstance(made, Bundle) else self._store.publish(made)

    def draft_labels(self, ref: str, folder: Path, *, by: Identity) -> Bundle | Draft:
        """The same before it is published, with its files in a fresh folder; or the bundle that is already there."""
        project = self._require(ref, Role.LABELLER, by)
        rows = {str(row["image"]): str(row["label"]) for row in self._kept.snapshot(project.id, self._same(project))}
        if not rows:
            raise InvalidInput(f"No image of '{project.name}' has a label yet.", hint="Label a few images first.")
        labels = Labels.write(folder, rows)
        name = f"{in_a_name(project.name)}.labels"
        draft = labels.draft(name=name, project=project.id, lineage=Lineage(step="snapshot-labels"))
        newest = self._store.find(draft.name, kind=Labels.kind, project=project.id)
        if newest and _same(newest[0], labels, self._store):
            return newest[0]
        return replace(draft, uuid=new_id())

    def _keep(self, project: Project, said: Sequence[LabelEvent], *, new_classes: Sequence[str] = ()) -> int:
        """On disk when it returns, and after them the golden labels that they must not cover."""
        restored = self._golden(project).restored(said)
        same = self._same(project)
        return self._kept.add_labels(project.id, said, new_classes=new_classes, also=restored, same=same)

    def _golden(self, project: Project) -> Golden:
        is_on = project.settings.honeypots > 0
        return Golden(self._kept.on_golden(project.id, self._same(project)) if is_on else {})

    def _heard(self, project: Project, changes: Changes, by: Identity) -> Changes:
        """Without what others said of images that `by` is asked about as if nobody had."""
        asked, same = {check.image for check in self.checks_for(project, by=by)}, self._same(project)
        if not asked:
            return changes
        return replace(changes, events=[e for e in changes.events if e.by == by.name or same(e.image) not in asked])

    def _by_id(self, project: Project, events: Sequence[LabelEvent]) -> list[LabelEvent]:
        """Events that name images by their ids; labels of images that are not there, or not clear, are refused.

        What was said of an image that has gone can be taken back.
        """
        images = self._images(project.data)
        if images is None:
            return [*events]
        rows = {event.image: images.row(event.image) for event in events}
        labelled = {event.image for event in events if event.label}
        refuse_names(
            [name for name in labelled if rows[name] is None],
            [name for name in labelled if rows[name] == SEVERAL],
            data=self._store.get(project.data).name,
            project=project.name,
        )
        return [replace(event, image=images.id_of(event.image)) for event in events]

    def _same(self, project: Project) -> Callable[[str], str]:
        images = self._images(project.data)
        return str if images is None else images.id_of

    def _images(self, data: str) -> Images | None:
        try:
            return images_in(self._store, self._store.get(data)) if data else None
        except NotFound:  # it was removed: nothing is known of its images
            return None

    def _rows_of(self, project: Project, data: str, by: Identity) -> Images | None:
        """The images that rows are of: those of the project's data set, or of another that `by` may see."""
        if data and data != project.data:
            found = self._store.get(data)
            require_project(by, Role.VIEWER, found.project, what=f"data set '{data}'")
            if found.kind != DataSet.kind:
                raise InvalidInput(f"'{data}' is of kind '{found.kind}', not a data set.")
            return images_in(self._store, found)
        return self._images(project.data)

    def _require(self, ref: str, role: Role, by: Identity) -> Project:
        project = self._kept.get(ref)
        by.require(role, project.id)
        return project


def _row(images: Images | None, name: str) -> int:
    row = images.only(name) if images else None
    return -1 if row is None else row


def _differ(labels: Iterable[str]) -> bool:
    return len({label for label in labels if label}) > 1


def _open_questions(events: Sequence[Label], same: Callable[[str], str]) -> set[str]:
    """Images on which people differ and nobody has said since what is right; the events from the oldest on.

    Only a person settles: a list that is brought in was made without looking at this, and where the answer is known
    people are asked without being told what others said.
    """
    asked: set[str] = set()
    known = {same(event.image) for event in events if event.source == Source.GOLDEN}
    said: dict[str, dict[str, str]] = {}
    last: dict[str, str] = {}
    for event in events:
        image = same(event.image)
        people = said.setdefault(image, {})
        people[event.by] = event.label
        settles = image in asked and image not in known and event.label and event.source == Source.PERSON
        if settles or not _differ(people.values()):
            asked.discard(image)
        elif event.label != last.get(image):
            asked.add(image)
        last[image] = event.label
    return asked


def _same(bundle: Bundle, labels: Labels, store: Store) -> bool:
    (kept,) = bundle.arrays["labels"].files
    return store.path_of(kept.digest).read_bytes() == labels.file("labels", "labels.csv").read_bytes()
