"""How much a table of distances between data sets changes with the size of its units and of its images.

    python -m benchmarks.dsd_robustness [--quick] [--json FILE] [--minutes M] [--only-table]

Figure 7 of the paper: the modified OTDD between ten data sets (train and test pooled) with units of five sizes and
images of three, each row divided by its largest entry; every element of a table is compared with the same element of
every other table. That for the distance that data sets are ranked by, from which the noise of sampling is taken off,
and for the paper's, from which it is not. Beside it, how much the stairs matter (the number of units taken of those
that there are), the same with two large drawn sets, of which several units are taken, and how far a data set is from
another sample of itself. Rows are kept as they are computed; a later call goes on where this one ended.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks import harness
from benchmarks.distance_tables import (
    BIN,
    BINS,
    DRAWN,
    STAIRCASES,
    Scale,
    Table,
    comparisons,
    differences,
    histogram,
    same_order,
    to_its_like,
    within,
)
from benchmarks.few_labels import Rows, available, load_set, machines_of, rows_of
from benchmarks.pictures import picture
from seedbed.assets.data.synthetic import draw_leaves
from seedbed.methods.similarity.dsd import unit_distances
from seedbed.methods.similarity.features import SIDE, pixel_features, pixel_space
from seedbed.methods.similarity.noise import sampling_noise
from seedbed.methods.similarity.otdd import DSD, Noise
from seedbed.methods.similarity.signature import Signature, signature_of
from seedbed.methods.similarity.units import UnitSettings

TITLE = "How little a table of distances depends on the size of units and images"
PAPER = {  # differences in bins of 5 %, where the paper gives them, and their number
    "units": "93.6 within 5, 0.6 in 15 to 20, none above; 1000",
    "sizes": "72.3 within 5, 1.0 in 20 to 25, none above; 300",
}
WANTED: Mapping[str, float] = {"units": 95.0, "sizes": 85.0}  # % of elements within 5 %, at least
_KINDS: Mapping[str, Noise] = {"": DSD.noise, "paper_": "kept"}  # by what the names of their figures begin with
_PIXELS = 96
QUICK = Scale(
    sets=("coffee-symptom", "neu-steel", "rice-insects", "cifar10"),
    units=(200, 400),
    unit=400,
    images=400,
    leaves=134,
)


def jobs_of(scale: Scale) -> Iterator[dict[str, Any]]:
    """The rows of all tables, the default table first; per set one of distances, and one of the noise of one unit."""
    tables = [
        (SIDE, scale.unit),
        *((SIDE, unit) for unit in scale.units),
        *((side, scale.unit) for side in scale.sides),
    ]
    for side, unit in dict.fromkeys(tables):
        for name in scale.names:
            for what in ("set", "noise_of"):
                yield {"side": side, "unit": unit, what: name, "images": scale.images, "leaves": scale.leaves}


def run(job: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """The distances of a set's units to those of every set from it on, itself included; or the noise of its first."""
    began = time.monotonic()
    if name := job.get("noise_of"):
        alone = _signature(name, job["side"], job["unit"], scale).units[:1]
        return {**job, "noise": round(sampling_noise(alone, DSD.distance), 5), "seconds": _since(began)}
    names = scale.names[scale.names.index(job["set"]) :]
    ours, *_ = found = [_signature(name, job["side"], job["unit"], scale) for name in names]
    distances = {theirs.name: unit_distances(ours, theirs) for theirs in found}
    rounded = {name: [[round(value, 5) for value in row] for row in rows] for name, rows in distances.items()}
    counts = {signature.name: signature.count for signature in found}
    return {**job, "distances": rounded, "counts": counts, "seconds": _since(began)}


def _since(began: float) -> float:
    return round(time.monotonic() - began, 2)


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


def _is_needed(job: Mapping[str, Any], rows: Rows, scale: Scale) -> bool:
    """All but the noise of one unit where every staircase takes several: that is read off the set's own distances."""
    if "set" in job or job["unit"] == min(scale.units):
        return True
    name = job["noise_of"]
    own = {"set" if key == "noise_of" else key: value for key, value in job.items()}
    return any(len(row["distances"][name]) == 1 for row in rows.find(own))


def fill(rows: Rows, scale: Scale, *, minutes: float) -> None:
    """Compute the rows that are not there, until the time is over."""
    until = time.monotonic() + 60 * minutes
    for job in jobs_of(scale):
        if time.monotonic() > until:
            return
        if _is_needed(job, rows, scale) and not rows.done(job):
            row = run(job, scale)
            rows.append(row)
            what = job.get("set") or f"noise of {job['noise_of']}"
            print(f"{job['side']} px, units of {job['unit']}, {what}: {row['seconds']} s", file=sys.stderr)


def lines(rows: Sequence[Mapping[str, Any]], scale: Scale) -> list[dict[str, Any]]:
    """A line per comparison: of the real sets, and with the drawn ones."""
    named = {"units": scale.units, "sizes": scale.sides, "stairs": tuple(STAIRCASES)}
    plain, own = (comparisons(rows, scale, noise="kept", own_units=own_units) for own_units in (False, True))
    found = []
    for what, tables in comparisons(rows, scale).items():
        if len(tables) < 2 or len(tables) < len(plain[what]):
            continue
        label = f"{what} {', '.join(map(str, named[what]))}"
        counts = {len(scale.sets): ("", PAPER.get(what, ""))}
        if scale.drawn:
            counts[len(scale.names)] = (f", and {len(scale.drawn)} large drawn sets", "")
        for count, (extra, paper) in counts.items():
            parts = [[table[:count, :count] for table in each] for each in (tables, plain[what], own[what])]
            found.append({"tables": label + extra, **_line(*parts), "paper": paper})
    return found


def _line(tables: Sequence[Table], plain: Sequence[Table], own_units: Sequence[Table]) -> dict[str, Any]:
    values, noisy = differences(tables), differences(plain)
    off = np.tile(~np.eye(len(tables[0]), dtype=bool).ravel(), len(values) // tables[0].size)
    return {
        **dict(zip(_bin_names(), histogram(values), strict=True)),
        "within 5 %": f"{within(values):.1f}",
        "off the diagonal": f"{within(values[off]):.1f}",
        "largest %": f"{values.max():.1f}",
        "noise kept: within 5 %": f"{within(noisy):.1f}",
        "noise kept: off the diagonal": f"{within(noisy[off]):.1f}",
        "noise kept: own units": f"{within(differences(own_units)):.1f}",
        "noise kept: largest %": f"{noisy.max():.1f}",
    }


def _bin_names() -> list[str]:
    edges = [int(BIN * place) for place in range(BINS + 1)]
    return [*(f"{low}-{high} %" for low, high in pairwise(edges)), f"above {edges[-1]} %"]


def figures(rows: Sequence[Mapping[str, Any]], scale: Scale) -> dict[str, float]:
    """The shares within 5 % of the real sets' tables and what a set's own like is at, then both with noise kept."""
    real = len(scale.sets)
    found: dict[str, float | None] = {}
    for prefix, noise in _KINDS.items():
        for what, tables in comparisons(rows, scale, noise=noise).items():
            if len(tables) > 1:
                share = within(differences([table[:real, :real] for table in tables]))
                found[f"{prefix}{what}_within_5_pct"] = share
        found[f"{prefix}another_sample_pct"] = to_its_like(rows, scale, noise=noise)
    found["same_order_rho"] = same_order(rows, scale)
    return {name: value for name, value in found.items() if value is not None}


def in_words(shown: Mapping[str, float]) -> str:
    """Whether so many elements are within 5 % as are wanted, by the distance of rankings and by the paper's."""
    told = ""
    for (what, least), of in zip(WANTED.items(), ("units", "images"), strict=True):
        name = f"{what}_within_5_pct"
        if {name, f"paper_{name}"} <= shown.keys():
            shares = (shown[name], shown[f"paper_{name}"])
            ours, paper = (f"{share:.1f} % ({'met' if share >= least else 'missed'})" for share in shares)
            told += (
                f"Wanted are at least {least:g} % of elements within 5 % over sizes of {of}: the distance that data "
                f"sets are ranked by has {ours}, the paper's {paper}. "
            )
    return told


def drawing(rows: Sequence[Mapping[str, Any]], scale: Scale) -> Figure:
    """Figure 7: a histogram each for units and for image sizes, without noise and with it."""
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    for axes, what in zip(figure.subplots(1, 2), ("units", "sizes"), strict=True):
        shares = []
        for place, noise in enumerate(_KINDS.values()):
            tables = comparisons(rows, scale, noise=noise)[what]
            values = differences([table[: len(scale.sets), : len(scale.sets)] for table in tables])
            places = np.arange(BINS + 1) + 0.4 * place - 0.2
            axes.bar(places, histogram(values), 0.4, color=("#2f6b3a", "#b9b9b9")[place], label=f"noise {noise}")
            shares.append(f"{within(values):.1f} %")
        axes.set(title=f"{what}: {shares[0]} within 5 % ({shares[1]} with noise)", ylabel="elements")
        axes.title.set_fontsize(9)
        axes.set_xticks(range(BINS + 1), _bin_names(), rotation=30)
        axes.legend(frameon=False)
    return figure


def measure(scale: Scale, rows: Rows, *, real: bool, minutes: float, quick: bool = False) -> harness.Report:
    """Compute what is missing as far as time allows, and report what there is."""
    fill(rows, scale, minutes=minutes)
    found = [row for row in rows if (row["images"], row["leaves"]) == (scale.images, scale.leaves)]
    shown = figures(found, scale)
    note = (
        "Elements of tables whose rows were divided by their largest entry; differences are over the mean of the two. "
        "The diagonal counts, as in the paper: a data set is at 0 from itself, however many units it has. "
        "'noise kept' is the paper's distance, from which the noise of sampling is not taken off; 'own units' what is "
        "within 5 % where a set is compared with itself unit by unit instead. another_sample_pct: how far two units of "
        "a set are from two others of it, in % of its mean distance to other sets; same_order_rho: Spearman's, of sets "
        "by their distance to one, with noise and without. "
    )
    if real:
        note += in_words(shown)
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
