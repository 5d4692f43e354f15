"""How long a distance between two data sets takes, and how right it is.

    python -m benchmarks.otdd [--quick] [--json FILE]

The inputs of a recorded run of OTDD's reference implementation, 2,000 images each: value, seconds and memory beside the
recorded ones, and beside POT's network simplex on the same ground cost, computed apart from our code in double
precision, in the same run. The paper's definition, which the service ranks by, has rows of its own, with POT alone
beside it. Signatures are made before, once for each data set, and timed apart. Then a 10 x 10 matrix
of real data sets, and how the time grows. `--quick` times a few pairs of the matrix and scales, and leaves memory out.
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import ot  # type: ignore[import-untyped]
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from benchmarks import harness
from benchmarks.few_labels import SYNTHETIC, available, load_set
from benchmarks.otdd_inputs import RGB, ready, recorded, timed, unit_of
from benchmarks.pictures import lines, picture
from seedbed.methods.similarity.dsd import distance_matrix, rank
from seedbed.methods.similarity.features import pixel_features, pixel_space
from seedbed.methods.similarity.otdd import DSD, Definition, LabelDistance, Otdd
from seedbed.methods.similarity.signature import Signature, signature_of
from seedbed.methods.similarity.transport import exact
from seedbed.methods.similarity.units import Unit

TITLE = "The distance between two labelled data sets: seconds, and error against an exact solution"
SETS = (
    *("plant-seedlings", "plantdoc", "neu-steel", "cifar10", "coffee-symptom"),
    *("rice-insects", "tomato-leaf", "plantvillage", "cassava", "corn-weeds"),
)
_MATRIX = 10
GROWTH = {
    "images": (250, 500, 1000, 2000, 4000),
    "classes": (1, 2, 5, 10, 20, 50, 100),
    "dimensions": (48, 192, 768, 2352, 9408),
}
QUICK_GROWTH = {"images": (250, 500, 1000), "classes": (2, 10, 50), "dimensions": (192, 768, 2352)}


class Recorded(NamedTuple):
    """What the reference gave; where several were recorded, in float32."""

    value: float
    cpu_seconds: float
    peak_mb: int


RECORDED: dict[tuple[str, str], dict[LabelDistance, Recorded]] = {
    ("digits_28_1797", "cifar10g_28_2000"): {
        "gaussian": Recorded(117.966, 19.0, 800),
        "exact": Recorded(123.920, 4.9, 650),
    },
    ("fruit10g_28_2000", "cifar10g_28_2000"): {
        "gaussian": Recorded(106.906, 21.6, 752),
        "exact": Recorded(109.054, 5.0, 602),
    },
    ("digits_28_1797", "fruit10g_28_2000"): {"exact": Recorded(275.075, 3.9, 636)},
    RGB: {"gaussian": Recorded(355.787, 537.0, 1556), "exact": Recorded(361.094, 7.5, 717)},
}
PAPER = (
    "The paper's table II, seconds per pair of data sets (several pairs of units each) on 16 cores: "
    "14 / 28 / 56 px 192 / 235 / 269; units of 1000 / 1500 / 2000 / 2500 images 195 / 205 / 235 / 237."
)
_CHILD = """
import sys
from benchmarks.otdd import Otdd, most_memory
from benchmarks.otdd_inputs import reference
print(most_memory())
a, b = (reference(name).units[0] for name in sys.argv[1:3])
Otdd("reference", sys.argv[3]).distance(a, b)
print(most_memory())
"""


def exactly(ours: Unit, theirs: Unit, labels: LabelDistance) -> dict[Definition, tuple[float, float]]:
    """Of both definitions the value by POT in double precision from a ground cost computed plainly, and its seconds."""
    a, b = (unit.features.astype(np.float64) / 255 for unit in (ours, theirs))
    squared = _squares(a, b)
    between = np.zeros_like(squared)
    for row in ours.spans:
        for column in theirs.spans:
            between[row, column] = _classes(a[row], b[column], squared[row, column], labels)
    total = squared + between
    return {"reference": _moved(total / 2), "paper": _moved(np.sqrt(total))}


def _moved(cost: NDArray[np.float64]) -> tuple[float, float]:
    start = time.perf_counter()
    value = _emd(cost)
    return value, time.perf_counter() - start


def _classes(a: NDArray[np.float64], b: NDArray[np.float64], squared: NDArray[np.float64], labels: str) -> float:
    if labels == "exact":
        return _emd(squared)
    centred = [(part - part.mean(0)) / np.sqrt(len(part) - 1) for part in (a, b)]
    middle = np.linalg.svd(centred[0] @ centred[1].T, compute_uv=False).sum()
    spread = sum(float((part * part).sum()) for part in centred)
    return float(((a.mean(0) - b.mean(0)) ** 2).sum() + spread - 2 * middle)


def _squares(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.maximum((a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T, 0))


def _emd(cost: NDArray[np.float64]) -> float:
    return float(ot.emd2(*(np.full(count, 1 / count) for count in cost.shape), cost, numItermax=10**7))


def pairs(*, quick: bool) -> Iterator[dict[str, Any]]:
    """A row per recorded pair, label distance and definition; quick ones leave out the grey pairs."""
    for one, two in compared(quick=quick):
        start = time.perf_counter()
        units = ready(unit_of(one)), ready(unit_of(two))
        making = time.perf_counter() - start
        for labels, before in RECORDED[one, two].items():
            for definition, wanted in exactly(*units, labels).items():
                known = before if definition == "reference" else None
                row = _row((one, two), Otdd(definition, labels), units, wanted, known, quick=quick)
                yield row | {"s of both signatures": making}


def compared(*, quick: bool) -> list[tuple[str, str]]:
    """The recorded pairs of a run."""
    return [pair for pair in RECORDED if not quick or pair in (RGB, ("digits_28_1797", "cifar10g_28_2000"))]


def _row(
    names: tuple[str, str],
    how: Otdd,
    units: tuple[Unit, Unit],
    wanted: tuple[float, float],
    recorded: Recorded | None,
    *,
    quick: bool,
) -> dict[str, Any]:
    mine = timed(lambda: how.distance(*units), 5 if not quick else 3 if recorded else 1)
    shortened = quick and (how.labels == "exact" or recorded is None)
    solved, plainly = ("", "") if shortened else solver_seconds(units, how)
    libraries, most = ("", "") if quick or recorded is None else peak(names, how.labels)
    return {
        "pair": _pair(names),
        "label distances": how.labels,
        "definition": how.definition,
        "value": mine.value,
        "POT, exact": wanted[0],
        "error %": 100 * abs(mine.value / wanted[0] - 1),
        "recorded": recorded.value if recorded else "",
        "seconds": mine.seconds,
        "CPU s": mine.cpu,
        "s of our transport alone": solved,
        "s of it without prices": plainly,
        "s of POT's transport alone": wanted[1],
        "recorded CPU s": recorded.cpu_seconds if recorded else "",
        "peak MB": most,
        "of it libraries": libraries,
        "recorded peak MB": recorded.peak_mb if recorded else "",
    }


def solver_seconds(units: tuple[Unit, Unit], how: Otdd) -> tuple[float, float]:
    """Seconds of the exact solver alone: as it is, with prices taken off the cost first, and on the cost as it is."""
    cost = how.cost(*units)
    plain = cost.double().numpy()

    def without() -> float:
        if plain.shape[0] != plain.shape[1]:
            return _emd(plain)
        return float(plain[linear_sum_assignment(plain)].mean())

    ours, theirs = timed(lambda: exact(cost), 3), timed(without, 1)
    if abs(ours.value / theirs.value - 1) > 1e-4:
        raise RuntimeError(f"Prices changed the value from {theirs.value} to {ours.value}.")
    return ours.seconds, theirs.seconds


def _pair(names: tuple[str, str]) -> str:
    return " / ".join(name.partition("_")[0] for name in names)


def peak(names: tuple[str, str], labels: str) -> tuple[int, int]:
    """The most memory that a process of its own held, in MB: with its libraries alone, and for one distance."""
    printed = subprocess.run(
        [sys.executable, "-c", _CHILD, *names, labels], check=True, capture_output=True, text=True, cwd=_root()
    )
    libraries, most = (int(line) for line in printed.stdout.split())
    return libraries, most


def most_memory() -> int:
    """The most that this process held so far, in MB (Linux); getrusage would count what its parent held."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def _root() -> Path:
    return Path(__file__).parents[1]


def signatures(names: Sequence[str]) -> list[Signature]:
    """The signatures of data sets, train and test pooled, at 28 px."""
    found = []
    for name in names:
        kept = load_set(name, 28)
        images = np.concatenate([kept.images_train, kept.images_test])
        labels = np.concatenate([kept.labels_train, kept.labels_test])
        found.append(signature_of(pixel_features(images), labels, kept.classes, name=name, space=pixel_space()))
        found[-1].noise(DSD)  # is kept with it
    return found


def matrix(sets: Sequence[Signature]) -> tuple[float, str]:
    """Seconds for all pairs of ten data sets, and how they were found."""
    start = time.perf_counter()
    distance_matrix(sets)
    seconds = time.perf_counter() - start
    pairs = len(sets) * (len(sets) + 1) // 2
    if len(sets) == _MATRIX:
        return seconds, f"The matrix of ten data sets: its 55 pairs took {seconds:.0f} s."
    return seconds * 55 / pairs, f"The matrix of ten data sets: {seconds:.1f} s for {pairs} of 55 pairs, scaled."


def ranking(sets: Sequence[Signature]) -> tuple[float, str]:
    """Seconds to rank a zoo of 1,000 data sets for a new one, all in memory; the same few stand for them many times."""
    target, *others = sets
    zoo = [replace(others[number % len(others)], name=str(number)) for number in range(1000)]
    start = time.perf_counter()
    rank(target, zoo, others[0])
    seconds = time.perf_counter() - start
    return seconds, f"A new data set was ranked against 1,000 in {seconds:.1f} s, the nearest 12 of them in full."


def growth(sizes: Mapping[str, Sequence[int]], usual: Mapping[str, int]) -> dict[str, list[tuple[int, float]]]:
    """CPU seconds by number of images, of classes and of dimensions, the others being as usual."""
    return {axis: [(value, _grown(**{**usual, axis: value})) for value in values] for axis, values in sizes.items()}


def _grown(images: int, classes: int, dimensions: int) -> float:
    units = [_made_up(images, classes, dimensions, seed) for seed in (0, 1)]
    return timed(lambda: Otdd().distance(*units), 1).cpu


def _made_up(images: int, classes: int, dimensions: int, seed: int) -> Unit:
    """Points whose spread falls off as that of photographs does."""
    random = np.random.default_rng(seed)
    labels = np.sort(np.arange(images) % classes)
    falling = 1 / np.sqrt(1 + np.arange(dimensions))
    centres = random.normal(size=(classes, dimensions)) * falling
    points = centres[labels] + random.normal(size=(images, dimensions)) * falling
    return Unit(points.astype(np.float16), labels)


def measure(quick: bool) -> harness.Report:
    """Measure and report."""
    rows = list(pairs(quick=quick))
    names = available(SETS)[: 3 if quick else _MATRIX]
    sets = signatures(names if len(names) > 1 else [SYNTHETIC, SYNTHETIC])
    seconds, how = matrix(sets)
    grown = (
        growth(QUICK_GROWTH, {"images": 500, "classes": 10, "dimensions": 768})
        if quick
        else growth(GROWTH, {"images": 2000, "classes": 10, "dimensions": 2352})
    )
    if not quick:
        picture("otdd_growth", lines(grown, "CPU seconds"))
    ranked, how_ranked = ranking(sets)
    by = {(row["label distances"], row["definition"]): row for row in rows if row["pair"] == _pair(RGB)}
    figures = {
        "rgb_gaussian_seconds": by["gaussian", "reference"]["seconds"],
        "rgb_exact_seconds": by["exact", "reference"]["seconds"],
        "rgb_paper_seconds": by["gaussian", "paper"]["seconds"],
        "max_value_error_pct": max(row["error %"] for row in rows),
        "matrix_10x10_seconds": seconds,
        "rank_1000_seconds": ranked,
    }
    said = "; ".join(
        f"{axis} {', '.join(f'{value}: {cpu:.2f}' for value, cpu in points)}" for axis, points in grown.items()
    )
    note = f"{how} {how_ranked}\n\nCPU seconds of one distance by {said}. Drawn in pictures/otdd_growth.svg.\n\n{PAPER}"
    real = recorded(chain(*compared(quick=quick))) and len(names) > 1
    return harness.Report(figures, rows, data="real" if real else "synthetic", wants_real=True, note=note)


if __name__ == "__main__":
    harness.main("otdd", TITLE, measure)
