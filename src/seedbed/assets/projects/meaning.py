"""What a label means today, when the classes have been renamed or removed since it was given.

Label events are never rewritten: each keeps the name that the class had when it was said. Renaming and removing a
class are events in the same row of numbers. So what an event means is its name, carried through every change that
came after it, in order. A name that is used again for a new class does not bring back what the old one had.
"""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """At this place in the order of events a class got a new name; an empty one: it was removed."""

    number: int
    old: str
    new: str


class Meanings:
    """Carries names through changes, which are given in the order of their numbers."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._changes = changes
        self._numbers = [change.number for change in changes]
        self._known: dict[tuple[int, str], str] = {}

    def of(self, label: str, number: int) -> str:
        """What the label of the event with this number means today; empty: nothing."""
        first = bisect.bisect_right(self._numbers, number)
        if first == len(self._numbers) or not label:
            return label
        if (first, label) not in self._known:
            self._known[first, label] = self._carry(label, first)
        return self._known[first, label]

    def _carry(self, label: str, first: int) -> str:
        for change in self._changes[first:]:
            if label == change.old:
                label = change.new
            if not label:
                break
        return label
