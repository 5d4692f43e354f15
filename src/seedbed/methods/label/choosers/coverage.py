"""Coverage (ProbCover: Yehuda and others, 2022): balls around the labels hold as many images as they can."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.choose import Choices
from seedbed.methods.label.choosers.pool import Pool, filled, kinds, pool_of

_PURE = 0.95  # share of balls that must hold images of one group only, as in the paper


@dataclass(frozen=True)
class Coverage:
    """The image whose ball holds the most images that no label's ball holds yet, one after another.

    The radius is the largest at which nearly all balls hold images of one group only. Once all are covered, the rest
    is chosen at random.
    """

    def choose(self, of: Choices, count: int) -> NDArray[np.int64]:
        pool = pool_of(of)
        if not pool.free.any():
            return filled(pool.rows[:0], of, count)
        alike = pool.points @ pool.points.T
        balls = alike >= nearness(alike, kinds(pool.points, max(2, of.classes), of.seed)[0])
        return filled(pool.rows[_cover(pool, balls, count)], of, count)


def nearness(alike: NDArray[np.float32], groups: NDArray[np.integer]) -> float:
    """The smallest cosine to the middle at which nearly all balls are pure."""
    of_others = np.where(groups[:, None] != groups[None], alike, -1.0).max(axis=1)  # the nearest image of another group
    return float(np.quantile(of_others, _PURE))


def _cover(pool: Pool, balls: NDArray[np.bool_], count: int) -> NDArray[np.int64]:
    open_to = ~balls[pool.labelled].any(axis=0)
    gains = np.where(pool.free, balls @ open_to.astype(np.float32), -1.0)
    chosen: list[int] = []
    while len(chosen) < count and gains.max() > 0:
        best = int(gains.argmax())
        chosen.append(best)
        news = balls[best] & open_to
        open_to &= ~news
        gains -= balls[:, news].sum(axis=1)
        gains[best] = -np.inf
    return np.array(chosen, dtype=np.int64)
