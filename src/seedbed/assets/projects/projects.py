"""Projects: a domain expert's use case, with its classes, its images and what people said of them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, or_, select, update

from seedbed.assets.access.roles import Role, no_such_project
from seedbed.assets.db import tables
from seedbed.assets.db.engine import Database
from seedbed.assets.projects import labels as label_events
from seedbed.assets.projects.labels import Label, LabelEvent
from seedbed.assets.store.events import Events
from seedbed.base.clock import Clock, Instant
from seedbed.base.errors import Conflict, InvalidInput, NotFound
from seedbed.base.ids import new_id
from seedbed.base.registry import near_matches
from seedbed.base.text import is_plain, problems_of_text

_LIKE_AN_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MOST_CLASSES = 10_000
_MOST_EVENTS = 100_000  # of history in one answer
# told apart by people who do not see all colours alike, on light and on dark ground
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b5a900", "#7f7f7f")
_KEYS = "1234567890"


@dataclass(frozen=True)
class Project:
    """A use case: its name, who made it, and the data set that it works on (a bundle's uuid, or nothing yet)."""

    id: str
    name: str
    created: Instant
    owner: str
    data: str


@dataclass(frozen=True)
class Class:
    """One of the answers that a label can be, with its colour on pages and its key on the keyboard."""

    name: str
    position: int
    colour: str
    key: str


class Projects:
    """The projects in the database. Safe to use from any thread.

    A project is referred to by id or by name. A change locks the project's row first and appends its event after:
    within one project changes and labels happen one after the other, and all writers take locks in the same order.
    """

    def __init__(self, database: Database, events: Events, clock: Clock) -> None:
        self._database = database
        self._events = events
        self._clock = clock

    # --- projects ---------------------------------------------------------------------------------------------------

    def create(self, name: str, owner: str, classes: Sequence[str] = ()) -> Project:
        """A new project; its owner (a user's id) becomes a member who may do everything in it."""
        _check_project_name(name)
        _check_class_names(classes, existing=())
        project = Project(new_id(), name, self._clock.now(), owner, "")
        with self._database.write() as connection:
            self._events.lock(connection)  # a new project has no row to lock; two of one name wait here
            _require_free(connection, name)
            connection.execute(insert(tables.projects).values(vars(project)))
            _insert_classes(connection, project.id, classes)
            if connection.scalar(select(tables.users.c.id).where(tables.users.c.id == owner)) is not None:
                membership = {"project": project.id, "user": owner, "role": Role.OPERATOR.value}
                connection.execute(insert(tables.members).values(membership))
            self._changed(connection, project, "project.created", {"name": name})
        return project

    def get(self, reference: str) -> Project:
        """The project of this id or name."""
        with self._database.read() as connection:
            return _find(connection, reference)

    def list(self) -> list[Project]:
        """Every project, the newest first."""
        projects = tables.projects
        with self._database.read() as connection:
            rows = connection.execute(select(projects).order_by(projects.c.created.desc(), projects.c.id.desc()))
            return [_project(row) for row in rows]

    def rename(self, reference: str, name: str) -> Project:
        """Give a project another name."""
        _check_project_name(name)
        return self._set(reference, "project.renamed", name=name)

    def set_data(self, reference: str, bundle: str) -> Project:
        """Say which data set the project works on (a bundle's uuid); its labels stay."""
        return self._set(reference, "project.data-set", data=bundle)

    def delete(self, reference: str) -> None:
        """Remove a project with its classes, memberships and label events."""
        with self._database.write() as connection:
            project = _lock(connection, reference)
            self._changed(connection, project, "project.deleted", {"name": project.name})
            connection.execute(delete(tables.projects).where(tables.projects.c.id == project.id))

    # --- classes ----------------------------------------------------------------------------------------------------

    def classes(self, reference: str) -> Sequence[Class]:
        """The classes of a project, in their order."""
        with self._database.read() as connection:
            return _classes(connection, _find(connection, reference).id)

    def add_class(self, reference: str, name: str) -> Class:
        """Add a class at the end."""
        return self.add_classes(reference, [name])[0]

    def add_classes(self, reference: str, names: Sequence[str]) -> Sequence[Class]:
        """Add several classes at the end; everything wrong with any of them is said at once."""
        with self._database.write() as connection:
            project = _lock(connection, reference)
            _check_class_names(names, existing=[one.name for one in _classes(connection, project.id)])
            self._changed(connection, project, "project.class-added", {"names": [*names]})
            return _insert_classes(connection, project.id, names)

    def rename_class(self, reference: str, old: str, new: str, *, by: str = "") -> None:
        """Give a class another name. Its labels mean the new name from now on; what was said stays as it was said."""
        with self._database.write() as connection:
            project = _lock(connection, reference)
            existing = [one.name for one in _classes(connection, project.id)]
            _require_class(existing, old)
            _check_class_names([new], existing=existing)
            label_events.append_change(connection, project.id, old, new, by, self._clock.now())
            connection.execute(update(tables.classes).where(_is_class(project.id, old)).values(name=new))
            self._changed(connection, project, "project.class-renamed", {"old": old, "new": new})

    def remove_class(self, reference: str, name: str, *, with_labels: bool = False, by: str = "") -> None:
        """Remove a class; one that images are labelled with only on demand, and then those images have no label."""
        with self._database.write() as connection:
            project = _lock(connection, reference)
            _require_class([one.name for one in _classes(connection, project.id)], name)
            labelled = sum(label.label == name for label in label_events.current(connection, project.id).values())
            if labelled and not with_labels:
                raise Conflict(
                    f"{labelled} images are labelled '{name}'; without the class they would have no label.",
                    hint="Label them anew first, or remove the class with its labels.",
                )
            label_events.append_change(connection, project.id, name, "", by, self._clock.now())
            connection.execute(delete(tables.classes).where(_is_class(project.id, name)))
            self._changed(connection, project, "project.class-removed", {"name": name, "labels": labelled})

    # --- labels -----------------------------------------------------------------------------------------------------

    def add_labels(self, reference: str, given: Iterable[LabelEvent]) -> int:
        """Keep label events, all or none; they are on disk when this returns. How many were not there before."""
        sent = [*given]
        with self._database.write() as connection:
            project = _lock(connection, reference)
            names = [one.name for one in _classes(connection, project.id)]
            fresh = label_events.append(connection, project.id, sent, names, self._clock.now())
            if fresh:
                last = label_events.last_number(connection, project.id)
                people = sorted({event.by for event in fresh})
                self._changed(connection, project, "label.added", {"count": len(fresh), "by": people, "last": last})
            return len(fresh)

    def labels(self, reference: str) -> Mapping[str, Label]:
        """What counts for each image that has a label: the newest event of all, in today's names of the classes."""
        with self._database.read() as connection:
            return label_events.current(connection, _find(connection, reference).id)

    def opinions(self, reference: str) -> Mapping[str, Mapping[str, Label]]:
        """What each person last said of each image: where they differ, somebody should look again."""
        with self._database.read() as connection:
            return label_events.opinions(connection, _find(connection, reference).id)

    def history(self, reference: str, image: str = "", *, after: int = 0, limit: int = _MOST_EVENTS) -> Sequence[Label]:
        """Everything that was said of one image, or of all, the oldest first; after a number, to follow along."""
        with self._database.read() as connection:
            project = _find(connection, reference)
            return label_events.history(connection, project.id, image, after, min(max(limit, 0), _MOST_EVENTS))

    def counts(self, reference: str) -> Mapping[str, int]:
        """How many images each class has, in the order of the classes."""
        with self._database.read() as connection:
            project = _find(connection, reference)
            found = {one.name: 0 for one in _classes(connection, project.id)}
            for label in label_events.current(connection, project.id).values():
                found[label.label] += 1
            return found

    def snapshot(self, reference: str) -> Sequence[Mapping[str, Any]]:
        """The labels that count as rows for a labels bundle: the same labels give the same rows, sorted by image."""
        return [
            {"image": one.image, "label": one.label, "by": one.by, "at": one.at, "source": one.source.value}
            for _, one in sorted(self.labels(reference).items())
        ]

    # --- inside -----------------------------------------------------------------------------------------------------

    def _set(self, reference: str, kind: str, **values: str) -> Project:
        with self._database.write() as connection:
            project = _lock(connection, reference)
            self._changed(connection, project, kind, {**values})
            if values.get("name", project.name) != project.name:
                _require_free(connection, values["name"])
            connection.execute(update(tables.projects).where(tables.projects.c.id == project.id).values(values))
            return _find(connection, project.id)

    def _changed(self, connection: Connection, project: Project, kind: str, data: dict[str, Any]) -> None:
        self._events.append(connection, kind, project.id, data, project=project.id)


def _project(row: Row[Any]) -> Project:
    return Project(row.id, row.name, row.created, row.owner, row.data)


def _find(connection: Connection, reference: str, *, lock: bool = False) -> Project:
    projects = tables.projects
    query = select(projects).where(or_(projects.c.id == reference, projects.c.name == reference))
    if lock:
        query = query.with_for_update(key_share=True)
    row = connection.execute(query).first() if is_plain(reference) else None
    if row is None:
        raise no_such_project()
    return _project(row)


def _lock(connection: Connection, reference: str) -> Project:
    # on SQLite the write transaction is the lock; on PostgreSQL the row is, in the mode that lets references pass
    return _find(connection, reference, lock=True)


def _require_free(connection: Connection, name: str) -> None:
    if connection.execute(select(tables.projects.c.id).where(tables.projects.c.name == name)).first():
        raise Conflict(f"There is already a project named '{name}'.", hint="Choose another name.")


def _check_project_name(name: str) -> None:
    problems = problems_of_text("The project's name", name, longest=100)
    if _LIKE_AN_ID.fullmatch(name):
        problems.append("The project's name looks like an id.")
    if "/" in name:
        problems.append("The project's name holds a '/'.")
    if problems:
        raise InvalidInput("This cannot be a project's name.", problems=problems)


def _classes(connection: Connection, project: str) -> list[Class]:
    classes = tables.classes
    rows = connection.execute(select(classes).where(classes.c.project == project).order_by(classes.c.position))
    return [Class(row.name, row.position, row.colour, row.key) for row in rows]


def _insert_classes(connection: Connection, project: str, names: Sequence[str]) -> Sequence[Class]:
    existing = _classes(connection, project)
    added: list[Class] = []
    for name in names:
        added.append(_next_class(name, [*existing, *added]))
    if added:
        connection.execute(insert(tables.classes), [{"project": project, **vars(one)} for one in added])
    return added


def _next_class(name: str, existing: Sequence[Class]) -> Class:
    position = max((one.position for one in existing), default=-1) + 1
    taken = {one.key for one in existing}
    used = [one.colour for one in existing]
    colour = min(_COLOURS, key=used.count)  # the first of those that are used the least
    return Class(name, position, colour, next((key for key in _KEYS if key not in taken), ""))


def _check_class_names(names: Sequence[str], existing: Sequence[str]) -> None:
    problems = []
    for place, name in enumerate(names):
        problems += problems_of_text(f"The class's name '{name[:40]}'", name, longest=100)
        if name in existing or name in names[:place]:
            problems.append(f"There is already a class '{name}'.")
    if len(names) + len(existing) > _MOST_CLASSES:
        problems.append(f"A project has at most {_MOST_CLASSES} classes.")
    if problems:
        raise InvalidInput("These cannot be the names of classes.", problems=problems[:50])


def _is_class(project: str, name: str) -> Any:
    return (tables.classes.c.project == project) & (tables.classes.c.name == name)


def _require_class(existing: Sequence[str], name: str) -> None:
    if name not in existing:
        raise NotFound(f"There is no class '{name}' in this project.", hint=near_matches(name, [*existing]))
