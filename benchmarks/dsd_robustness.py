"""How much a table of distances between data sets changes with the size of its units and of its images.

    python -m benchmarks.dsd_robustness [--quick] [--json FILE] [--minutes M] [--only-table]

Figure 7 of the paper: the modified OTDD between ten data sets (train and test pooled) with units of five sizes and
images of three, each row divided by its largest entry; every element of a table is compared with the same element of
every other table. Beside it, how much the stairs matter (the number of units taken of those that there are), and the
same with two large drawn sets, of which several units are taken. Rows are kept as they are computed; a later call goes
on where this one ended.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks import harness
from benchmarks.few_labels import Rows, available, load_set, machines_of, rows_of
from benchmarks.pictures import picture
from seedbed.assets.data.synthetic import draw_leaves
from seedbed.methods.similarity.dsd import unit_distances
from seedbed.methods.similarity.features import SIDE, pixel_features, pixel_space
from seedbed.methods.similarity.signature import Signature, signature_of
from seedbed.methods.similarity.units import STAIRS, UnitSettings

TITLE = "How little a table of distances depends on the size of units and images"
SETS = (
    *("apple-foliar", "cassava", "coffee-symptom", "corn-weeds", "flowers102"),
    *("fruits360", "plant-seedlings", "plantdoc", "plantvillage", "tomato-leaf"),
)
DRAWN = ("drawn-1", "drawn-2")  # three classes of the drawn leaves each
PAPER = {  # differences in bins of 5 %, where the paper gives them, and their number
    "units": "93.6 within 5, 0.6 in 15 to 20, none above; 1000",
    "sizes": "72.3 within 5, 1.0 in 20 to 25, none above; 300",
}
BIN, BINS = 5.0, 5  # %; what lies beyond the last but one falls into the last
STAIRCASES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "one unit": ((1, 1),),
    "default": STAIRS,
    "up to 4 units": ((1, 1), (2, 2), (3, 3), (4, 4)),
}
_MOST = STAIRCASES["up to 4 units"]  # with the smallest units all of these are computed, and the others read off
_PIXELS = 96

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


QUICK = Scale(
    sets=("coffee-symptom", "neu-steel", "rice-insects", "cifar10"),
    units=(200, 300, 400, 500, 600),
    unit=400,
    images=600,
    leaves=200,
)


def jobs_of(scale: Scale) -> Iterator[dict[str, Any]]:
    """The rows of all tables, the default table first."""
    tables = [
        (SIDE, scale.unit),
        *((SIDE, unit) for unit in scale.units),
        *((side, scale.unit) for side in scale.sides),
    ]
    for side, unit in dict.fromkeys(tables):
        for name in scale.names:
            yield {"side": side, "unit": unit, "set": name, "images": scale.images, "leaves": scale.leaves}


def run(job: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """The distances of a set's units to those of every set from it on, itself included."""
    names = scale.names[scale.names.index(job["set"]) :]
    began = time.monotonic()
    ours, *_ = found = [_signature(name, job["side"], job["unit"], scale) for name in names]
    distances = {theirs.name: unit_distances(ours, theirs) for theirs in found}
    rounded = {name: [[round(value, 5) for value in row] for row in rows] for name, rows in distances.items()}
    counts = {signature.name: signature.count for signature in found}
    return {**job, "distances": rounded, "counts": counts, "seconds": round(time.monotonic() - began, 2)}


@lru_cache(maxsize=12)
def _signature(name: str, side: int, unit: int, scale: Scale) -> Signature:
    images, labels, classes = _pooled(name, scale)
    settings = UnitSettings(unit, scale.stairs(unit))
    return signature_of(
        pixel_features(images, side), labels, classes, name=name, space=pixel_space(side), settings=settings
    )


@lru_cache(maxsize=12)
def _pooled(name: str, scale: Scale) -> tuple[NDArray[np.uint8], NDArray[np.int64], tuple[str, ...]]:
    """Train and test images together."""
    if name in DRAWN:
        return _drawn(DRAWN.index(name), scale.leaves)
    data = load_set(name, _PIXELS)
    images = np.concatenate([data.images_train, data.images_test])
    labels = np.concatenate([data.labels_train, data.labels_test])
    kept = np.sort(np.random.default_rng(0).permutation(len(labels))[: scale.images])
    return images[kept], labels[kept], data.classes


def _drawn(part: int, count: int) -> tuple[NDArray[np.uint8], NDArray[np.int64], tuple[str, ...]]:
    pictures, labels, classes = _leaves(count)
    chosen = labels // 3 == part
    return pictures[chosen], labels[chosen] - 3 * part, classes[3 * part : 3 * part + 3]


@lru_cache(maxsize=1)
def _leaves(count: int) -> tuple[NDArray[np.uint8], NDArray[np.int64], tuple[str, ...]]:
    return draw_leaves(count, seed=21, size=56)


def fill(rows: Rows, scale: Scale, *, minutes: float) -> None:
    """Compute the rows that are not there, until the time is over."""
    until = time.monotonic() + 60 * minutes
    for job in jobs_of(scale):
        if time.monotonic() > until:
            return
        if not rows.done(job):
            row = run(job, scale)
            rows.append(row)
            print(f"{job['side']} px, units of {job['unit']}, {job['set']}: {row['seconds']} s", file=sys.stderr)


def distances(
    rows: Sequence[Mapping[str, Any]],
    scale: Scale,
    side: int,
    unit: int,
    stairs: str = "default",
    *,
    own_units: bool = False,
) -> Table | None:
    """The table of mean distances between all sets with a staircase, if all of its rows are there.

    A set is at 0 from itself, or at the mean over its `own_units`, each of which is at 0 from itself alone.
    """
    settings = UnitSettings(unit, STAIRCASES[stairs])
    found = {row["set"]: row for row in rows if (row["side"], row["unit"]) == (side, unit)}
    if not all(name in found for name in scale.names):
        return None
    table = np.zeros((len(scale.names), len(scale.names)))
    for i, name in enumerate(scale.names):
        for j, other in enumerate(scale.names[i + (not own_units) :], i + (not own_units)):
            taken = [settings.taken(max(1, found[name]["counts"][each] // unit)) for each in (name, other)]
            block = np.array(found[name]["distances"][other])[: taken[0], : taken[1]]
            table[i, j] = table[j, i] = block.mean()
    return table


def differences(tables: Sequence[Table]) -> NDArray[np.float64]:
    """By how many % each element differs between each two tables whose rows were divided by their largest entry."""
    even = [table / table.max(axis=1, keepdims=True) for table in tables]
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


def comparisons(rows: Sequence[Mapping[str, Any]], scale: Scale, *, own_units: bool = False) -> dict[str, list[Table]]:
    """The tables that are compared with each other, by what differs between them; those that are complete."""
    table = partial(distances, rows, scale, own_units=own_units)
    wanted: dict[str, list[Table | None]] = {
        "units": [table(SIDE, unit) for unit in scale.units],
        "sizes": [table(side, scale.unit) for side in scale.sides],
        "stairs": [table(SIDE, min(scale.units), stairs) for stairs in STAIRCASES],
    }
    return {what: [table for table in tables if table is not None] for what, tables in wanted.items()}


def lines(rows: Sequence[Mapping[str, Any]], scale: Scale) -> list[dict[str, Any]]:
    """A line per comparison: of the real sets, and with the drawn ones."""
    named = {"units": scale.units, "sizes": scale.sides, "stairs": tuple(STAIRCASES)}
    own = comparisons(rows, scale, own_units=True)
    found = []
    for what, tables in comparisons(rows, scale).items():
        if len(tables) < 2:
            continue
        label = f"{what} {', '.join(map(str, named[what]))}"
        counts = {len(scale.sets): ("", PAPER.get(what, ""))}
        if scale.drawn:
            counts[len(scale.names)] = (f", and {len(scale.drawn)} large drawn sets", "")
        for count, (extra, paper) in counts.items():
            parts = [[table[:count, :count] for table in each] for each in (tables, own[what])]
            found.append({"tables": label + extra, **_line(*parts), "paper": paper})
    return found


def _line(tables: Sequence[Table], own_units: Sequence[Table]) -> dict[str, Any]:
    values = differences(tables)
    off = np.tile(~np.eye(len(tables[0]), dtype=bool).ravel(), len(values) // tables[0].size)
    return {
        **dict(zip(_bin_names(), histogram(values), strict=True)),
        "within 5 %": f"{within(values):.1f}",
        "off the diagonal": f"{within(values[off]):.1f}",
        "own units": f"{within(differences(own_units)):.1f}",
        "largest %": f"{values.max():.1f}",
    }


def _bin_names() -> list[str]:
    edges = [int(BIN * place) for place in range(BINS + 1)]
    return [*(f"{low}-{high} %" for low, high in pairwise(edges)), f"above {edges[-1]} %"]


def figures(rows: Sequence[Mapping[str, Any]], scale: Scale) -> dict[str, float]:
    """The shares within 5 % of the real sets' tables."""
    real = len(scale.sets)
    found = {}
    for what, tables in comparisons(rows, scale).items():
        if len(tables) > 1:
            found[f"{what}_within_5_pct"] = within(differences([table[:real, :real] for table in tables]))
    return found


def drawing(rows: Sequence[Mapping[str, Any]], scale: Scale) -> Figure:
    """Figure 7: a histogram each for units and for image sizes."""
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    for axes, what in zip(figure.subplots(1, 2), ("units", "sizes"), strict=True):
        tables = comparisons(rows, scale)[what]
        values = differences([table[: len(scale.sets), : len(scale.sets)] for table in tables])
        axes.bar(_bin_names(), histogram(values), color="#2f6b3a")
        axes.set(title=f"{what}: {within(values):.1f} % within 5 %", ylabel="elements")
        axes.tick_params(axis="x", labelrotation=30)
    return figure


def measure(scale: Scale, rows: Rows, *, real: bool, minutes: float, quick: bool = False) -> harness.Report:
    """Compute what is missing as far as time allows, and report what there is."""
    fill(rows, scale, minutes=minutes)
    found = [row for row in rows if (row["images"], row["leaves"]) == (scale.images, scale.leaves)]
    shown = figures(found, scale)
    note = (
        "Elements of tables whose rows were divided by their largest entry; differences are over the mean of the two. "
        "The diagonal counts, as in the paper: a data set is at 0 from itself, however many units it has. "
        "'own units' is what is within 5 % where a set is compared with itself unit by unit instead. "
    )
    if quick:
        note += f"Quick: {len(scale.sets)} sets of at most {scale.images} images, units of {scale.units}."
    elif {"units_within_5_pct", "sizes_within_5_pct"} <= shown.keys():
        picture("dsd_robustness", drawing(found, scale))
        note += "Drawn in pictures/dsd_robustness.svg."
    return harness.Report(
        figures=shown,
        rows=lines(found, scale),
        data="real" if real else "synthetic",
        wants_real=True,
        note=note,
        origin=machines_of(found) if found else "",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--only-table", action="store_true")
    options, rest = parser.parse_known_args(arguments)

    def measured(quick: bool) -> harness.Report:
        scale = QUICK if quick else Scale()
        real = set(available(scale.sets)) == set(scale.sets)
        if real and not quick:
            minutes = 0.0 if options.only_table else options.minutes
            return measure(scale, rows_of("dsd_robustness"), real=real, minutes=minutes)
        scale = QUICK if real else replace(QUICK, sets=DRAWN, drawn=())
        with tempfile.TemporaryDirectory() as folder:
            return measure(scale, Rows(Path(folder) / "rows.jsonl"), real=real, minutes=10, quick=True)

    harness.main("dsd_robustness", TITLE, measured, rest)


if __name__ == "__main__":
    torch.set_num_threads(2)
    main()
