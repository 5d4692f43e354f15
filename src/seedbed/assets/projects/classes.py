"""The classes of a project: the answers that a label can be."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from seedbed.assets.db import tables
from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.names import DOTS
from seedbed.base.registry import near_matches
from seedbed.base.text import is_plain, problems_of_text

_MOST_CLASSES = 10_000
_MOST_PROBLEMS = 50
# told apart by people who do not see all colours alike, on light and on dark ground
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b5a900", "#7f7f7f")
KEYS = "1234567890"
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Kind(StrEnum):
    """What the classes of a project are: any answers, two of them, or bins of a percentage."""

    CLASSES = "classes"
    BINARY = "binary"
    BINS = "bins"


@dataclass(frozen=True)
class Class:
    """One of the answers that a label can be, with its colour on pages and its key on the keyboard.

    In a project of bins `value` is the percentage that it stands for. `other` marks the class of everything that is
    none of the others; it has no value.
    """

    name: str
    position: int
    colour: str
    key: str
    value: float | None = None
    other: bool = False


@dataclass(frozen=True)
class NewClass:
    """A class to be made; what is left empty is chosen for it."""

    name: str
    colour: str = ""
    key: str = ""
    value: float | None = None
    other: bool = False


def percent_bins(edges: Sequence[float]) -> list[NewClass]:
    """Classes for a percentage, from the edges between them: 0, 25, 100 gives '0-25 %' and '25-100 %'."""
    rising = all(before < after for before, after in itertools.pairwise(edges))
    if len(edges) < 3 or not rising or edges[0] < 0 or edges[-1] > 100:
        raise InvalidInput(
            f"These cannot be the edges of bins: {', '.join(f'{edge:g}' for edge in edges) or 'none'}.",
            hint="Give at least three numbers from 0 to 100, each larger than the one before, such as 0, 25, 50, 100.",
        )
    return [NewClass(f"{low:g}-{high:g} %", value=(low + high) / 2) for low, high in itertools.pairwise(edges)]


def read_classes(connection: Connection, project: str) -> list[Class]:
    """The classes of a project in their order."""
    classes = tables.classes
    rows = connection.execute(select(classes).where(classes.c.project == project).order_by(classes.c.position))
    return [Class(row.name, row.position, row.colour, row.key, row.value, row.other) for row in rows]


def insert_classes(connection: Connection, project: str, kind: Kind, new: Sequence[NewClass]) -> list[Class]:
    """Add classes at the end; everything wrong with any of them is said at once."""
    existing = read_classes(connection, project)
    added = _completed(new, kind, existing)
    check_classes([*existing, *added], kind, [one.name for one in added])
    if added:
        connection.execute(insert(tables.classes), [{"project": project, **vars(one)} for one in added])
    return added


def change_class(connection: Connection, project: str, kind: Kind, name: str, changes: Mapping[str, Any]) -> Class:
    """Give a class another `name`, `colour`, `key` or `value`."""
    changes = {**changes, **{what: changes[what].lower() for what in ("colour", "key") if what in changes}}
    existing = read_classes(connection, project)
    before = require_class(existing, name)
    after = replace(before, **changes)
    check_classes([after if one is before else one for one in existing], kind, [after.name])
    if changes:
        connection.execute(update(tables.classes).where(_is_class(project, name)).values(changes))
    return after


def fit_to(connection: Connection, project: str, kind: Kind) -> None:
    """Make the classes those of a project of this kind, or say why they cannot be: bins get values by their names."""
    existing = read_classes(connection, project)
    fitting = [
        replace(one, value=value_of(one.name)) if kind is Kind.BINS and one.value is None and not one.other else one
        for one in existing
    ]
    check_classes(fitting, kind, [])
    for before, after in zip(existing, fitting, strict=True):
        if before != after:
            connection.execute(update(tables.classes).where(_is_class(project, after.name)).values(value=after.value))


def order_classes(connection: Connection, project: str, names: Sequence[str]) -> list[Class]:
    """Put the classes into another order, which names each of them once."""
    existing = {one.name: one for one in read_classes(connection, project)}
    if sorted(names) != sorted(existing):
        raise InvalidInput(
            "An order of the classes names each of them once.",
            problems=[f"'{name}' is named, and there is no such class." for name in names if name not in existing][:20]
            + [f"'{name}' is not named." for name in existing if name not in names][:20],
        )
    for position, name in enumerate(names):
        connection.execute(update(tables.classes).where(_is_class(project, name)).values(position=position))
    return [replace(existing[name], position=position) for position, name in enumerate(names)]


def delete_class(connection: Connection, project: str, name: str) -> None:
    """Take the row away; what its labels mean is the caller's care."""
    connection.execute(delete(tables.classes).where(_is_class(project, name)))


def require_class(existing: Sequence[Class], name: str) -> Class:
    """The class of that name, or what is like it."""
    for one in existing:
        if one.name == name:
            return one
    raise NotFound(
        f"There is no class '{name}' in this project.", hint=near_matches(name, [one.name for one in existing])
    )


def check_classes(classes: Sequence[Class], kind: Kind, new: Sequence[str]) -> None:
    """Refuse classes that cannot be kept together; `new` are the names that were not there before."""
    problems = [problem for one in classes if one.name in new for problem in _problems_of(one)]
    for what, values in (
        ("There is already a class '{}'.", [one.name for one in classes]),
        ("The key '{}' belongs to two classes.", [one.key for one in classes if one.key]),
        ("Two classes stand for {}.", [f"{one.value:g}" for one in classes if one.value is not None]),
    ):
        problems += [what.format(value) for value in dict.fromkeys(_twice(values))]
    problems += _problems_of_kind(classes, kind)
    if problems:
        raise InvalidInput("These cannot be the classes of this project.", problems=problems[:_MOST_PROBLEMS])


def _twice(values: Sequence[str]) -> list[str]:
    seen: set[str] = set()
    return [value for value in values if value in seen or seen.add(value)]  # type: ignore[func-returns-value]


def _problems_of(one: Class) -> list[str]:
    problems = problems_of_text(f"The class's name '{one.name[:40]}'", one.name, longest=100)
    if one.name in DOTS:
        problems.append(f"'{one.name}' cannot be a class's name: it leads to what is above it in an address.")
    if not _COLOUR.fullmatch(one.colour):
        problems.append(f"'{one.colour[:20]}' is no colour; write it like #0072b2.")
    if one.key and (len(one.key) != 1 or not one.key.isprintable() or one.key.isspace() or not is_plain(one.key)):
        problems.append(f"'{one.key[:20]}' is no key for '{one.name[:40]}'; a key is one letter, digit or sign.")
    if one.value is not None and not (math.isfinite(one.value) and 0 <= one.value <= 100):
        problems.append(f"'{one.name[:40]}' stands for {one.value:g}; a percentage is from 0 to 100.")
    return problems


def _problems_of_kind(classes: Sequence[Class], kind: Kind) -> list[str]:
    proper = [one for one in classes if not one.other]
    problems = []
    if len(classes) > _MOST_CLASSES:
        problems.append(f"A project has at most {_MOST_CLASSES} classes.")
    if len(classes) - len(proper) > 1:
        problems.append("A project has at most one class for everything else.")
    if kind is Kind.BINARY and len(proper) > 2:
        problems.append(f"A binary project has two classes, and one for everything else; there are {len(proper)}.")
    if kind is Kind.BINS:
        problems += [
            f"'{one.name[:40]}' has no percentage: give it a value, or a name such as '25-50 %'."
            for one in proper
            if one.value is None
        ]
        problems += [f"'{one.name[:40]}' is for everything else, and has a value." for one in classes if _odd(one)]
    return problems


def _odd(one: Class) -> bool:
    return one.other and one.value is not None


def _completed(new: Sequence[NewClass], kind: Kind, existing: Sequence[Class]) -> list[Class]:
    """With a position, and the colour that is used the least and a free key where none was asked for."""
    first = max((one.position for one in existing), default=-1) + 1
    taken = {one.key for one in existing} | {one.key.lower() for one in new}
    free = (key for key in KEYS if key not in taken)
    used = Counter(one.colour for one in existing)
    found = []
    for position, one in enumerate(new, first):
        colour = one.colour.lower() or min(COLOURS, key=lambda colour: used[colour])
        used[colour] += 1
        key = one.key.lower() or next(free, "")
        value = value_of(one.name) if kind is Kind.BINS and not one.other and one.value is None else one.value
        found.append(Class(one.name, position, colour, key, value, one.other))
    return found


def value_of(name: str) -> float | None:
    """The percentage that a name tells of: the middle of its two numbers, or its only one."""
    numbers = [float(number) for number in _NUMBER.findall(name)]
    return sum(numbers) / len(numbers) if len(numbers) in (1, 2) else None


def _is_class(project: str, name: str) -> Any:
    return (tables.classes.c.project == project) & (tables.classes.c.name == name)
