"""What a label means today, when the classes have been renamed, merged or removed since it was given.

Label events are never rewritten: each keeps the name that the class had when it was said. Renaming, merging and
removing a class are events in the same row of numbers. So what an event means is its name, carried through every
change that came after it, in order. A name that is used again for a new class does not bring back what the old one
had.
"""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """At this place in the order of events a class got a new name, or another's; an empty one: it was removed."""

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

    def now(self, late: str) -> str:
        """The class that has taken over from a name which is no class any more; empty: none has.

        So a label that was given before the class was renamed or merged, and came in after, still counts.
        """
        own = [place for place, change in enumerate(self._changes) if change.old == late]
        return self._carry(late, own[-1]) if own else ""

    def became(self, label: str, kept: str) -> bool:
        """Whether a name has ever been carried into another: what `now` may have made of it at some moment."""
        places = [place for place, change in enumerate(self._changes) if change.old == label]
        return any(kept in self._names(label, place) for place in places)

    def _names(self, label: str, first: int) -> set[str]:
        names = set()
        for change in self._changes[first:]:
            if label == change.old:
                label = change.new
                names.add(label)
        return names - {""}

    def _carry(self, label: str, first: int) -> str:
        for change in self._changes[first:]:
            if label == change.old:
                label = change.new
            if not label:
                break
        return label
