"""Label events: what people said of images. They are appended and read, never changed."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, insert, literal_column, select
from sqlalchemy.exc import IntegrityError

from seedbed.assets.db import tables
from seedbed.assets.projects.meaning import Change, Meanings
from seedbed.base.clock import Instant
from seedbed.base.errors import Conflict, InvalidInput
from seedbed.base.ids import new_id
from seedbed.base.registry import near_matches
from seedbed.base.text import is_plain, problems_of_text

_CLASS_CHANGED = "class"  # the source of an event that renames, merges or removes a class; its image is the old name
_MANY = 500  # names in one query: databases limit how many values one may carry
_MOST_PROBLEMS = 50
Same = Callable[[str], str]  # the name that an image goes by, of any that labels call it by

_events = tables.label_events
_said_of_images = _events.c.source != _CLASS_CHANGED
# written out, not bound: only so do databases see that the small indexes of these events are enough
_says_of_a_class = _events.c.source == literal_column(f"'{_CLASS_CHANGED}'")
_is_golden = _events.c.source == literal_column("'golden'")


class Source(StrEnum):
    """Where a label comes from: somebody said so, it came with the data, or the hidden truth of a demo.

    A golden label is one that somebody who knows is sure of: others are asked the same, to see how well they do.
    """

    PERSON = "person"
    IMPORT = "import"
    ORACLE = "oracle"
    GOLDEN = "golden"


class Mark(StrEnum):
    """Where an image without a label stands: somebody passed it over, or was not sure."""

    NONE = ""
    SKIPPED = "skipped"
    UNSURE = "unsure"


@dataclass(frozen=True)
class LabelEvent:
    """Somebody says what an image shows; an empty label takes back what was said of it.

    With a mark the label is empty: the mark says where the image stands, and takes back a label like any empty one.
    The sender chooses the id (any unique text), so that sending again after a lost answer counts once.
    """

    id: str
    image: str
    label: str
    by: str
    source: Source = Source.PERSON
    mark: Mark = Mark.NONE


@dataclass(frozen=True)
class Label:
    """An event as it is kept: `label` is what it means today, `said` the class's name at the time."""

    number: int
    id: str
    image: str
    label: str
    said: str
    by: str
    at: Instant
    source: Source
    mark: Mark = Mark.NONE


_COLUMNS = ("number", "id", "image", "label", "by", "at", "source", "mark")
_SOURCES = {source.value: source for source in Source}
_MARKS = {mark.value: mark for mark in Mark}


@dataclass(frozen=True)
class Changes:
    """What was said after a number, in today's names of the classes.

    `last` is where to go on from. Where `classes` (the number of the newest change of a class) has grown since an
    earlier answer, what that answer said may go by other names now: it is to be read anew.
    """

    events: Sequence[Label]
    last: int
    classes: int
    more: bool


def append(
    connection: Connection,
    project: str,
    given: Sequence[LabelEvent],
    classes: Sequence[str],
    at: Instant,
    same: Same = str,
) -> list[LabelEvent]:
    """Add the events that are not there yet and return them; everything wrong with any of them is said at once.

    The caller holds the project's lock, so that the order of numbers is the order of commits.
    """
    _check_texts(given)
    fresh = _in_names_of_today(connection, project, _not_yet_there(connection, project, given, same), classes)
    _check_classes(fresh, classes)
    rows = [{"project": project, "at": at, **vars(event)} for event in fresh]
    try:
        if rows:
            connection.execute(insert(_events), rows)
    except IntegrityError as error:
        raise Conflict(
            "One of these label events has an id that was used in another project.",
            hint="Give every label event an id of its own, such as a random uuid.",
        ) from error
    return fresh


def append_change(connection: Connection, project: str, old: str, new: str, by: str, at: Instant) -> None:
    """Note that a class was renamed, merged, or removed (new is empty), as of now in the order of events."""
    row = {"id": new_id(), "project": project, "image": old, "label": new, "by": by, "at": at}
    connection.execute(insert(_events).values(source=_CLASS_CHANGED, **row))


def current(connection: Connection, project: str, same: Same = str) -> dict[str, Label]:
    """What counts for each image that has a label: the newest event of all."""
    newest: dict[str, Label] = {}
    for label in _read(connection, project, _newest(project, _events.c.image)):
        image = same(label.image)
        if image not in newest or newest[image].number < label.number:
            newest[image] = label
    return {image: label for image, label in newest.items() if label.label}


def tally(connection: Connection, project: str, same: Same = str) -> dict[str, int]:
    """How many images have each label, without anything else being read."""
    meanings = _meanings(connection, project)
    query = _newest(project, _events.c.image).with_only_columns(
        _events.c.image, _events.c.label, _events.c.number, maintain_column_froms=True
    )
    newest: dict[str, tuple[int, str]] = {}
    for image, said, number in connection.execute(query.order_by(None)):
        name = same(image)
        if name not in newest or newest[name][0] < number:
            newest[name] = (number, said)
    counts = Counter(meanings.of(said, number) for number, said in newest.values() if said)
    return {label: count for label, count in counts.items() if label}


def opinions(connection: Connection, project: str, same: Same = str) -> dict[str, dict[str, Label]]:
    """What each person last said of each image, for those who look for disagreement."""
    return _each(_read(connection, project, _newest(project, _events.c.image, _events.c.by)), same)


def on_golden(connection: Connection, project: str, same: Same = str) -> dict[str, dict[str, Label]]:
    """The same of those images alone that have, or had, a golden label."""
    marked = select(_events.c.image).where(_events.c.project == project, _is_golden)
    said = select(_events).where(_events.c.project == project, _said_of_images, _events.c.image.in_(marked))
    return _each(_read(connection, project, said), same)  # in no order: that would read all events of the project


def _each(labels: Iterable[Label], same: Same) -> dict[str, dict[str, Label]]:
    newest: dict[str, dict[str, Label]] = {}
    for label in labels:
        said = newest.setdefault(same(label.image), {})
        if label.by not in said or said[label.by].number < label.number:
            said[label.by] = label
    given = ((image, {by: one for by, one in said.items() if one.label}) for image, said in newest.items())
    return {image: said for image, said in given if said}


def history(connection: Connection, project: str, image: str, after: int, limit: int) -> list[Label]:
    """Events of one image, or of all (empty), after a number, the oldest first."""
    query = select(_events).where(_events.c.project == project, _events.c.number > after, _said_of_images)
    if image:
        query = query.where(_events.c.image == image)
    if not is_plain(image):
        return []
    return _read(connection, project, query.order_by(_events.c.number).limit(limit))


def said_of(connection: Connection, project: str, images: Sequence[str]) -> list[Label]:
    """Everything that was said of these images, the oldest first."""
    query = select(_events).where(_events.c.project == project, _said_of_images)
    found: list[Label] = []
    for start in range(0, len(images), _MANY):
        found += _read(connection, project, query.where(_events.c.image.in_(images[start : start + _MANY])))
    return sorted(found, key=lambda label: label.number)


def changes(connection: Connection, project: str, after: int, limit: int) -> Changes:
    """The events after a number, the oldest first, at most so many."""
    last = last_number(connection, project)  # first: what is committed meanwhile belongs to the next answer
    newest = select(func.max(_events.c.number)).where(_events.c.project == project, _says_of_a_class)
    of_classes = connection.scalar(newest) or 0
    query = select(_events).where(_events.c.project == project, _said_of_images)
    query = query.where(_events.c.number > after, _events.c.number <= last).order_by(_events.c.number).limit(limit)
    found = _read(connection, project, query)
    more = len(found) == limit and limit > 0 and found[-1].number < last
    return Changes(found, found[-1].number if more else max(last, after), of_classes, more)


def names_now(connection: Connection, project: str, names: Sequence[str], since: Instant) -> list[str]:
    """What classes are called today that had these names at that time; empty: the class is gone."""
    meanings = _meanings(connection, project, _events.c.at > since)
    return [meanings.of(name, 0) for name in names]


def last_number(connection: Connection, project: str) -> int:
    """The number of the project's newest event; 0: there is none."""
    return connection.scalar(select(func.max(_events.c.number)).where(_events.c.project == project)) or 0


def _newest(project: str, *per: Any) -> Select[Any]:
    newest = select(func.max(_events.c.number).label("number")).where(_events.c.project == project, _said_of_images)
    last = newest.group_by(*per).subquery()
    return select(_events).join(last, _events.c.number == last.c.number).order_by(_events.c.image, _events.c.number)


def _read(connection: Connection, project: str, query: Select[Any]) -> list[Label]:
    """The labels that a query of whole events finds; by place and not by name, for there may be many."""
    meanings = _meanings(connection, project)
    columns = query.with_only_columns(*(_events.c[name] for name in _COLUMNS), maintain_column_froms=True)
    return [
        Label(number, id, image, meanings.of(said, number), said, by, at, _SOURCES[source], _MARKS[mark])
        for number, id, image, said, by, at, source, mark in connection.execute(columns)
    ]


def _meanings(connection: Connection, project: str, *where: ColumnElement[bool]) -> Meanings:
    query = select(_events.c.number, _events.c.image, _events.c.label).where(
        _events.c.project == project, _says_of_a_class, *where
    )
    rows = connection.execute(query.order_by(_events.c.number))
    return Meanings([Change(number, old, new) for number, old, new in rows])


def _not_yet_there(connection: Connection, project: str, given: Sequence[LabelEvent], same: Same) -> list[LabelEvent]:
    by_id: dict[str, LabelEvent] = {}
    clashing = []
    for event in given:
        if by_id.setdefault(event.id, event) != event:
            clashing.append(event.id)
    meanings: Meanings | None = None
    for row in _rows_of(connection, list(by_id)):
        sent = by_id.pop(row.id)
        kept = LabelEvent(row.id, same(row.image), row.label, row.by, row.source, row.mark)
        if row.project == project and kept == sent:
            continue
        meanings = meanings or _meanings(connection, project)
        otherwise_same = row.project == project and replace(sent, label=kept.label) == kept
        if not (otherwise_same and meanings.became(sent.label, kept.label)):
            clashing.append(row.id)
    if clashing:
        raise Conflict(
            f"{len(clashing)} label events have ids that were used for something else; none was kept.",
            hint="Give every label event an id of its own, such as a random uuid.",
            problems=[f"id '{name}'" for name in clashing[:_MOST_PROBLEMS]],
        )
    return list(by_id.values())


def _in_names_of_today(
    connection: Connection, project: str, events: Sequence[LabelEvent], classes: Sequence[str]
) -> list[LabelEvent]:
    """Labels in names that their classes had until others renamed or merged them: they waited in a browser, say."""
    known = {"", *classes}
    late = {event.label for event in events} - known
    if not late:
        return [*events]
    meanings = _meanings(connection, project)
    today = {label: meanings.now(label) or label for label in late}
    return [replace(event, label=today.get(event.label, event.label)) for event in events]


def _rows_of(connection: Connection, ids: Sequence[str]) -> Iterable[Row[Any]]:
    for start in range(0, len(ids), _MANY):
        yield from connection.execute(select(_events).where(_events.c.id.in_(ids[start : start + _MANY])))


def _check_texts(given: Sequence[LabelEvent]) -> None:
    problems = itertools.chain.from_iterable(_problems(event) for event in given)
    first = list(itertools.islice(problems, _MOST_PROBLEMS))
    if first:
        raise InvalidInput("These label events cannot be kept; none was.", problems=first)


def _problems(event: LabelEvent) -> list[str]:
    known = [source.value for source in Source]
    return [
        *_problems_of_mark(event),
        *([] if event.source in known else [f"'{event.source}' is no source of labels: {', '.join(known)}."]),
        *problems_of_text("The id of a label event", event.id, longest=200),
        *problems_of_text("The image of a label event", event.image, longest=1000),
        *problems_of_text("Who gave a label", event.by, longest=200),
    ]


def _problems_of_mark(event: LabelEvent) -> list[str]:
    marks = [mark.value for mark in Mark]
    if event.mark not in marks:
        return [f"'{event.mark}' is no mark: {', '.join(marks[1:])}."]
    if event.mark and event.label:
        return [f"'{event.image[:40]}' is both '{event.label[:40]}' and {event.mark}; a mark stands alone."]
    return []


def _check_classes(events: Sequence[LabelEvent], classes: Sequence[str]) -> None:
    known = set(classes)
    strange = [event.label for event in events if event.label and event.label not in known]
    if strange:
        unknown = sorted(set(strange))
        name = "names" if len(strange) == 1 else "name"
        raise InvalidInput(
            f"{len(strange):,} of the labels {name} no class of this project; none of the labels was kept.",
            hint="Add the classes first, or correct the names.",
            problems=[f"'{name}': {near_matches(name, list(classes))}" for name in unknown[:_MOST_PROBLEMS]],
        )
