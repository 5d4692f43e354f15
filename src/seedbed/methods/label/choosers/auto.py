"""The default: label what stands for most of the images that are not understood yet.

Facility location: an image is understood as far as some label is like it, and each choice is the image that adds most
to that, summed over all images. How like two images must be follows from how many labels there will be: each stands
for an equal share of the images. Once two classes have labels, every image counts by how unsure a model is of it. So
the first choices are typical and unlike each other, later ones are where classes meet, and an image that is like no
other is never worth much. There is nothing to tune.
"""

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.choose import Choices
from seedbed.methods.label.choosers.pool import Pool, filled, pool_of
from seedbed.methods.label.choosers.uncertain import doubt

Weights = NDArray[np.float32]


@dataclass(frozen=True)
class Auto:
    """What stands for most images that the labels so far, or a model, do not explain."""

    def choose(self, of: Choices, count: int) -> NDArray[np.int64]:
        pool = pool_of(of)
        doubts = doubt(of, pool)
        weights = np.ones(len(pool.rows), np.float32) if doubts is None else doubts
        return filled(pool.rows[_in_stages(pool, weights, len(of.labelled()), of, count)], of, count)


def _in_stages(pool: Pool, weights: Weights, labels: int, of: Choices, count: int) -> NDArray[np.int64]:
    """Places, chosen in stages that double the labels: the first few must be good by themselves."""
    alike = pool.points @ pool.points.T
    free = pool.free.copy()
    taken = list(pool.labelled)
    count = min(count, int(free.sum()))
    chosen: list[int] = []
    while len(chosen) < count:
        step = min(count - len(chosen), max(of.classes, labels + len(chosen), 1))
        near = nearness(alike, labels + len(chosen) + step)
        news = best_places(np.exp((alike - 1) / near), weights, free, np.array(taken, dtype=np.int64), step)
        free[news] = False
        taken.extend(news)
        chosen.extend(news)
    return np.array(chosen, dtype=np.int64)


def nearness(alike: NDArray[np.float32], labels: int) -> float:
    """How far from an image (1 - cosine) those lie that a label stands for, when so many share the images out."""
    neighbours = int(np.clip(len(alike) // labels, 2, len(alike)))
    place = len(alike) - neighbours
    return max(1e-3, float(np.median(1 - np.partition(alike, place, axis=1)[:, place])))


def best_places(
    like: NDArray[np.float32], weights: Weights, free: NDArray[np.bool_], taken: NDArray[np.int64], count: int
) -> list[int]:
    """The free places that add most to the weighted sum of each image's likeness to its nearest taken one, greedily.

    Gains only ever shrink, so a gain that was computed earlier is a bound: only the best bounds are computed again.
    """
    reached = like[taken].max(axis=0) if len(taken) else np.zeros(len(like), np.float32)
    gains = np.maximum(like - reached, 0) @ weights
    bounds = [(-float(gains[place]), int(place), 0) for place in np.flatnonzero(free)]
    heapq.heapify(bounds)
    chosen: list[int] = []
    while bounds and len(chosen) < count:
        _, place, computed = bounds[0]
        if computed == len(chosen):
            heapq.heappop(bounds)
            chosen.append(place)
            reached = np.maximum(reached, like[place])
        else:
            gain = float(np.maximum(like[place] - reached, 0) @ weights)
            heapq.heapreplace(bounds, (-gain, place, len(chosen)))
    return chosen
