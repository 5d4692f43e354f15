"""The inputs of a recorded run of OTDD's reference implementation, and how distances on them are timed."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import harness
from benchmarks.few_labels import SYNTHETIC, load_set
from seedbed.methods.similarity.features import pixel_features
from seedbed.methods.similarity.signature import Signature, signature_of
from seedbed.methods.similarity.units import Unit

RGB = ("cifar10_28_2000", "fruit10_28_2000")


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


def recorded(names: Iterable[str]) -> bool:
    """Whether all of these recorded inputs lie on this machine, so that no leaves are drawn in their place."""
    return all(_file_of(name) for name in names)


def _file_of(name: str) -> Path | None:
    folder = harness.real_data()
    path = folder / "otdd-reference" / f"{name}.npz" if folder else None
    return path if path and path.is_file() else None


def reference(name: str) -> Signature:
    """One of the recorded inputs; drawn leaves in two halves where they are not on this machine."""
    if path := _file_of(name):
        kept = np.load(path)
        images, labels = kept["X"], kept["Y"].astype(np.int64)
        images = images.reshape(len(images), -1)
    else:
        drawn = load_set(SYNTHETIC, 28)
        half = slice(0, None, 2) if name.startswith("cifar") else slice(1, None, 2)
        images, labels = pixel_features(drawn.images_train[half]), drawn.labels_train[half]
    names = [str(number) for number in range(labels.max() + 1)]
    return signature_of(images, labels, names, name=name, space=f"pixels x {images.shape[1]}")


def unit_of(name: str) -> Unit:
    """The unit of a recorded input."""
    return reference(name).units[0]


def ready(unit: Unit) -> Unit:
    """The unit with all that is found once for a data set, whatever that is compared with."""
    _ = unit.rows, unit.groups, unit.means, unit.variances, unit.factors
    return unit
