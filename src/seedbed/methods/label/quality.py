"""Are the labels right: likely mistakes, how far people agree, and how well each does on images whose answer is known.

Likely mistakes are found by confident learning (Northcutt, Jiang and Chuang, 2021): a label is doubted where a head
that never saw it is surer of another class than it usually is of that class.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from seedbed.base.errors import InvalidInput
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


@dataclass(frozen=True)
class Pair:
    """How two people agree beyond chance (Cohen's kappa) on the images that both have labelled."""

    first: int
    second: int
    images: int
    kappa: float


@dataclass(frozen=True)
class Agreement:
    """How people agree: Krippendorff's alpha over all opinions (1 all alike, 0 no better than chance), and by pairs.

    `images` have opinions of two people or more; `agreed` is the share of those on which all said the same.
    """

    alpha: float
    images: int
    agreed: float
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Score:
    """How somebody did on images whose answer is known, with the 95 % interval that so few answers allow."""

    asked: int
    right: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of right answers; 0 where nothing was asked."""
        return self.right / self.asked if self.asked else 0.0


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


def agreement(opinions: NDArray[np.integer]) -> Agreement:
    """How people agree: a row per image, a column per person, a class number each, -1 where nothing was said."""
    if opinions.ndim != 2:
        raise InvalidInput(f"opinions has shape {opinions.shape}; expected (images, people).")
    said = opinions >= 0
    shared = opinions[said.sum(axis=1) >= 2]
    alike = [len(np.unique(row[row >= 0])) == 1 for row in shared]
    pairs = [_pair(opinions, first, second) for first, second in combinations(range(opinions.shape[1]), 2)]
    return Agreement(
        alpha=_alpha(shared),
        images=len(shared),
        agreed=float(np.mean(alike)) if alike else 1.0,
        pairs=tuple(pair for pair in pairs if pair.images),
    )


def _alpha(shared: NDArray[np.integer]) -> float:
    """Krippendorff's alpha for names without an order; every image has two opinions or more."""
    if not len(shared):
        return 1.0
    kinds = int(shared.max()) + 1
    counts = np.stack([np.bincount(row[row >= 0], minlength=kinds) for row in shared]).astype(np.float64)
    each = counts.sum(axis=1)
    alike = (counts * (counts - 1)).sum(axis=1) / (each - 1)  # pairs of opinions on one image that are the same
    total, of_kind = each.sum(), counts.sum(axis=0)
    observed = 1 - alike.sum() / total
    expected = 1 - (of_kind * (of_kind - 1)).sum() / (total * (total - 1))
    return float(1 - observed / expected) if expected > 0 else 1.0


def _pair(opinions: NDArray[np.integer], first: int, second: int) -> Pair:
    """Cohen's kappa of two people; 1 where both only ever said one and the same thing."""
    both = (opinions[:, first] >= 0) & (opinions[:, second] >= 0)
    one, other = opinions[both, first], opinions[both, second]
    if not len(one):
        return Pair(first, second, 0, 0.0)
    kinds = int(max(one.max(), other.max())) + 1
    by_chance = float(np.bincount(one, minlength=kinds) @ np.bincount(other, minlength=kinds)) / len(one) ** 2
    observed = float((one == other).mean())
    kappa = (observed - by_chance) / (1 - by_chance) if by_chance < 1 else 1.0
    return Pair(first, second, len(one), kappa)


def choose_honeypots(
    golden: NDArray[np.integer], count: int, *, seen: NDArray[np.integer] | Sequence[int] = (), seed: int = 0
) -> NDArray[np.int64]:
    """Rows with a golden label (-1: none) to ask somebody about, every class in its turn, none that they have seen."""
    draws = np.random.default_rng(seed)
    open_to = np.setdiff1d(np.flatnonzero(golden >= 0), np.asarray(seen, dtype=np.int64))
    rows = draws.permutation(open_to)
    turn = np.zeros(len(rows), dtype=np.int64)
    for kind in np.unique(golden[rows]):
        turn[golden[rows] == kind] = np.arange(np.count_nonzero(golden[rows] == kind))
    return rows[np.argsort(turn, kind="stable")][:count].astype(np.int64)


def mix_in(
    order: NDArray[np.integer], honeypots: NDArray[np.integer], *, every: int = 20, seed: int = 0
) -> NDArray[np.int64]:
    """An order with one honeypot at a random place in every so many images, so that none can be told by its place."""
    draws = np.random.default_rng(seed)
    parts: list[NDArray[np.integer]] = []
    plain = order[~np.isin(order, honeypots)]
    for number, start in enumerate(range(0, len(plain), every - 1)):
        part = plain[start : start + every - 1]
        if number < len(honeypots):
            part = np.insert(part, draws.integers(len(part) + 1), honeypots[number])
        parts.append(part)
    return np.concatenate(parts).astype(np.int64) if parts else np.asarray(honeypots[:0], dtype=np.int64)


def score(golden: NDArray[np.integer], said: NDArray[np.integer]) -> Score:
    """How somebody did: what they said of each image (-1: nothing) beside the golden labels (-1: none)."""
    both = (golden >= 0) & (said >= 0)
    asked, right = int(both.sum()), int((golden[both] == said[both]).sum())
    low, high = (float(betaincinv(right + 0.5, asked - right + 0.5, tail)) for tail in (0.025, 0.975))
    return Score(asked, right, low if right else 0.0, high if right < asked else 1.0)
