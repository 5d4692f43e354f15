"""How people label: how far they agree, and how well each does on images whose answer is known (honeypots)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from seedbed.base.errors import InvalidInput


@dataclass(frozen=True)
class Pair:
    """On how many of the images that both have labelled two people agree, and beyond chance (Cohen's kappa)."""

    first: int
    second: int
    images: int
    agreed: int
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
        return Pair(first, second, 0, 0, 0.0)
    kinds = int(max(one.max(), other.max())) + 1
    by_chance = float(np.bincount(one, minlength=kinds) @ np.bincount(other, minlength=kinds)) / len(one) ** 2
    agreed = int((one == other).sum())
    observed = agreed / len(one)
    kappa = (observed - by_chance) / (1 - by_chance) if by_chance < 1 else 1.0
    return Pair(first, second, len(one), agreed, kappa)


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
    """An order with one honeypot at a random place in every so many images, so that none can be told by its place.

    Honeypots that find no place so come last.
    """
    draws = np.random.default_rng(seed)
    parts: list[NDArray[np.integer]] = []
    plain = order[~np.isin(order, honeypots)]
    for number, start in enumerate(range(0, len(plain), every - 1)):
        part = plain[start : start + every - 1]
        if number < len(honeypots):
            part = np.insert(part, draws.integers(len(part) + 1), honeypots[number])
        parts.append(part)
    return np.concatenate([*parts, honeypots[len(parts) :]]).astype(np.int64)


def score(golden: NDArray[np.integer], said: NDArray[np.integer]) -> Score:
    """How somebody did: what they said of each image (-1: nothing) beside the golden labels (-1: none)."""
    both = (golden >= 0) & (said >= 0)
    asked, right = int(both.sum()), int((golden[both] == said[both]).sum())
    low, high = (float(betaincinv(right + 0.5, asked - right + 0.5, tail)) for tail in (0.025, 0.975))
    return Score(asked, right, low if right else 0.0, high if right < asked else 1.0)
