"""Golden labels: what somebody who knows is sure of. Others are asked the same, as if nobody had said anything yet.

So of such an image everybody hears only what they said themselves; and whatever they say, the golden label counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.projects.labels import Label, LabelEvent, Source
from seedbed.base.ids import digest_of
from seedbed.base.registry import Registry

_METHODS: Registry[Any] = Registry(
    "mixing",
    {
        "choose-honeypots": "seedbed.methods.label.people:choose_honeypots",
        "mix-in": "seedbed.methods.label.people:mix_in",
    },
)  # scipy comes with them: loaded where a project has honeypots


@dataclass(frozen=True)
class Check:
    """An image that somebody is asked about: what it shows, and what they said, or ''."""

    image: str
    true: str
    said: str


@dataclass(frozen=True)
class Golden:
    """What each person last said of images that somebody has marked, by image."""

    said: Mapping[str, Mapping[str, Label]]

    @cached_property
    def truth(self) -> Mapping[str, Label]:
        """Image to its golden label, the newest where there are several; who says something else takes theirs back."""
        marked = {image: [one for one in said.values() if _is_golden(one)] for image, said in self.said.items()}
        return {image: max(found, key=lambda one: one.number) for image, found in marked.items() if found}

    def asked_of(self, person: str) -> list[Check]:
        """What this person is asked: everything that they have not marked themselves."""
        mine = ((image, true, self.said[image].get(person)) for image, true in self.truth.items())
        return [
            Check(image, true.label, one.label if one else "")
            for image, true, one in mine
            if one is None or not _is_golden(one)
        ]

    def restored(self, events: Sequence[LabelEvent]) -> list[LabelEvent]:
        """Golden labels that are said once more after these events, so that they go on counting.

        The id is made of the event's, so that an event that is sent again restores nothing twice.
        """
        last = {event.image: event for event in events}
        return [
            LabelEvent(digest_of({"after": event.id, "label": true.label}), image, true.label, true.by, Source.GOLDEN)
            for image, event in last.items()
            if (true := self.truth.get(image)) and event.label != true.label
            if event.by != true.by and event.source != Source.GOLDEN
        ]


def _is_golden(label: Label) -> bool:
    return label.source is Source.GOLDEN


def mixed_in(order: NDArray[np.int64], checks: Mapping[int, Check], share: float, seed: int) -> NDArray[np.int64]:
    """An order of rows in which so large a share are checks that are still to be answered, every class in its turn.

    Their places differ from one answer to the next, so that nobody learns them.
    """
    open_ = {row: check.true for row, check in checks.items() if not check.said}
    if not open_ or not share:
        return order
    places = {name: place for place, name in enumerate(sorted(set(open_.values())))}
    golden = np.full(len(order), -1, dtype=np.int64)
    golden[list(open_)] = [places[name] for name in open_.values()]
    turn = seed + len(checks) - len(open_)
    honeypots = _METHODS.get("choose-honeypots")(golden, len(open_), seed=turn)
    mixed: NDArray[np.int64] = _METHODS.get("mix-in")(order, honeypots, every=max(2, round(1 / share)), seed=turn)
    return mixed
