"""Uncertain and unlike each other: of the images that the model is least sure of, one of each kind (Zhdanov, 2019)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.choose import Choices
from seedbed.methods.label.choosers.pool import Pool, filled, kinds, pool_of
from seedbed.methods.label.choosers.typical import Typical
from seedbed.methods.label.suggest import Suggester

_AHEAD = 10  # times as many uncertain images are looked at as are chosen


@dataclass(frozen=True)
class Uncertain:
    """Images between two classes, from groups weighted by doubt; typical ones while there is no model to doubt."""

    def choose(self, of: Choices, count: int) -> NDArray[np.int64]:
        pool = pool_of(of)
        doubts = doubt(of, pool)
        if doubts is None or not pool.free.any() or not count:
            return Typical().choose(of, count)
        free = np.flatnonzero(pool.free)
        free = free[np.argsort(-doubts[free], kind="stable")][: _AHEAD * count]
        return filled(pool.rows[_unlike(pool, free, doubts, count, of.seed)], of, count)


def doubt(of: Choices, pool: Pool) -> NDArray[np.float32] | None:
    """How little the likeliest class of each image of the pool is ahead of the next: 0 sure, 1 no idea.

    By the model's word, else by a head on the labels so far; None while fewer than two classes are known.
    """
    if of.probabilities is not None:
        chances = np.asarray(of.probabilities[pool.rows], dtype=np.float32)
    elif len(np.unique(of.labels[of.labels >= 0])) >= 2:
        chances = Suggester.fit(of.embeddings, of.labels, of.classes).probabilities(of.embeddings[pool.rows])
    else:
        return None
    if chances.shape[1] < 2:
        return None
    best = np.partition(chances, -2, axis=1)
    doubts = np.asarray(1 - (best[:, -1] - best[:, -2]), dtype=np.float32)
    return doubts if doubts.any() else None  # a model that knows one class is sure of everything


def _unlike(
    pool: Pool, places: NDArray[np.int64], doubts: NDArray[np.float32], count: int, seed: int
) -> NDArray[np.int64]:
    """From each of `count` groups of those places the image nearest its middle, the most doubted first."""
    points, weights = pool.points[places], doubts[places] + 1e-3
    groups, middles = kinds(points, count, seed, weights)
    away = np.square(points - middles[groups]).sum(axis=1)
    by_group = np.lexsort((away, groups))
    firsts = by_group[np.unique(groups[by_group], return_index=True)[1]]
    rest = np.setdiff1d(np.arange(len(places)), firsts)  # the places are in order of doubt already
    return np.asarray(places[np.concatenate([np.sort(firsts), rest])])
