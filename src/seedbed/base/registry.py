"""Names to implementations: the one place where modules are loaded lazily."""

import difflib
import importlib
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar, cast

from seedbed.base.errors import Conflict, NotFound

T = TypeVar("T")


class Registry(Generic[T]):
    """A table of named implementations; a row is `"module:object"` and is imported when it is first asked for.

    A duplicate name raises Conflict; an unknown name raises NotFound with the near matches.
    """

    def __init__(self, noun: str, rows: Mapping[str, str]) -> None:
        self.noun = noun
        self._rows: dict[str, str | T] = dict(rows)

    def add(self, name: str, target: str | T) -> None:
        """Add a row: an object, or `"module:object"`."""
        if name in self._rows:
            raise Conflict(f"There is already a {self.noun} named '{name}'.", hint="Choose another name.")
        self._rows[name] = target

    def get(self, name: str) -> T:
        """The implementation of that name."""
        if name not in self._rows:
            raise NotFound(f"There is no {self.noun} named '{name}'.", hint=near_matches(name, self._rows))
        target = self._rows[name]
        if isinstance(target, str):
            module, _, attribute = target.partition(":")
            target = cast(T, getattr(importlib.import_module(module), attribute))
            self._rows[name] = target
        return target

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._rows))

    def __contains__(self, name: object) -> bool:
        return name in self._rows


def near_matches(name: str, known: Mapping[str, object] | list[str], *, others: bool = False) -> str:
    """A hint: the known names nearest to one that is not known; `others`: there are more than these."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return f"Did you mean {' or '.join(repr(match) for match in near)}?"
    if others:
        return "Nothing has a name like it."
    return f"Known: {', '.join(names[:20])}." if names else "None exists yet."
