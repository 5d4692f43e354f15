"""Projects as people use them: their kinds, settings and classes; labels are in `labels` and `label_files`."""

from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.db.engine import Transaction
from seedbed.assets.projects.classes import Class, Kind, NewClass
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.projects.settings import ProjectSettings
from seedbed.assets.store.store import Store
from seedbed.base.errors import Conflict, InvalidInput
from seedbed.flows.choosers import chooser_problems
from seedbed.flows.kinds.data import DataSet
from seedbed.flows.naming import job_in_words
from seedbed.flows.usecases.label_files import LabelFiles
from seedbed.flows.usecases.pages import may_see, require_project
from seedbed.runtime.jobs.queue import Queue

_MOST_NAMED = 5  # jobs that a refusal names


class Projects(LabelFiles):
    """What people do with projects, their classes and labels; who is no member does not even see one."""

    def __init__(self, kept: KeptProjects, store: Store, audit: Audit, queue: Queue) -> None:
        super().__init__(kept, store, audit)
        self._queue = queue

    def create(
        self,
        name: str,
        *,
        classes: Sequence[str | NewClass] = (),
        kind: Kind = Kind.CLASSES,
        settings: Mapping[str, Any] | None = None,
        by: Identity,
    ) -> Project:
        """A new project; its maker may do everything in it."""
        by.require(Role.TRAINER)
        _check_settings(settings or {})
        project = self._kept.create(name, by.id, classes, kind=kind, settings=settings)
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
        made = self._kept.rename(project.id, name)
        self._audit.record(by.name, "project.rename", project.id, data={"name": name})
        return made

    def set_kind(self, ref: str, kind: Kind, *, by: Identity) -> Project:
        """What its classes are; refused where those that are there do not fit."""
        project = self._require(ref, Role.TRAINER, by)
        made = self._kept.set_kind(project.id, kind)
        self._audit.record(by.name, "project.set-kind", project.id, data={"kind": str(kind)})
        return made

    def set_settings(self, ref: str, changes: Mapping[str, Any], *, by: Identity) -> Project:
        """Change some of its settings; null brings a default back."""
        project = self._require(ref, Role.TRAINER, by)
        _check_settings(changes)
        made = self._kept.set_settings(project.id, changes)
        self._audit.record(by.name, "project.set-settings", project.id, data={"settings": dict(changes)})
        return made

    def delete(self, ref: str, *, by: Identity) -> None:
        """The project and its labels go, and with them who was in it.

        Its bundles stay in the store, where only operators of the service still see them. Refused while a job of it
        is open: whoever began it could neither watch nor cancel it any more.
        """
        project = self._require(ref, Role.OPERATOR, by)

        def along(conn: Transaction) -> None:
            self._refuse_open_jobs(conn, project)
            self._audit.record(by.name, "project.delete", project.id, data={"name": project.name}, connection=conn)

        self._kept.delete(project.id, along)

    def classes(self, ref: str, *, by: Identity) -> Sequence[Class]:
        """Its classes in order."""
        return self._kept.classes(self._require(ref, Role.VIEWER, by).id)

    def add_class(self, ref: str, new: str | NewClass, *, by: Identity) -> Class:
        """One more class."""
        project = self._require(ref, Role.TRAINER, by)
        made = self._kept.add_class(project.id, new)
        self._audit.record(by.name, "project.add-class", project.id, data={"class": made.name})
        return made

    def change_class(self, ref: str, name: str, changes: Mapping[str, Any], *, by: Identity) -> Class:
        """Another name, colour, key or value for a class; its labels go by the new name."""
        project = self._require(ref, Role.TRAINER, by)
        made = self._kept.change_class(project.id, name, changes, by=by.name)
        action, told = "project.change-class", {"class": name, **changes}
        if "name" in changes:
            action, told = "project.rename-class", {"old": name, "new": made.name, **changes}
        self._audit.record(by.name, action, project.id, data=told)
        return made

    def rename_class(self, ref: str, old: str, new: str, *, by: Identity) -> None:
        """Another name for a class and its labels."""
        self.change_class(ref, old, {"name": new}, by=by)

    def order_classes(self, ref: str, names: Sequence[str], *, by: Identity) -> Sequence[Class]:
        """Another order of the classes, which names each of them once."""
        project = self._require(ref, Role.TRAINER, by)
        return self._kept.order_classes(project.id, names)

    def merge_class(self, ref: str, old: str, into: str, *, by: Identity) -> int:
        """Make two classes one, with the labels of both; how many images change their class."""
        project = self._require(ref, Role.TRAINER, by)
        count = self._kept.merge_class(project.id, old, into, by=by.name)
        told = {"old": old, "into": into, "labels": count}
        self._audit.record(by.name, "project.merge-class", project.id, data=told)
        return count

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
        made = self._kept.set_data(project.id, found.uuid)
        self._audit.record(by.name, "project.set-data", project.id, data={"bundle": found.uuid})
        return made

    def _refuse_open_jobs(self, conn: Transaction, project: Project) -> None:
        found = self._queue.open_in(conn, project.id, limit=_MOST_NAMED + 1)
        if not found:
            return
        named = [f"{job_in_words(job.name, job.step)} ({job.id}) is {job.state}." for job in found[:_MOST_NAMED]]
        raise Conflict(
            f"'{project.name}' cannot be removed while work for it goes on.",
            problems=[*named, *(["There are more."] if len(found) > _MOST_NAMED else [])],
            hint="Wait until it has ended, or cancel it: on its page, from Queue, or with seedbed jobs cancel ID.",
        )


def _check_settings(changes: Mapping[str, Any]) -> None:
    ProjectSettings().changed(changes, also=chooser_problems(changes.get("chooser")))
