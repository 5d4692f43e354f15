"""The runs of the clustering benchmark: each way to group images, how well groups fit classes, and what it takes."""

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.few_labels import Set, load_set
from seedbed.base.run import MemoryRun
from seedbed.methods.label.embed import SIZE, embed
from seedbed.methods.label.groups import group
from seedbed.methods.label.scan import ScanSettings, scan
from seedbed.methods.label.tune import TuneSettings, tune

SETS = (
    *("corn-weeds", "neu-steel", "plant-seedlings", "coffee-symptom", "tomato-leaf", "rice-insects", "plantdoc"),
    *("cifar10", "cassava", "apple-foliar", "plantvillage", "flowers102", "fruits360", "tiny-imagenet"),
)
FIGURE_11 = "corn-weeds"  # the set here that is most like the paper's weeds in soybean
QUICK, OWN_NUMBER, PLAIN, SCAN, LONG, TUNED, NETWORK = (
    *("quick", "quick, own number", "plain k-means", "scan 25", "scan 200"),
    *("tuned quick", "network scan 25"),  # minutes a set on a GPU; run only when they are named
)
SPEED = "speed"
MANY = 10_000  # images that the quick default is timed on


@dataclass(frozen=True)
class Scale:
    """How large the runs are."""

    sets: tuple[str, ...] = SETS
    images: int = 10**6  # of a set at most
    seeds: tuple[int, ...] = (0, 1, 2)
    methods: tuple[str, ...] = (QUICK, OWN_NUMBER, PLAIN, SCAN, LONG)
    timed: int = MANY  # images that are embedded for the time


def run(job: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """One run: how well the groups fit the classes, and what it took."""
    if job["method"] == SPEED:
        return {**job, **timed(scale)}
    data, embeddings = _embedded(job["set"], scale.images)
    labels = data.labels_train
    began, began_cpu = time.monotonic(), time.process_time()
    with one_thread():
        groups = METHODS[job["method"]](data, embeddings, job["seed"])
    took = {"seconds": time.monotonic() - began, "cpu_seconds": time.process_time() - began_cpu}
    row = {**job, "images": len(labels), "classes": len(data.classes), "groups": int(groups.max()) + 1}
    if job["set"] == FIGURE_11:
        row["confusion"] = matched(labels, groups, len(data.classes)).tolist()
        row["names"] = list(data.classes)
    return {**row, **scores(labels, groups), **{name: round(value, 2) for name, value in took.items()}}


def _scanned(data: Set, embeddings: NDArray[np.float32], seed: int, settings: ScanSettings) -> NDArray[np.int32]:
    with tempfile.TemporaryDirectory() as folder:
        quiet = replace(settings, report_every=10**6, checkpoint_every=10**6)
        work = MemoryRun(Path(folder), seed=seed)
        return scan(data.images_train, embeddings, len(data.classes), quiet, work).groups


def _tuned(data: Set, embeddings: NDArray[np.float32], seed: int) -> NDArray[np.int32]:
    """The quick default on embeddings of a network that was tuned on the images."""
    with tempfile.TemporaryDirectory() as folder:
        settings = TuneSettings(report_every=10**6, checkpoint_every=10**6)
        weights = tune(data.images_train, settings, MemoryRun(Path(folder), seed=seed))
        return group(embed(data.images_train, weights=weights), len(data.classes), seed=seed).groups


def _plain(data: Set, embeddings: NDArray[np.float32], seed: int) -> NDArray[np.int32]:
    """scikit-learn's k-means on the embeddings as they are."""
    found = KMeans(len(data.classes), n_init=4, random_state=seed).fit_predict(embeddings)
    return np.asarray(found, dtype=np.int32)


Method = Callable[[Set, NDArray[np.float32], int], NDArray[np.int32]]
METHODS: Mapping[str, Method] = {
    QUICK: lambda data, embeddings, seed: group(embeddings, len(data.classes), seed=seed).groups,
    OWN_NUMBER: lambda data, embeddings, seed: group(embeddings, seed=seed).groups,
    PLAIN: _plain,
    SCAN: lambda data, embeddings, seed: _scanned(data, embeddings, seed, ScanSettings(epochs=25)),
    LONG: lambda data, embeddings, seed: _scanned(data, embeddings, seed, ScanSettings(epochs=200)),
    TUNED: _tuned,
    NETWORK: lambda data, embeddings, seed: _scanned(
        data, embeddings, seed, ScanSettings(epochs=25, learns="network", learning_rate=1e-4)
    ),
}


def scores(labels: NDArray[np.integer], groups: NDArray[np.integer]) -> dict[str, float]:
    """Clustering accuracy, NMI and ARI."""
    classes = int(labels.max()) + 1
    return {
        "accuracy": float(np.trace(matched(labels, groups, classes)[:, :classes]) / len(labels)),
        "nmi": float(normalized_mutual_info_score(labels, groups)),
        "ari": float(adjusted_rand_score(labels, groups)),
    }


def matched(labels: NDArray[np.integer], groups: NDArray[np.integer], classes: int) -> NDArray[np.int64]:
    """How many images of each class (row) are in the group that fits each class best (column), one to one.

    Groups that no class got follow as further columns.
    """
    count = max(int(groups.max()) + 1, classes)
    table = np.zeros((classes, count), dtype=np.int64)
    np.add.at(table, (labels, groups), 1)
    _, best = linear_sum_assignment(table, maximize=True)
    rest = [number for number in range(count) if number not in best]
    return table[:, [*best, *rest]]


@lru_cache(maxsize=1)
def _embedded(name: str, most: int) -> tuple[Set, NDArray[np.float32]]:
    data = load_set(name, SIZE)
    some = np.sort(np.random.default_rng(0).permutation(len(data.labels_train))[:most])
    data = replace(data, images_train=data.images_train[some], labels_train=data.labels_train[some])
    with one_thread():
        return data, embed(data.images_train)


def timed(scale: Scale) -> dict[str, float]:
    """CPU and wall seconds of the quick default for 10,000 decoded images, with a number of groups of its own.

    On one thread, whose CPU time a busy machine changes least. With fewer images the time of their embedding is scaled
    up, without what it takes to load the network, and the rows that are grouped are theirs again and again, each a
    little off.
    """
    images = _many(scale)
    with one_thread():
        kept: list[NDArray[np.float32]] = []
        start, start_cpu = _seconds(lambda: embed(images[:1]), 3)
        wall, cpu = _seconds(lambda: kept.append(embed(images)), 1 if len(images) == MANY else 3)
        factor = MANY / len(images)
        wall, cpu = start + factor * (wall - start), start_cpu + factor * (cpu - start_cpu)
        rows = np.tile(kept[-1], (-(-MANY // len(images)), 1))[:MANY]
        if factor > 1:
            rows += np.random.default_rng(0).normal(0, 0.005, rows.shape).astype(np.float32)
        grouping, grouping_cpu = _seconds(lambda: group(rows), 1)
    found = {"seconds": wall + grouping, "embedding_cpu_seconds": cpu, "grouping_cpu_seconds": grouping_cpu}
    rounded = {name: round(value, 2) for name, value in found.items()}
    return {"images": len(images), **rounded, "cpu_seconds": round(cpu + grouping_cpu, 2)}


def _seconds(work: Callable[[], object], times: int) -> tuple[float, float]:
    """Wall and CPU seconds of some work, the best of several times."""
    found = []
    for _ in range(times):
        began, began_cpu = time.monotonic(), time.process_time()
        work()
        found.append((time.monotonic() - began, time.process_time() - began_cpu))
    return min(wall for wall, _ in found), min(cpu for _, cpu in found)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """On a busy machine a thread that waits for another burns CPU time and saves none."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)


def _many(scale: Scale) -> NDArray[np.uint8]:
    """As many images as are timed, of as many sets as it takes."""
    parts, held = [], 0
    while held < scale.timed:
        for name in scale.sets:
            images = load_set(name, SIZE).images_train[: scale.timed - held]
            parts.append(images)
            held += len(images)
            if held >= scale.timed:
                break
    return np.concatenate(parts)
