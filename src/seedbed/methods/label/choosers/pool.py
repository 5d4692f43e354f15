"""What choosers look at: a sample of the images, as points on a sphere where alike images lie close."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from seedbed.methods.label.choose import Choices
from seedbed.methods.label.groups import unit

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
    points = np.asarray(of.embeddings[rows], dtype=np.float32)
    if len(rows):
        points = unit(points - points.mean(axis=0))  # what all have in common says nothing
    return Pool(rows, points, of.labels[rows] < 0)


def kinds(
    points: NDArray[np.float32], count: int, seed: int, weights: NDArray[np.float32] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The group of each point and the groups' middles: `count` groups, or one for each distinct point."""
    distinct = len(np.unique(points.round(4), axis=0))
    found = KMeans(max(1, min(count, distinct)), n_init=1, random_state=seed).fit(points, sample_weight=weights)
    return np.asarray(found.labels_, dtype=np.int64), np.asarray(found.cluster_centers_, dtype=np.float32)


def filled(rows: NDArray[np.int64], of: Choices, count: int) -> NDArray[np.int64]:
    """`count` rows: those chosen, and where they are too few, others at random."""
    if len(rows) >= count:
        return rows[:count]
    others = np.setdiff1d(of.free(), rows)
    return np.concatenate([rows, np.random.default_rng(of.seed).permutation(others)[: count - len(rows)]])


def _some(rows: NDArray[np.int64], count: int, draws: np.random.Generator) -> NDArray[np.int64]:
    return rows if count >= len(rows) else draws.choice(rows, count, replace=False)
