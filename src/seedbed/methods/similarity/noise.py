"""Sampling noise: how far a data set is from another sample of itself, and distances without that part.

Two samples of one data set are not at 0 from each other: every image is moved onto the nearest one that the other
happens to hold. In many dimensions that way is long, at nearly a right angle to the way between the data sets, and
differs by data set: squares of both add up. So its square is taken off, half for each of the two data sets, as entropic
transport is debiased.

What is left is the distance of the two samples, and not yet that of what they were taken from: their means differ by
chance, and no look at one sample tells by how much. Along a direction in which images vary much that counts. Drawn
leaves vary by 6.2 in how light they are, of 9.6 in all: 48 or 120 of them, moved apart by 9.0 that way, are found at
6.3 to 12.4, at 9.0 on the average, and near the way between their own means (r = 0.97 and 0.99). The same move in a
direction of chance is found as 9.3, give or take 0.3; of 300 images as 9.15. These last tenths are the noise of one
unit, which is known to some 3 % (with 6 images a class 5 % too much is taken off), and the first power, which the paper
has and `reference` has not: a mean of roots is less than the root of the mean.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from seedbed.methods.similarity.units import Unit

Distance = Callable[[Unit, Unit], float]
# The factor by which noise falls when a sample doubles: it never grows, and nothing falls faster than squares of means.
_SLOWEST, _FASTEST = 1.0, 0.5
_QUARTERED = 8  # images of a unit, from which on quarters say something; of fewer little is taken off
_SPLIT = 2000  # images that are split in all: small units several times, as chance counts for more
_MOST_SPLITS = 4


def sampling_noise(units: Sequence[Unit], distance: Distance) -> float:
    """The distance that is to be expected between two samples of a data set, each as large as one of its units.

    It is the mean over pairs of its units. Where there is one unit, its quarters and halves say by which factor the
    distance falls when samples double, and it is taken to fall by that factor once more: transport between samples of n
    points falls as a power of n, with an exponent that depends on the data set (1 over its dimension).
    """
    if len(units) > 1:
        return _between(units, distance)
    count = len(units[0].labels)
    if count < 2:
        return 0.0
    halves = _apart(units[0], 2, distance)
    quarters = _apart(units[0], 4, distance) if count >= _QUARTERED else 0.0
    factor = halves / quarters if quarters else _FASTEST
    return halves * min(_SLOWEST, max(_FASTEST, factor))


def without_noise(distance: float, noises: tuple[float, float], *, squared: bool) -> float:
    """A distance of two data sets less the noise of both, 0 at least; `squared` ones are squares of distances."""
    if squared:
        return max(0.0, distance - sum(noises) / 2)
    return float(np.sqrt(max(0.0, distance**2 - sum(noise**2 for noise in noises) / 2)))


def _between(units: Sequence[Unit], distance: Distance) -> float:
    return float(np.mean([distance(one, other) for one, other in combinations(units, 2)]))


def _apart(unit: Unit, parts: int, distance: Distance) -> float:
    """The mean distance between neighbours among so many equal parts of a unit, which have all classes alike."""
    count = len(unit.labels)
    found = []
    for seed in range(max(1, min(_MOST_SPLITS, _SPLIT // count))):
        mixed = np.random.default_rng(seed).permutation(count)[: count - count % parts]
        rows = mixed[np.argsort(unit.labels[mixed], kind="stable")]
        cut = [unit.part(rows[place::parts]) for place in range(parts)]
        found += [distance(*cut[place : place + 2]) for place in range(0, parts, 2)]
    return float(np.mean(found))
