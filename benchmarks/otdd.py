"""How long a distance between two data sets takes, and how right it is.

    python -m benchmarks.otdd [--quick] [--json FILE]

The inputs of a recorded run of OTDD's reference implementation, 2,000 images each: the value and the seconds beside the
recorded ones, and beside POT's network simplex on the same ground cost, computed apart from our code in double
precision, in the same run. Then a 10 x 10 matrix of real data sets, and how the time grows. `--quick` times a few pairs
of the matrix and scales.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import ot  # type: ignore[import-untyped]
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from benchmarks import harness
from benchmarks.few_labels import SYNTHETIC, available, load_set
from benchmarks.pictures import lines, picture
from seedbed.methods.similarity.dsd import distance_matrix, rank
from seedbed.methods.similarity.features import pixel_features, pixel_space
from seedbed.methods.similarity.otdd import DSD, LabelDistance, Otdd
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
RGB = ("cifar10_28_2000", "fruit10_28_2000")
# What the reference gave: (value, CPU seconds), by pair and label distance; where several were recorded, in float32.
RECORDED: dict[tuple[str, str], dict[str, tuple[float, float]]] = {
    ("digits_28_1797", "cifar10g_28_2000"): {"gaussian": (117.966, 19.0), "exact": (123.920, 4.9)},
    ("fruit10g_28_2000", "cifar10g_28_2000"): {"gaussian": (106.906, 21.6), "exact": (109.054, 5.0)},
    ("digits_28_1797", "fruit10g_28_2000"): {"exact": (275.075, 3.9)},
    RGB: {"gaussian": (355.787, 537.0), "exact": (361.094, 7.5)},
}
PAPER = (
    "The paper's table II, seconds per pair of data sets (several pairs of units each) on 16 cores: "
    "14 / 28 / 56 px 192 / 235 / 269; units of 1000 / 1500 / 2000 / 2500 images 195 / 205 / 235 / 237."
)
_CHILD = """
import resource, sys
from benchmarks.otdd import Otdd, reference
a, b = (reference(name).units[0] for name in sys.argv[1:3])
Otdd("reference", sys.argv[3]).distance(a, b)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@dataclass(frozen=True)
class Timed:
    """A value and the best wall-clock and CPU seconds of several runs."""

    value: float
    seconds: float
    cpu: float


def timed(work: Callable[[], float], times: int = 5) -> Timed:
    """Run it a few times."""
    best = []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        value = work()
        best.append((time.perf_counter() - wall, time.process_time() - cpu))
    return Timed(value, *(min(part) for part in zip(*best, strict=True)))


def reference(name: str) -> Signature:
    """One of the recorded inputs; drawn leaves in two halves where they are not on this machine."""
    folder = harness.real_data()
    path = folder / "otdd-reference" / f"{name}.npz" if folder else None
    if path and path.is_file():
        kept = np.load(path)
        images, labels = kept["X"], kept["Y"].astype(np.int64)
        images = images.reshape(len(images), -1)
    else:
        drawn = load_set(SYNTHETIC, 28)
        half = slice(0, None, 2) if name.startswith("cifar") else slice(1, None, 2)
        images, labels = pixel_features(drawn.images_train[half]), drawn.labels_train[half]
    names = [str(number) for number in range(labels.max() + 1)]
    return signature_of(images, labels, names, name=name, space=f"pixels x {images.shape[1]}")


def exactly(ours: Unit, theirs: Unit, labels: LabelDistance) -> tuple[float, float]:
    """The value by POT in double precision from a ground cost computed plainly, and the seconds of POT alone."""
    a, b = (unit.features.astype(np.float64) / 255 for unit in (ours, theirs))
    squared = _squares(a, b)
    between = np.zeros_like(squared)
    for row in ours.spans:
        for column in theirs.spans:
            between[row, column] = _classes(a[row], b[column], squared[row, column], labels)
    cost = (squared + between) / 2
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
    """A row per recorded pair and label distance; quick ones leave out the grey pairs."""
    for (one, two), recorded in RECORDED.items():
        if quick and (one, two) not in (RGB, ("digits_28_1797", "cifar10g_28_2000")):
            continue
        ours, theirs = (reference(name).units[0] for name in (one, two))
        for labels, (value, seconds) in recorded.items():
            kind: LabelDistance = "exact" if labels == "exact" else "gaussian"
            yield _row((one, two), kind, (ours, theirs), (value, seconds), times=3 if quick else 5)


def _row(
    names: tuple[str, str], labels: LabelDistance, units: tuple[Unit, Unit], recorded: tuple[float, float], times: int
) -> dict[str, Any]:
    for unit in units:  # a signature is made once per data set: it is timed apart
        _ = unit.rows, unit.factors, unit.variances
    mine = timed(lambda: Otdd("reference", labels).distance(*units), times)
    wanted, pot_seconds = exactly(*units, labels)
    paper = timed(lambda: Otdd("paper", labels).distance(*units), 1)
    solved, plainly = solver_seconds(units, labels) if times > 3 or labels == "gaussian" else ("", "")
    return {
        "pair": _pair(names),
        "label distances": labels,
        "value": mine.value,
        "POT, exact": wanted,
        "error %": 100 * abs(mine.value / wanted - 1),
        "recorded": recorded[0],
        "seconds": mine.seconds,
        "CPU s": mine.cpu,
        "s of our transport alone": solved,
        "s of it without prices": plainly,
        "s of POT's transport alone": pot_seconds,
        "recorded CPU s": recorded[1],
        "peak MB": peak(names, labels) if times > 3 and names == RGB else "",
        "paper's definition": paper.value,
    }


def solver_seconds(units: tuple[Unit, Unit], labels: LabelDistance) -> tuple[float, float]:
    """Seconds of the exact solver alone: as it is, with prices taken off the cost first, and on the cost as it is."""
    cost = Otdd("reference", labels).cost(*units)
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


def peak(names: tuple[str, str], labels: str) -> int:
    """The most memory that a process of its own held for one distance, libraries included, in MB."""
    printed = subprocess.run(
        [sys.executable, "-c", _CHILD, *names, labels], check=True, capture_output=True, text=True, cwd=_root()
    )
    return int(printed.stdout) // 1024


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
    by = {row["label distances"]: row for row in rows if row["pair"] == _pair(RGB)}
    figures = {
        "rgb_gaussian_seconds": by["gaussian"]["seconds"],
        "rgb_exact_seconds": by["exact"]["seconds"],
        "max_value_error_pct": max(row["error %"] for row in rows),
        "matrix_10x10_seconds": seconds,
        "rank_1000_seconds": ranked,
    }
    said = "; ".join(
        f"{axis} {', '.join(f'{value}: {cpu:.2f}' for value, cpu in points)}" for axis, points in grown.items()
    )
    note = f"{how} {how_ranked}\n\nCPU seconds of one distance by {said}.\n\n{PAPER}"
    real = bool(harness.real_data())
    return harness.Report(figures, rows, data="real" if real else "synthetic", wants_real=True, note=note)


if __name__ == "__main__":
    harness.main("otdd", TITLE, measure)
