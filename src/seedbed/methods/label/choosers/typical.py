"""Typical first (TypiClust: Hacohen, Dekel and Weinshall, 2022): with few labels, label what many images look like."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.choose import Choices
from seedbed.methods.label.choosers.pool import Pool, filled, kinds, pool_of
from seedbed.methods.label.groups import typicality

_MOST_GROUPS = 500  # as in the paper
_SMALLEST_GROUP = 5  # smaller ones are odd images


@dataclass(frozen=True)
class Typical:
    """The most typical image of each group that has no label yet, the largest group first.

    There are as many groups as labels there will be.
    """

    def choose(self, of: Choices, count: int) -> NDArray[np.int64]:
        pool = pool_of(of)
        if not pool.free.any():
            return filled(pool.rows[:0], of, count)
        groups, _ = kinds(pool.points, min(len(pool.labelled) + count, _MOST_GROUPS), of.seed)
        typical = typicality(pool.points, groups, of.seed)
        return filled(pool.rows[_in_turn(pool, groups, typical)], of, count)


def _in_turn(pool: Pool, groups: NDArray[np.int64], typical: NDArray[np.float32]) -> NDArray[np.int64]:
    """Free places: groups with the fewest labels first, of those the largest, and its most typical image."""
    sizes = np.bincount(groups)
    labels = np.bincount(groups[pool.labelled], minlength=len(sizes))
    free = np.flatnonzero(pool.free)
    free = free[np.argsort(-typical[free], kind="stable")]
    turn = np.zeros(len(free), dtype=np.int64)
    for number in np.unique(groups[free]):
        mine = groups[free] == number
        turn[mine] = labels[number] + np.arange(np.count_nonzero(mine))
    small = sizes[groups[free]] < _SMALLEST_GROUP
    return free[np.lexsort((-sizes[groups[free]], turn, small))]
