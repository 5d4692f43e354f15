"""Are the labels right: likely mistakes.

They are found by confident learning (Northcutt, Jiang and Chuang, 2021): a label is doubted where a head
that never saw it is surer of another class than it usually is of that class.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.suggest import Suggester

_STRENGTH = 10.0  # of the head: it must not believe every label
_FEWEST = 2  # labels of a class: below that nothing is known of it when one of them is held out


@dataclass(frozen=True)
class Mistake:
    """A label that is probably wrong; `confidence` is how far the likely class is ahead of the given one, 0 to 1."""

    row: int
    given: int
    likely: int
    confidence: float


def likely_mistakes(
    embeddings: NDArray[np.floating], labels: NDArray[np.integer], classes: int, *, folds: int = 5, seed: int = 0
) -> list[Mistake]:
    """The labels that are probably wrong, the surest first.

    Classes with a single label are left alone: nothing can be said of them without it.
    """
    rows = np.flatnonzero(labels >= 0)
    counts = np.bincount(labels[rows], minlength=classes)
    rows = rows[counts[labels[rows]] >= _FEWEST]
    if np.count_nonzero(counts >= _FEWEST) < 2:
        return []
    given = labels[rows].astype(np.int64)
    chances = out_of_fold(np.asarray(embeddings[rows]), given, classes, folds=folds, seed=seed)
    return [
        Mistake(int(rows[place]), int(given[place]), likely, ahead) for place, likely, ahead in doubted(chances, given)
    ]


def out_of_fold(
    embeddings: NDArray[np.floating], labels: NDArray[np.int64], classes: int, *, folds: int, seed: int
) -> NDArray[np.float64]:
    """What a head says of each image that did not see its label: (images, classes)."""
    fold = fold_of(labels, folds, seed)
    chances = np.zeros((len(labels), classes))
    for number in np.unique(fold):
        held_out = fold == number
        head = Suggester.fit(embeddings, np.where(held_out, -1, labels), classes, strength=_STRENGTH)
        chances[held_out] = head.probabilities(embeddings[held_out])
    return chances


def fold_of(labels: NDArray[np.integer], folds: int, seed: int) -> NDArray[np.int64]:
    """A fold for every label, each class spread evenly over them."""
    draws = np.random.default_rng(seed)
    fold = np.zeros(len(labels), dtype=np.int64)
    for kind in np.unique(labels):
        rows = draws.permutation(np.flatnonzero(labels == kind))
        fold[rows] = (np.arange(len(rows)) + draws.integers(folds)) % folds
    return fold


def doubted(chances: NDArray[np.float64], given: NDArray[np.int64]) -> list[tuple[int, int, float]]:
    """The off-diagonal of the confident joint: place, likely class and how far ahead it is, the furthest first.

    A class is confidently meant where its chance reaches the mean chance that its own labels have; of several such
    classes the likeliest counts.
    """
    thresholds = np.full(chances.shape[1], np.inf)
    for kind in np.unique(given):
        thresholds[kind] = chances[given == kind, kind].mean()
    meant = np.where(chances >= thresholds, chances, -1.0)
    likely = meant.argmax(axis=1)
    places = np.arange(len(given))
    ahead = chances[places, likely] - chances[places, given]
    found = np.flatnonzero((meant[places, likely] >= 0) & (likely != given) & (ahead > 0))
    order = found[np.argsort(-ahead[found], kind="stable")]
    return [(int(place), int(likely[place]), float(ahead[place])) for place in order]
