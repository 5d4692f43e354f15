"""Chooser: which images are worth a label next. The seam that every way to choose fits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput
from seedbed.base.registry import Registry

DEFAULT = "auto"


@dataclass(frozen=True)
class Choices:
    """What is known when images are chosen: a row per image.

    `embeddings` have rows of length 1 and may be memory-mapped. `labels` are class numbers, -1 where there is none.
    `groups` are those of `group`, `probabilities` (images, classes) what a model says; both may be missing. `allowed`
    are the images that may be chosen, where that is not all of them. `classes` is how many the person has named, and
    says nothing of how many there are to find.
    """

    embeddings: NDArray[np.floating]
    labels: NDArray[np.integer]
    classes: int
    groups: NDArray[np.integer] | None = None
    probabilities: NDArray[np.floating] | None = None
    allowed: NDArray[np.bool_] | None = None
    seed: int = 0

    def free(self) -> NDArray[np.int64]:
        """The rows that may be chosen: allowed, and without a label."""
        open_to = self.labels < 0
        return np.flatnonzero(open_to if self.allowed is None else open_to & self.allowed)

    def labelled(self) -> NDArray[np.int64]:
        """The rows that have a label."""
        return np.flatnonzero(self.labels >= 0)


class Chooser(Protocol):
    """Picks the images that are worth a label.

    Called while a person waits, from one thread, with what it may read but not change: 100,000 images must be done in
    a few seconds, so most choosers look at a sample. It gives `count` distinct rows of `of.free()`, or all of them
    where there are fewer, the most worth first, so that who labels only the first few has labelled the best few. The
    same choices give the same rows; every random draw derives from `of.seed`. It must make sense with no label, with
    labels of one class only, and with images that are all alike. `seedbed.testing.choosers` checks all of this.
    """

    def choose(self, of: Choices, count: int) -> NDArray[np.int64]:
        """The rows to label next, the most worth first."""
        ...


_HERE = "seedbed.methods.label.choosers"
CHOOSERS: Registry[Callable[..., Chooser]] = Registry(
    "chooser",
    {
        "random": f"{_HERE}.at_random:AtRandom",
        "balanced": f"{_HERE}.balanced:Balanced",
        "typical": f"{_HERE}.typical:Typical",
        "coverage": f"{_HERE}.coverage:Coverage",
        "uncertain": f"{_HERE}.uncertain:Uncertain",
        "auto": f"{_HERE}.auto:Auto",
    },
)


def choose(of: Choices, count: int, by: str = DEFAULT) -> NDArray[np.int64]:
    """The rows to label next by the chooser of that name, the most worth first."""
    check_choices(of)
    return CHOOSERS.get(by)().choose(of, max(0, min(count, len(of.free()))))


def check_choices(of: Choices) -> None:
    """Refuse arrays that do not belong together, all that is wrong at once."""
    images = len(of.embeddings)
    problems = [
        f"{name} has {len(array)} rows"
        for name, array in (
            ("labels", of.labels),
            ("groups", of.groups),
            ("probabilities", of.probabilities),
            ("allowed", of.allowed),
        )
        if array is not None and len(array) != images
    ]
    if len(of.labels) and int(of.labels.max()) >= of.classes:
        problems.append(f"labels has class {int(of.labels.max())} of {of.classes} classes, counted from 0")
    if problems:
        raise InvalidInput(f"These do not belong to {images} embeddings.", problems=problems)
