"""Projects: a domain expert's use case, with its classes, its images and what people said of them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, or_, select, update

from seedbed.assets.access.roles import Role, no_such_project
from seedbed.assets.db import tables
from seedbed.assets.db.engine import Along, Database, nothing_along
from seedbed.assets.projects import classes as kept_classes
from seedbed.assets.projects import labels as label_events
from seedbed.assets.projects.classes import Class, Kind, NewClass
from seedbed.assets.projects.labels import Changes, Label, LabelEvent, Same
from seedbed.assets.projects.settings import ProjectSettings
from seedbed.assets.store.events import Events
from seedbed.base.clock import Clock, Instant
from seedbed.base.errors import Conflict, InvalidInput
from seedbed.base.ids import new_id
from seedbed.base.names import DOTS
from seedbed.base.text import is_plain, problems_of_text

_LIKE_AN_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MOST_EVENTS = 100_000  # of history in one answer


@dataclass(frozen=True)
class Project:
    """A use case: its name, who made it, and the data set that it works on (a bundle's uuid, or nothing yet).

    `kind` says what its classes are, `settings` what it wants.
    """

    id: str
    name: str
    created: Instant
    owner: str
    data: str
    kind: Kind = Kind.CLASSES
    settings: ProjectSettings = field(default_factory=ProjectSettings)


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

    def create(
        self,
        name: str,
        owner: str,
        classes: Sequence[str | NewClass] = (),
        *,
        kind: Kind = Kind.CLASSES,
        settings: Mapping[str, Any] | None = None,
    ) -> Project:
        """A new project; its owner (a user's id) becomes a member who may do everything in it."""
        _check_project_name(name)
        chosen = ProjectSettings().changed(settings or {})
        project = Project(new_id(), name, self._clock.now(), owner, "", Kind(kind), chosen)
        with self._database.write() as connection:
            self._events.lock(connection)  # a new project has no row to lock; two of one name wait here
            _require_free(connection, name)
            row = {**vars(project), "settings": chosen.to_json()}
            connection.execute(insert(tables.projects).values(row))
            kept_classes.insert_classes(connection, project.id, project.kind, _new(classes))
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

    def set_kind(self, reference: str, kind: Kind) -> Project:
        """Say what its classes are; refused where those that are there do not fit."""
        with self._database.write() as connection:
            project = _lock(connection, reference)
            kept_classes.fit_to(connection, project.id, Kind(kind))
            self._changed(connection, project, "project.kind-set", {"kind": str(kind)})
            where = tables.projects.c.id == project.id
            connection.execute(update(tables.projects).where(where).values(kind=str(kind)))
            return _find(connection, project.id)

    def set_settings(self, reference: str, changes: Mapping[str, Any]) -> Project:
        """Change some of its settings; null brings a default back."""
        with self._database.write() as connection:
            project = _lock(connection, reference)
            made = project.settings.changed(changes)
            self._changed(connection, project, "project.settings-changed", {"names": sorted(changes)})
            where = tables.projects.c.id == project.id
            connection.execute(update(tables.projects).where(where).values(settings=made.to_json()))
            return _find(connection, project.id)

    def delete(self, reference: str, along: Along = nothing_along) -> None:
        """Remove a project with its classes, memberships and label events; `along` is called while the feed is held."""
        with self._database.write() as connection:
            project = _lock(connection, reference)
            self._changed(connection, project, "project.deleted", {"name": project.name})
            along(connection)
            connection.execute(delete(tables.projects).where(tables.projects.c.id == project.id))

    # --- classes ----------------------------------------------------------------------------------------------------

    def classes(self, reference: str) -> Sequence[Class]:
        """The classes of a project, in their order."""
        with self._database.read() as connection:
            return kept_classes.read_classes(connection, _find(connection, reference).id)

    def names_now(self, reference: str, names: Sequence[str], since: Instant) -> Sequence[str]:
        """What classes are called today that had these names at that time; empty: the class is gone."""
        with self._database.read() as connection:
            return label_events.names_now(connection, _find(connection, reference).id, names, since)

    def add_class(self, reference: str, new: str | NewClass) -> Class:
        """Add a class at the end."""
        return self.add_classes(reference, [new])[0]

    def add_classes(self, reference: str, new: Sequence[str | NewClass]) -> Sequence[Class]:
        """Add several classes at the end; everything wrong with any of them is said at once."""
        asked = _new(new)
        with self._database.write() as connection:
            project = _lock(connection, reference)
            added = kept_classes.insert_classes(connection, project.id, project.kind, asked)
            self._changed(connection, project, "project.class-added", {"names": [one.name for one in added]})
            return added

    def change_class(self, reference: str, name: str, changes: Mapping[str, Any], *, by: str = "") -> Class:
        """Give a class another `name`, `colour`, `key` or `value`; only what is given changes.

        The labels of a class mean its new name from now on; what was said stays as it was said.
        """
        with self._database.write() as connection:
            project = _lock(connection, reference)
            made = kept_classes.change_class(connection, project.id, project.kind, name, changes)
            if made.name != name:
                label_events.append_change(connection, project.id, name, made.name, by, self._clock.now())
                self._changed(connection, project, "project.class-renamed", {"old": name, "new": made.name})
            if changes.keys() - {"name"}:
                self._changed(connection, project, "project.class-changed", {"name": made.name})
            return made

    def rename_class(self, reference: str, old: str, new: str, *, by: str = "") -> None:
        """Give a class another name, which no other class has."""
        self.change_class(reference, old, {"name": new}, by=by)

    def order_classes(self, reference: str, names: Sequence[str]) -> Sequence[Class]:
        """Put the classes into another order, which names each of them once."""
        with self._database.write() as connection:
            project = _lock(connection, reference)
            self._changed(connection, project, "project.class-changed", {"name": ""})
            return kept_classes.order_classes(connection, project.id, names)

    def merge_class(self, reference: str, old: str, into: str, *, by: str = "") -> int:
        """Make two classes one: what was called `old` is `into` from now on. How many images that concerns."""
        if old == into:
            raise InvalidInput(f"'{old}' cannot be merged into itself.")
        with self._database.write() as connection:
            project = _lock(connection, reference)
            existing = kept_classes.read_classes(connection, project.id)
            kept_classes.require_class(existing, into)
            labelled = self._labelled(connection, project, kept_classes.require_class(existing, old))
            label_events.append_change(connection, project.id, old, into, by, self._clock.now())
            kept_classes.delete_class(connection, project.id, old)
            told = {"old": old, "into": into, "labels": labelled}
            self._changed(connection, project, "project.class-merged", told)
            return labelled

    def remove_class(self, reference: str, name: str, *, with_labels: bool = False, by: str = "") -> None:
        """Remove a class; one that images are labelled with only on demand, and then those images have no label."""
        with self._database.write() as connection:
            project = _lock(connection, reference)
            existing = kept_classes.read_classes(connection, project.id)
            labelled = self._labelled(connection, project, kept_classes.require_class(existing, name))
            if labelled and not with_labels:
                raise Conflict(
                    f"{labelled} images are labelled '{name}'; without the class they would have no label.",
                    hint="Label them anew or merge the class into another first, or remove it with its labels.",
                )
            label_events.append_change(connection, project.id, name, "", by, self._clock.now())
            kept_classes.delete_class(connection, project.id, name)
            self._changed(connection, project, "project.class-removed", {"name": name, "labels": labelled})

    # --- labels -----------------------------------------------------------------------------------------------------

    def add_labels(
        self,
        reference: str,
        given: Iterable[LabelEvent],
        *,
        new_classes: Sequence[str | NewClass] = (),
        also: Sequence[LabelEvent] = (),
        same: Same = str,
    ) -> int:
        """Keep label events, all or none; they are on disk when this returns. How many were not there before.

        `new_classes` are made first, those that are not there yet; where a label is refused, they are not made either.
        `also` are kept after the events, and not counted. `same` gives the name that an image goes by, for
        events that are sent again under another of its names.
        """
        sent = [*given]
        with self._database.write() as connection:
            project = _lock(connection, reference)
            self._add_missing(connection, project, _new(new_classes))
            names = [one.name for one in kept_classes.read_classes(connection, project.id)]
            fresh = label_events.append(connection, project.id, [*sent, *also], names, self._clock.now(), same)
            if fresh:
                last = label_events.last_number(connection, project.id)
                people = sorted({event.by for event in fresh})
                self._changed(connection, project, "label.added", {"count": len(fresh), "by": people, "last": last})
            beside = {event.id for event in also}
            return sum(event.id not in beside for event in fresh)

    def labels(self, reference: str, same: Same = str) -> Mapping[str, Label]:
        """What counts for each image that has a label: the newest event of all, in today's names of the classes.

        `same` gives the name that an image goes by, where labels call it by several, such as its id and its file.
        """
        with self._database.read() as connection:
            return label_events.current(connection, _find(connection, reference).id, same)

    def opinions(self, reference: str, same: Same = str) -> Mapping[str, Mapping[str, Label]]:
        """What each person last said of each image: where they differ, somebody should look again."""
        with self._database.read() as connection:
            return label_events.opinions(connection, _find(connection, reference).id, same)

    def on_golden(self, reference: str, same: Same = str) -> Mapping[str, Mapping[str, Label]]:
        """The same of those images that somebody has marked a golden label of."""
        with self._database.read() as connection:
            return label_events.on_golden(connection, _find(connection, reference).id, same)

    def history(self, reference: str, image: str = "", *, after: int = 0, limit: int = _MOST_EVENTS) -> Sequence[Label]:
        """Everything that was said of one image, or of all, the oldest first; after a number, to follow along."""
        with self._database.read() as connection:
            project = _find(connection, reference)
            return label_events.history(connection, project.id, image, after, min(max(limit, 0), _MOST_EVENTS))

    def said_of(self, reference: str, images: Sequence[str]) -> Sequence[Label]:
        """Everything that was said of these images, by the names that the events have, the oldest first."""
        with self._database.read() as connection:
            return label_events.said_of(connection, _find(connection, reference).id, images)

    def changes(self, reference: str, *, after: int = 0, limit: int = _MOST_EVENTS) -> Changes:
        """What was said after a number, the oldest first, and where to go on from."""
        with self._database.read() as connection:
            project = _find(connection, reference)
            return label_events.changes(connection, project.id, after, min(max(limit, 0), _MOST_EVENTS))

    def last_number(self, reference: str) -> int:
        """The number of the newest event, changes of classes among them; 0: there is none."""
        with self._database.read() as connection:
            return label_events.last_number(connection, _find(connection, reference).id)

    def counts(self, reference: str, same: Same = str) -> Mapping[str, int]:
        """How many images each class has, in the order of the classes."""
        with self._database.read() as connection:
            project = _find(connection, reference)
            found = label_events.tally(connection, project.id, same)
            return {one.name: found.get(one.name, 0) for one in kept_classes.read_classes(connection, project.id)}

    def snapshot(self, reference: str, same: Same = str) -> Sequence[Mapping[str, Any]]:
        """The labels that count as rows for a labels bundle: the same labels give the same rows, sorted by image."""
        return [
            {"image": image, "label": one.label, "by": one.by, "at": one.at, "source": one.source.value}
            for image, one in sorted(self.labels(reference, same).items())
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

    def _add_missing(self, connection: Connection, project: Project, wanted: Sequence[NewClass]) -> None:
        there = {one.name for one in kept_classes.read_classes(connection, project.id)} if wanted else set()
        missing = [one for one in wanted if one.name not in there]
        if missing:
            kept_classes.insert_classes(connection, project.id, project.kind, missing)
            names = [one.name for one in missing]
            self._changed(connection, project, "project.class-added", {"names": names})

    def _labelled(self, connection: Connection, project: Project, klass: Class) -> int:
        return label_events.tally(connection, project.id).get(klass.name, 0)

    def _changed(self, connection: Connection, project: Project, kind: str, data: dict[str, Any]) -> None:
        self._events.append(connection, kind, project.id, data, project=project.id)


def _project(row: Row[Any]) -> Project:
    settings = ProjectSettings.from_json(row.settings)
    return Project(row.id, row.name, row.created, row.owner, row.data, Kind(row.kind), settings)


def _new(classes: Sequence[str | NewClass]) -> list[NewClass]:
    return [NewClass(one) if isinstance(one, str) else one for one in classes]


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
    if name in DOTS:
        problems.append(f"'{name}' leads to what is above it in an address.")
    if problems:
        raise InvalidInput("This cannot be a project's name.", problems=problems)
