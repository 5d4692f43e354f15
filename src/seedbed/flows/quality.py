"""How well a project is labelled: on how many images people agree, and how each does where the answer is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seedbed.assets.projects.labels import Label
from seedbed.base.registry import Registry
from seedbed.flows.golden import Check, Golden

_METHODS: Registry[Any] = Registry(
    "label quality",
    {
        "agreement": "seedbed.methods.label.people:agreement",
        "score": "seedbed.methods.label.people:score",
    },
)  # scipy comes with them: loaded when somebody asks


@dataclass(frozen=True)
class Agreed:
    """Two people and the images that both have labelled; `kappa` is Cohen's: 1 all alike, 0 as good as chance."""

    first: str
    second: str
    images: int
    agreed: int
    kappa: float

    @property
    def sentence(self) -> str:
        """For people."""
        images = "image" if self.images == 1 else "images"
        return (
            f"{self.first} and {self.second} agree on {self.agreed:,} of {self.images:,} {images} that both labelled."
        )


@dataclass(frozen=True)
class Checked:
    """How somebody did on images whose answer is known, with the 95 % interval that so few answers allow."""

    person: str
    asked: int
    right: int
    low: float
    high: float

    @property
    def sentence(self) -> str:
        """For people."""
        checks = f"{self.asked:,} {'check' if self.asked == 1 else 'checks'}"
        return f"{self.person} got {self.right:,} of {checks} right."


@dataclass(frozen=True)
class Quality:
    """How people agree: by pairs, and all of them (Krippendorff's alpha; None where no image has two opinions).

    `checks` are the answers on the `golden` images, by person.
    """

    pairs: Sequence[Agreed]
    images: int
    alpha: float | None
    golden: int
    checks: Sequence[Checked]


def quality_of(opinions: Mapping[str, Mapping[str, Label]], golden: Golden, *, only: str = "") -> Quality:
    """From what each person last said of each image; `only`: how that person did, and nobody else."""
    several = {image: said for image, said in opinions.items() if len(said) > 1}
    people = sorted({person for said in several.values() for person in said})
    found = _METHODS.get("agreement")(_table(several, people))
    pairs = [
        Agreed(people[one.first], people[one.second], one.images, one.agreed, round(one.kappa, 4))
        for one in found.pairs
    ]
    return Quality(
        sorted(pairs, key=lambda pair: -pair.images),
        found.images,
        round(found.alpha, 4) if found.images else None,
        len(golden.truth),
        _checks(golden, only),
    )


def _table(opinions: Mapping[str, Mapping[str, Label]], people: Sequence[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A row per image, a column per person; -1 where nothing was said."""
    words: dict[str, int] = {}
    table = np.full((len(opinions), len(people)), -1, dtype=np.int64)
    places = {person: place for place, person in enumerate(people)}
    for row, said in enumerate(opinions.values()):
        for person, one in said.items():
            table[row, places[person]] = words.setdefault(one.label, len(words))
    return table


def _checks(golden: Golden, only: str) -> list[Checked]:
    people = sorted({person for image in golden.truth for person in golden.said[image]})
    answered = {
        person: [check for check in golden.asked_of(person) if check.said]
        for person in people
        if person == (only or person)
    }
    return [_checked(person, checks) for person, checks in answered.items() if checks]


def _checked(person: str, checks: Sequence[Check]) -> Checked:
    right = sum(check.said == check.true for check in checks)
    low, high = likely_between(right, len(checks))
    return Checked(person, len(checks), right, round(low, 4), round(high, 4))


def likely_between(right: int, asked: int) -> tuple[float, float]:
    """The 95 % interval of the share that is right, from so few answers."""
    said = (np.arange(asked) < right).astype(np.int64)
    found = _METHODS.get("score")(np.ones_like(said), said)
    return float(found.low), float(found.high)
