"""Every group in its turn: classes that are rare among the images are found as soon as common ones."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.choose import Choices
from seedbed.methods.label.choosers.pool import filled, kinds, pool_of


@dataclass(frozen=True)
class Balanced:
    """As many images from every group of alike images, at random within each."""

    def choose(self, of: Choices, count: int) -> NDArray[np.int64]:
        rows, groups = grouped(of)
        rows_in_turn = np.random.default_rng([of.seed, len(of.labelled())]).permutation(len(rows))
        free = rows_in_turn[of.labels[rows[rows_in_turn]] < 0]
        have = np.bincount(groups[of.labels[rows] >= 0], minlength=int(groups.max(initial=0)) + 1)
        turn = np.zeros(len(free), dtype=np.int64)
        for number in np.unique(groups[free]):
            mine = groups[free] == number
            turn[mine] = have[number] + np.arange(np.count_nonzero(mine))
        return filled(rows[free[np.argsort(turn, kind="stable")]], of, count)


def grouped(of: Choices) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
    """Rows and their groups: those that are known, else a sample in as many groups as there are classes."""
    if of.groups is not None:
        rows = np.concatenate([of.free(), of.labelled()])
        return rows, of.groups[rows]
    pool = pool_of(of)
    if not len(pool.rows):
        return pool.rows, np.zeros(0, dtype=np.int64)
    return pool.rows, kinds(pool.points, of.classes, of.seed)[0]
