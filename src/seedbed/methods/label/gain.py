"""About how many more labels would help which class, and how much: said while a person labels.

What a class lacks is how often images of it are missed or mistaken, by what the head believes of the images without a
label. What more labels bring follows the usual curve: the lack shrinks with the square root of their number.
"""

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.suggest import Embeddings, Suggester

_SAMPLE = 5000  # images that the belief is read from
_STEPS = (5, 10, 20, 50, 100, 200, 500)  # numbers of labels that are said
_CURVE = 0.5  # power of the number of labels that the lack falls with


@dataclass(frozen=True)
class Gain:
    """`labels` more labels would make class `klass` better by about so many `points` (F1, in %)."""

    klass: int
    labels: int
    points: float


def gains(embeddings: Embeddings, labels: NDArray[np.integer], classes: int, *, seed: int = 0) -> list[Gain]:
    """What about as many more labels as a class has now would bring to each class, the most first.

    A class without a label is not known at all, and comes first.
    """
    counts = np.bincount(labels[labels >= 0], minlength=classes)
    more = _step(int(np.ceil(counts.mean()))) if classes else 0
    points = 100 * lacks(embeddings, labels, classes, seed=seed) * (1 - (counts / (counts + more)) ** _CURVE)
    order = np.argsort(-points, kind="stable")
    return [Gain(int(klass), more, float(points[klass])) for klass in order]


def lacks(embeddings: Embeddings, labels: NDArray[np.integer], classes: int, *, seed: int = 0) -> NDArray[np.float64]:
    """1 - F1 of each class by the head's own belief; 1 where it has no label."""
    known = np.unique(labels[labels >= 0])
    lack = np.ones(classes)
    if len(known) < 2:
        return lack
    rows = np.flatnonzero(labels < 0)
    if not len(rows):
        rows = np.arange(len(labels))
    rows = np.sort(np.random.default_rng(seed).permutation(rows)[:_SAMPLE])
    chances = Suggester.fit(embeddings, labels, classes).probabilities(embeddings[rows]).astype(np.float64)
    said = chances.argmax(axis=1)
    believed, named = chances.sum(axis=0), np.bincount(said, minlength=classes)
    hit = np.bincount(said, weights=chances.max(axis=1), minlength=classes)
    lack[known] = 1 - 2 * hit[known] / (believed + named)[known]
    return lack


def _step(labels: int) -> int:
    """The number of labels nearest to that one that a person would say."""
    return min(_STEPS, key=lambda step: abs(log(step / max(labels, 1))))
