"""Are the labels right: likely mistakes.

They are found by confident learning (Northcutt, Jiang and Chuang, 2021): a label is doubted where a head
that never saw it is surer of another class than it usually is of that class. A head that learnt from a few labels
errs more often than people do, so a doubt is believed only as far as it is likelier that the label slipped than that
the head erred: how often either happens is estimated from the labels themselves.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.suggest import Suggester

_STRENGTH = 10.0  # of the head: it must not believe every label
_FEWEST = 2  # labels of a class: below that nothing is known of it when one of them is held out
LIKELY = 1 / 6  # chance from which a label is worth a second look: of those named, some three in ten were wrong
_ASSUMED_WRONG, _ASSUMED_RIGHT = 1, 20  # labels, before anything is known: people slip, and seldom
_TEMPERATURES = np.geomspace(0.25, 4.0, 17)  # how much surer, or less sure, than it says a head may be to be believed
_ROUNDS = 50  # in which the share of slips settles


@dataclass(frozen=True)
class Mistake:
    """A label that may be wrong; `confidence` is how likely it is wrong, from 0 to 1."""

    row: int
    given: int
    likely: int
    confidence: float

    @property
    def is_likely(self) -> bool:
        """Whether it is worth a second look."""
        return self.confidence >= LIKELY


def likely_mistakes(
    embeddings: NDArray[np.floating],
    labels: NDArray[np.integer],
    classes: int,
    *,
    folds: int = 5,
    least: float = LIKELY,
    seed: int = 0,
) -> list[Mistake]:
    """The labels that are likely enough to be wrong, the likeliest first; with `least` 0 all that can be doubted.

    Classes with a single label are left alone: nothing can be said of them without it.
    """
    rows = np.flatnonzero(labels >= 0)
    counts = np.bincount(labels[rows], minlength=classes)
    rows = rows[counts[labels[rows]] >= _FEWEST]
    if np.count_nonzero(counts >= _FEWEST) < 2:
        return []
    given = labels[rows].astype(np.int64)
    chances = out_of_fold(np.asarray(embeddings[rows]), given, classes, folds=folds, seed=seed)
    wrong = chance_wrong(chances, given)
    found = [
        Mistake(int(rows[place]), int(given[place]), likely, float(wrong[place]))
        for place, likely, _ in doubted(chances, given)
        if wrong[place] >= least
    ]
    return sorted(found, key=lambda one: -one.confidence)


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


def chance_wrong(chances: NDArray[np.float64], given: NDArray[np.int64]) -> NDArray[np.float64]:
    """How likely each label is wrong, by what a head says that never saw it.

    An image shows what the head says with the chances it says, at some temperature; its label is that, or with some
    small chance a slip to any other class. The share of slips is the likeliest one for the labels that were given, at
    each temperature; temperatures count by how well they explain the labels. So labels are not blamed for a head that
    is often unsure, or surely wrong.
    """
    kinds = len(np.unique(given))
    logits = np.log(np.maximum(chances, 1e-6))
    fits = [_slips(_own_chance(logits / temperature, given), kinds) for temperature in _TEMPERATURES]
    explained = np.array([fit[0] for fit in fits])
    weights = np.exp(explained - explained.max())
    return np.asarray(np.average([fit[1] for fit in fits], axis=0, weights=weights))


def _own_chance(logits: NDArray[np.float64], given: NDArray[np.int64]) -> NDArray[np.float64]:
    """The chance of each image's own label."""
    likely = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(likely[np.arange(len(given)), given] / likely.sum(axis=1))


def _slips(own: NDArray[np.float64], kinds: int) -> tuple[float, NDArray[np.float64]]:
    """How well labels are explained with the best share of slips, and how likely each is one: EM."""
    other = (1 - own) / (kinds - 1)
    share = 0.05
    for _ in range(_ROUNDS):
        wrong = share * other / np.maximum(share * other + (1 - share) * own, 1e-300)
        share = (wrong.sum() + _ASSUMED_WRONG) / (len(own) + _ASSUMED_WRONG + _ASSUMED_RIGHT)
    explained = np.log(np.maximum(share * other + (1 - share) * own, 1e-300)).sum()
    return float(explained + _ASSUMED_WRONG * np.log(share) + _ASSUMED_RIGHT * np.log(1 - share)), wrong
