"""Tables of distances between data sets, read off the rows of `dsd_robustness`, and by how much they differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from seedbed.methods.similarity.features import SIDE
from seedbed.methods.similarity.noise import without_noise
from seedbed.methods.similarity.otdd import DSD, Noise
from seedbed.methods.similarity.units import STAIRS, UnitSettings

SETS = (
    *("apple-foliar", "cassava", "coffee-symptom", "corn-weeds", "flowers102"),
    *("fruits360", "plant-seedlings", "plantdoc", "plantvillage", "tomato-leaf"),
)
DRAWN = ("drawn-1", "drawn-2")  # three classes of the drawn leaves each
BIN, BINS = 5.0, 5  # %; what lies beyond the last but one falls into the last
STAIRCASES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "one unit": ((1, 1),),
    "default": STAIRS,
    "up to 4 units": ((1, 1), (2, 2), (3, 3), (4, 4)),
}
_MOST = STAIRCASES["up to 4 units"]  # with the smallest units all of these are computed, and the others read off

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """Which tables there are."""

    sets: tuple[str, ...] = SETS
    drawn: tuple[str, ...] = DRAWN
    units: tuple[int, ...] = (1000, 1500, 2000, 2500, 3000)
    unit: int = 2000  # the default, with which image sizes are compared
    sides: tuple[int, ...] = (14, SIDE, 56)
    images: int = 10**6  # at most, of a set
    leaves: int = 2000  # drawn, of a class

    @property
    def names(self) -> tuple[str, ...]:
        """All sets of a table, the real ones first."""
        return self.sets + self.drawn

    def stairs(self, unit: int) -> tuple[tuple[int, int], ...]:
        """The units that are computed: with the smallest ones as many as any staircase takes."""
        return _MOST if unit == min(self.units) else STAIRS


def distances(
    rows: Sequence[Mapping[str, Any]],
    scale: Scale,
    side: int,
    unit: int,
    stairs: str = "default",
    *,
    noise: Noise = DSD.noise,
    own_units: bool = False,
) -> Table | None:
    """The table of mean distances between all sets with a staircase, if all of its rows are there.

    A set is at 0 from itself, or at the mean over its `own_units`, each of which is at 0 from itself alone.
    """
    blocks = _blocks(rows, scale, side, unit, STAIRCASES[stairs])
    if blocks is None:
        return None
    table = np.array([[blocks[name, other].mean() for other in scale.names] for name in scale.names])
    if not own_units:
        np.fill_diagonal(table, 0)
    if noise == "kept":
        return table
    alone = {row["noise_of"]: row["noise"] for row in rows if _is_of(row, side, unit) and "noise_of" in row}
    if not all(name in alone or len(blocks[name, name]) > 1 for name in scale.names):
        return None
    noises = [_noise(blocks[name, name], alone.get(name, 0.0)) for name in scale.names]
    for i, j in permutations(range(len(noises)), 2):
        table[i, j] = without_noise(table[i, j], (noises[i], noises[j]), squared=False)
    return table


def _is_of(row: Mapping[str, Any], side: int, unit: int) -> bool:
    return (row["side"], row["unit"]) == (side, unit)


def _blocks(
    rows: Sequence[Mapping[str, Any]], scale: Scale, side: int, unit: int, stairs: tuple[tuple[int, int], ...]
) -> dict[tuple[str, str], Table] | None:
    """The distances between the units that a staircase takes of each two sets, both ways."""
    settings = UnitSettings(unit, stairs)
    found = {row["set"]: row for row in rows if _is_of(row, side, unit) and "set" in row}
    if not all(name in found for name in scale.names):
        return None
    taken = {name: settings.taken(max(1, found[name]["counts"][name] // unit)) for name in scale.names}
    blocks = {}
    for i, name in enumerate(scale.names):
        for other in scale.names[i:]:
            block = np.array(found[name]["distances"][other])[: taken[name], : taken[other]]
            blocks[name, other], blocks[other, name] = block, block.T
    return blocks


def _noise(own: Table, alone: float) -> float:
    """The mean over pairs of a set's own units; of one unit, what was found for it alone."""
    return float(own[np.triu_indices(len(own), 1)].mean()) if len(own) > 1 else alone


def to_its_like(rows: Sequence[Mapping[str, Any]], scale: Scale, *, noise: Noise = DSD.noise) -> float | None:
    """How far a set is from another sample of itself, in % of its mean distance to the other real sets.

    Two of the smallest units against two others, the mean over sets that have four.
    """
    at = (SIDE, min(scale.units), "up to 4 units")
    blocks, table = _blocks(rows, scale, *at[:2], STAIRCASES[at[2]]), distances(rows, scale, *at, noise=noise)
    if blocks is None or table is None:
        return None
    found = []
    for name, row in zip(scale.sets, table[:, : len(scale.sets)], strict=False):
        own = blocks[name, name]
        if len(own) == 4:
            far, noises = float(own[:2, 2:].mean()), (own[0, 1], own[2, 3])
            apart = far if noise == "kept" else without_noise(far, noises, squared=False)
            found.append(100 * apart / row[row > 0].mean())
    return float(np.mean(found)) if found else None


def same_order(rows: Sequence[Mapping[str, Any]], scale: Scale) -> float | None:
    """Whether the noise changes the order of sets by their distance to one: Spearman's rho, the mean over real sets."""
    both = [distances(rows, scale, SIDE, scale.unit, noise=noise) for noise in get_args(Noise)]
    if any(table is None for table in both) or len(scale.sets) < 3:
        return None
    kept, removed = (table[: len(scale.sets), : len(scale.sets)] for table in both if table is not None)
    others = ~np.eye(len(kept), dtype=bool)
    found = [spearmanr(a[mine], b[mine]).statistic for a, b, mine in zip(kept, removed, others, strict=True)]
    return float(np.mean(found))


def differences(tables: Sequence[Table]) -> NDArray[np.float64]:
    """By how many % each element differs between each two tables whose rows were divided by their largest entry."""
    even = [table / np.where(table.any(axis=1), table.max(axis=1), 1.0)[:, None] for table in tables]
    found = []
    for one, other in combinations(even, 2):
        middle = (one + other) / 2
        apart = np.abs(one - other)
        found.append(100 * np.divide(apart, middle, out=np.zeros_like(apart), where=middle > 0).ravel())
    return np.concatenate(found) if found else np.zeros(0)


def histogram(values: NDArray[np.float64]) -> list[int]:
    """How many lie in each bin of 5 %; the last holds all that lies beyond."""
    places = np.minimum(values // BIN, BINS).astype(np.int64)
    return [int(count) for count in np.bincount(places, minlength=BINS + 1)]


def within(values: NDArray[np.float64]) -> float:
    """The share of differences of less than 5 %, in %."""
    return 100 * float((values < BIN).mean())


def comparisons(
    rows: Sequence[Mapping[str, Any]], scale: Scale, *, noise: Noise = DSD.noise, own_units: bool = False
) -> dict[str, list[Table]]:
    """The tables that are compared with each other, by what differs between them; those that are complete."""
    table = partial(distances, rows, scale, noise=noise, own_units=own_units)
    wanted: dict[str, list[Table | None]] = {
        "units": [table(SIDE, unit) for unit in scale.units],
        "sizes": [table(side, scale.unit) for side in scale.sides],
        "stairs": [table(SIDE, min(scale.units), stairs) for stairs in STAIRCASES],
    }
    return {what: [table for table in tables if table is not None] for what, tables in wanted.items()}
