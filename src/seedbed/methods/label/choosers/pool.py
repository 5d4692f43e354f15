"""What choosers look at: a sample of the images, as points on a sphere where alike images lie close."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.choose import Choices
from seedbed.methods.label.groups import spread

SAMPLE = 3000  # images stand for all of them: more cost seconds and change little


@dataclass(frozen=True)
class Pool:
    """A sample of rows; `points` are around their mean and have length 1."""

    rows: NDArray[np.int64]
    points: NDArray[np.float32]
    free: NDArray[np.bool_]  # of the sample: may be chosen

    @property
    def labelled(self) -> NDArray[np.int64]:
        """The places of the labelled images in the sample."""
        return np.flatnonzero(~self.free)


def pool_of(of: Choices, sample: int = SAMPLE) -> Pool:
    """A sample of the images: every labelled one, up to half of it, and of those that may be chosen as many as fit."""
    draws = np.random.default_rng([of.seed, len(of.labels)])
    labelled = _some(of.labelled(), sample // 2, draws)
    rows = np.sort(np.concatenate([labelled, _some(of.free(), sample - len(labelled), draws)]))
    points = spread(of.embeddings[rows], of.seed) if len(rows) else np.zeros((0, 1), np.float32)
    return Pool(rows, points, of.labels[rows] < 0)


def filled(rows: NDArray[np.int64], of: Choices, count: int) -> NDArray[np.int64]:
    """`count` rows: those chosen, and where they are too few, others at random."""
    if len(rows) >= count:
        return rows[:count]
    others = np.setdiff1d(of.free(), rows)
    return np.concatenate([rows, np.random.default_rng(of.seed).permutation(others)[: count - len(rows)]])


def _some(rows: NDArray[np.int64], count: int, draws: np.random.Generator) -> NDArray[np.int64]:
    return rows if count >= len(rows) else draws.choice(rows, count, replace=False)
