"""DSD: which data sets are near a new one, measured against a baseline (Zhang and Stewart, section III)."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.noise import without_noise
from seedbed.methods.similarity.otdd import DSD, Otdd
from seedbed.methods.similarity.signature import Signature
from seedbed.methods.similarity.threads import one_thread
from seedbed.methods.similarity.units import Unit

_FARTHEST = 1e6
_WORKERS = 2  # pairs of data sets at a time: the solvers work without the interpreter's lock


def _ignore(_done: int, _total: int) -> None:
    """Tell nobody how far it is."""


@dataclass(frozen=True)
class Nearness:
    """How near a data set is to the target.

    `ratio` is the distance in distances to the baseline: 1 or more says that the baseline (ImageNet, usually) is as
    good. `dsd` is the ratio over the largest one of the ranking, from 0 to 1: it orders a ranking and means nothing
    across rankings. Where `exact` is false the distance is that of sketches.
    """

    name: str
    distance: float
    ratio: float
    dsd: float
    exact: bool = True


def dataset_distance(ours: Signature, theirs: Signature, how: Otdd | None = None) -> float:
    """The modified OTDD: the mean over all pairs of units that were taken of the two data sets.

    The noise of sampling both is taken off, unless `how` keeps it, as the paper does. A data set is at 0 from itself,
    however many units it has: the mean over its own units, of which each is at 0 from itself alone, would say how many
    there are.
    """
    how = how or DSD
    _check_comparable(ours, theirs)
    if len(ours.units) == len(theirs.units) and all(map(Unit.same_as, ours.units, theirs.units)):
        return 0.0
    mean = float(np.mean(unit_distances(ours, theirs, how)))
    if how.noise == "kept":
        return mean
    return without_noise(mean, (ours.noise(how), theirs.noise(how)), squared=how.definition == "reference")


def unit_distances(ours: Signature, theirs: Signature, how: Otdd | None = None) -> list[list[float]]:
    """The distance of each of our units to each of theirs, noise included."""
    _check_comparable(ours, theirs)
    how = how or DSD
    return [[how.distance(a, b) for b in theirs.units] for a in ours.units]


def distance_matrix(
    signatures: Sequence[Signature],
    how: Otdd | None = None,
    *,
    workers: int = _WORKERS,
    on_progress: Callable[[int, int], object] = _ignore,
) -> NDArray[np.float64]:
    """The distances between all pairs of data sets, which go both ways alike; several pairs at a time."""
    found = np.zeros((len(signatures), len(signatures)))
    pairs = list(combinations_with_replacement(range(len(signatures)), 2))
    with ThreadPoolExecutor(workers) as pool:
        distances = pool.map(lambda pair: dataset_distance(signatures[pair[0]], signatures[pair[1]], how), pairs)
        for done, ((i, j), distance) in enumerate(zip(pairs, distances, strict=True), start=1):
            found[i, j] = found[j, i] = distance
            on_progress(done, len(pairs))
    return found


def rank(
    target: Signature,
    sources: Sequence[Signature],
    baseline: Signature,
    how: Otdd | None = None,
    *,
    exact_for: int = 12,
) -> list[Nearness]:
    """The sources by nearness to the target, nearest first.

    Where there are more than `exact_for`, sketches decide which ones are measured in full; the others follow after
    them, in the order of their sketches.
    """
    how = how or DSD
    for source in (*sources, baseline):
        _check_comparable(target, source)
    if how.noise == "removed":
        target.noise(how)  # once, and not in every look
    ours = target.glimpse
    with one_thread():
        rough = {source.name: ours.square(source.glimpse, how) for source in sources}
    order = sorted(sources, key=lambda source: rough[source.name])
    with ThreadPoolExecutor(_WORKERS) as pool:
        found = pool.map(lambda other: dataset_distance(target, other, how), (baseline, *order[:exact_for]))
        to_baseline, *measured = found
    full = dict(zip((source.name for source in order), measured, strict=False))
    # Sketches are of another scale: their distances are stretched to meet the full ones. The baseline is among these,
    # as what is nearest may well be at 0.
    sketched = _root(ours.square(baseline.glimpse, how), how) + sum(_root(rough[name], how) for name in full)
    stretch = _ratio(to_baseline + sum(full.values()), sketched)
    distances = full | {source.name: stretch * _root(rough[source.name], how) for source in order[exact_for:]}
    ratios = {name: _ratio(distance, to_baseline) for name, distance in distances.items()}
    largest = max(ratios.values(), default=0.0) or 1.0  # where all are at 0, all are as near as can be
    ranked = [Nearness(name, distances[name], ratios[name], ratios[name] / largest, name in full) for name in distances]
    return sorted(ranked, key=lambda near: (not near.exact, near.ratio, rough[near.name], near.name))


def _root(square: float, how: Otdd) -> float:
    """The distance whose square was sketched; the reference's are half squares themselves."""
    known = max(0.0, square)
    return known / 2 if how.definition == "reference" else float(np.sqrt(known))


def _ratio(part: float, whole: float) -> float:
    """Of two distances; two that are 0 are alike, and what is infinitely farther is a million times as far."""
    if part == 0 and whole == 0:
        return 1.0
    return part / max(whole, part / _FARTHEST)


def _check_comparable(ours: Signature, theirs: Signature) -> None:
    widths = [signature.units[0].features.shape[1] for signature in (ours, theirs)]
    if ours.space != theirs.space or widths[0] != widths[1]:
        raise InvalidInput(
            f"'{ours.name}' ({ours.space}, {widths[0]} numbers an image) cannot be compared with '{theirs.name}' "
            f"({theirs.space}, {widths[1]} numbers an image).",
            hint="Make both signatures from the same features, and from images with the same channels.",
        )
