"""Training from other data sets' weights: the runs that dsd_correlation, mtaas and dsd_architecture rest on.

    python -m benchmarks.transfers [--minutes M] [--workers N] [--architectures NAME,...]

A run is one network on two thirds of a data set's images (train and test pooled), judged on the last third after every
epoch, from ImageNet's weights, from those that were trained on another data set, or from scratch. What a run from
ImageNet's weights ends with is what the runs on other data sets start from. The rate is constant, so that an accuracy
is reached when it is reached and not when a schedule ends, and a run ends when nothing got better for a while: the
paper's patience, applied afterwards, looks no further. Rows are kept as runs finish; a later call goes on.

A GPU is wanted: some 300 runs of a few seconds. Each row has the whole curve, how well the start's features tell the
classes apart before training, and from ImageNet's weights what the network said of each image of the last third.
"""

import argparse
import gc
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor

from benchmarks.few_labels import Rows, load_set, rows_of
from seedbed.assets.data.synthetic import draw_leaves
from seedbed.assets.zoo.builder import Backbone, build_backbone
from seedbed.methods.learn.algorithm import make_algorithm
from seedbed.methods.learn.devices import choose_device
from seedbed.methods.learn.feed import Feed
from seedbed.methods.learn.group import ALONE
from seedbed.methods.learn.learner import Learner
from seedbed.methods.learn.pool import Parts, Pool
from seedbed.methods.learn.settings import Strength, TrainSettings
from seedbed.methods.learn.task import Task
from seedbed.methods.similarity.scores import transfer_scores

SETS = (
    *("plant-seedlings", "plantdoc", "neu-steel", "cifar10"),
    *("coffee-symptom", "rice-insects", "tomato-leaf", "plantvillage"),
)
FEW_SETS = ("plant-seedlings", "plantdoc", "tomato-leaf", "plantvillage")  # on which the larger networks are run too
IMAGENET, SCRATCH = "imagenet", "scratch"
LITE0, LITE1, LITE2 = (f"efficientnet_lite{number}" for number in range(3))
FOLDS = 3
DRAWN = "drawn-"  # then the numbers of some classes of the drawn leaves, for machines without real data
_TURN = 15.0  # degrees to either side, the same for every set
_SCORED = (
    1000  # images that a start's features are looked at with: as many as a ranking looks at (similarity/starts.py)
)


@dataclass(frozen=True)
class Scale:
    """Which runs there are, and how large they are."""

    sets: tuple[str, ...] = SETS
    few_sets: tuple[str, ...] = FEW_SETS
    architectures: tuple[str, ...] = (LITE0, LITE1, LITE2)
    widest: str = LITE0  # the network that is run on all sets, and from scratch too; the others on the few
    folds: int = FOLDS  # that are run, of three
    size: int = 96
    batch: int = 64
    rate: float = 2e-4
    scratch_rate: float = 1e-3
    epochs: int = 40
    scratch_epochs: int = 60
    patience: int = 6  # epochs without a better one; more than the paper's 5, which is applied to the curve
    images: int = 10**6  # at most, of a set


@dataclass(frozen=True)
class Pooled:
    """A data set, train and test together."""

    name: str
    images: NDArray[np.uint8]
    labels: NDArray[np.int64]
    classes: tuple[str, ...]

    def parts(self, fold: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What a fold learns from and what it is judged by: two thirds and one third of each class."""
        places = np.zeros(len(self.labels), dtype=np.int64)
        for kind in range(len(self.classes)):
            rows = np.flatnonzero(self.labels == kind)
            places[np.random.default_rng([0, kind]).permutation(rows)] = np.arange(len(rows)) % FOLDS
        return np.flatnonzero(places != fold), np.flatnonzero(places == fold)


@dataclass(frozen=True)
class Ended:
    """What a run came to: accuracy by epoch, the start's scores, the best network and what it says of the judges."""

    curve: tuple[float, ...]
    scores: Mapping[str, float]
    weights: Mapping[str, Tensor]
    said: NDArray[np.int64]


@lru_cache(maxsize=16)
def pooled(name: str, size: int, most: int) -> Pooled:
    """A real set, or a drawn one."""
    if name.startswith(DRAWN):
        return _drawn(name, size, most)
    data = load_set(name, size)
    images = np.concatenate([data.images_train, data.images_test])
    labels = np.concatenate([data.labels_train, data.labels_test])
    kept = np.sort(np.random.default_rng(0).permutation(len(labels))[:most])
    return Pooled(name, images[kept], labels[kept], data.classes)


def _drawn(name: str, size: int, most: int) -> Pooled:
    kinds = [int(digit) for digit in name.removeprefix(DRAWN)]
    images, labels, classes = draw_leaves(-(-most // len(kinds)), seed=31, size=size)
    chosen = np.isin(labels, kinds)
    return Pooled(name, images[chosen], np.searchsorted(kinds, labels[chosen]), tuple(classes[kind] for kind in kinds))


def train_run(data: Pooled, fold: int, start: str | Mapping[str, Tensor], architecture: str, scale: Scale) -> Ended:
    """One run, from "imagenet", "scratch" or the weights of another run."""
    torch.backends.cudnn.benchmark = False  # to look for the fastest kernels takes longer than a run
    device = choose_device()
    learning, judging = (torch.from_numpy(part) for part in data.parts(fold))
    scratch = start == SCRATCH
    learner = Learner(
        _backbone(start, architecture, len(data.classes), scale),
        make_algorithm("supervised", Task(len(data.classes), len(data.labels), device), {}),
        torch.from_numpy(data.labels),
        TrainSettings(
            classes=data.classes,
            size=scale.size,
            batch_norm="learn" if scratch else "frozen",
            augment=Strength(turn=_TURN),
            warmup=0.0,
        ),
        steps=10**9,  # of a schedule that never ends
        rate=scale.scratch_rate if scratch else scale.rate,
        seed=fold,
        device=device,
        group=ALONE,
    )
    pool = Pool(data.images, scale.size, device)
    pool.settle()
    parts = Parts(learning, learning[:0], judging)
    feed = Feed(pool, parts, labelled=scale.batch, unlabelled=0, seed=fold, device=device, group=ALONE)
    scores = _scores(learner, pool, data, learning)
    curve, weights, said = _followed(
        learner,
        feed,
        pool.take(judging),
        torch.from_numpy(data.labels)[judging].to(device),
        epochs=scale.scratch_epochs if scratch else scale.epochs,
        patience=scale.patience,
        steps=max(1, len(learning) // feed.labelled),
    )
    return Ended(curve, scores, weights, said.cpu().numpy())


def _backbone(start: str | Mapping[str, Tensor], architecture: str, classes: int, scale: Scale) -> Backbone:
    if start == SCRATCH:
        return build_backbone(architecture, classes, weights="none", size=scale.size)
    backbone = build_backbone(f"{architecture}.imagenet", classes, size=scale.size)
    if not isinstance(start, str):
        backbone.network.load_state_dict({**backbone.network.state_dict(), **start})
    return backbone


def _scores(learner: Learner, pool: Pool, data: Pooled, learning: Tensor) -> dict[str, float]:
    """How well the start's features tell the classes apart, on some of the images that are learnt from."""
    rows = np.sort(np.random.default_rng(0).permutation(learning.numpy())[:_SCORED])
    features = learner.features(pool.take(torch.from_numpy(rows))).float()
    unit = (features / features.norm(dim=1, keepdim=True).clamp_min(1e-12)).cpu().numpy()
    return {name: round(score, 5) for name, score in transfer_scores(unit, data.labels[rows]).items()}


def _followed(
    learner: Learner, feed: Feed, pixels: Tensor, truth: Tensor, *, epochs: int, patience: int, steps: int
) -> tuple[tuple[float, ...], dict[str, Tensor], Tensor]:
    """Epoch by epoch until nothing got better for a while: the curve, the best weights and what they say."""
    curve: list[float] = []
    weights: dict[str, Tensor] = {}
    best = said = learner.answer(pixels).argmax(dim=1)
    while len(curve) < epochs and len(curve) - _best(curve) <= patience:
        for step in range(len(curve) * steps, (len(curve) + 1) * steps):
            learner.advance(feed.at(step), step)
        said = learner.answer(pixels).argmax(dim=1)
        curve.append(round(float((said == truth).float().mean()), 5))
        if _best(curve) == len(curve) - 1:
            best, weights = said, _weights(learner)
    return tuple(curve), weights, best


def _best(curve: Sequence[float]) -> int:
    return max(range(len(curve)), key=curve.__getitem__, default=0)


def _weights(learner: Learner) -> dict[str, Tensor]:
    """The averaged network's weights but for its head, which is of this data set's classes."""
    network: Any = learner.average.network
    head = f"{network.default_cfg['classifier']}."
    return {name: value.clone() for name, value in network.state_dict().items() if not name.startswith(head)}


def groups_of(scale: Scale) -> Iterator[list[dict[str, Any]]]:
    """Runs that need one data set's weights, which the first of them makes; what matters most first."""
    for architecture in scale.architectures:
        first = architecture == scale.widest
        for fold in range(scale.folds):
            for source in scale.sets:
                others = (scale.sets if first else scale.few_sets) if first or source in scale.few_sets else ()
                starts = [(source, IMAGENET), *((target, source) for target in others if target != source)]
                yield [_job(architecture, target, fold, start, scale) for target, start in starts]
        for fold in range(scale.folds if first else 0):
            yield from ([_job(architecture, target, fold, SCRATCH, scale)] for target in scale.sets)


def planned(scale: Scale, architecture: str) -> set[tuple[str, str, int]]:
    """The runs of a network that there are to be, as (target, start, fold)."""
    jobs = (job for group in groups_of(scale) for job in group if job["architecture"] == architecture)
    return {(job["target"], job["start"], job["fold"]) for job in jobs}


def _job(architecture: str, target: str, fold: int, start: str, scale: Scale) -> dict[str, Any]:
    return {"architecture": architecture, "target": target, "fold": fold, "start": start, "size": scale.size}


def run_group(jobs: Sequence[Mapping[str, Any]], scale: Scale, folder: Path, until: float) -> list[dict[str, Any]]:
    """The rows of some runs that start from one data set's weights; none is begun after that time."""
    rows = []
    for job in jobs:
        if time.time() > until:
            break
        rows.append(run(job, scale, folder))
    return rows


def run(job: Mapping[str, Any], scale: Scale, folder: Path) -> dict[str, Any]:
    """One run's row; the weights that runs from ImageNet's end with are kept in the folder."""
    began = time.monotonic()
    data = pooled(job["target"], scale.size, scale.images)
    start = job["start"] if job["start"] in (IMAGENET, SCRATCH) else _source(job, scale, folder)
    ended = train_run(data, job["fold"], start, job["architecture"], scale)
    learning, judging = data.parts(job["fold"])
    row = {
        **job,
        "curve": list(ended.curve),
        "scores": dict(ended.scores),
        "images": len(learning),
        "judges": len(judging),
        "rate": scale.scratch_rate if start == SCRATCH else scale.rate,
        "seconds": round(time.monotonic() - began, 2),
    }
    if start == IMAGENET:
        _keep(ended.weights, _file(job["architecture"], job["target"], job["fold"], folder))
        row["said"] = ended.said.tolist()
    gc.collect()  # recordings of a GPU's steps hold its memory
    return row


def _source(job: Mapping[str, Any], scale: Scale, folder: Path) -> dict[str, Tensor]:
    """The weights of the data set that a run starts from; trained again where an earlier call did not leave them."""
    path = _file(job["architecture"], job["start"], job["fold"], folder)
    if not path.exists():
        data = pooled(job["start"], scale.size, scale.images)
        _keep(train_run(data, job["fold"], IMAGENET, job["architecture"], scale).weights, path)
    return load_file(path)


def _keep(weights: Mapping[str, Tensor], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    save_file({name: value.cpu().contiguous() for name, value in weights.items()}, draft)
    draft.rename(path)


def _file(architecture: str, name: str, fold: int, folder: Path) -> Path:
    return folder / f"{architecture}-{name}-{fold}.safetensors"


def fill(rows: Rows, scale: Scale, *, minutes: float, workers: int = 1, folder: Path | None = None) -> None:
    """Do the runs that have no row yet; after so many minutes none is begun."""
    known = {_key(row) for row in rows}
    todo = [left for jobs in groups_of(scale) if (left := [job for job in jobs if _key(job) not in known])]
    until = time.time() + 60 * minutes
    folder = folder or Path(os.environ.get("SEEDBED_BENCH_CACHE") or tempfile.gettempdir()) / "seedbed-starts"
    if workers == 1:
        for jobs in todo:
            for row in run_group(jobs, scale, folder, until):
                _told(rows, row)
        return
    failed = []
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(run_group, jobs, scale, folder, until) for jobs in todo]):
            if error := future.exception():  # the rows of the others are worth keeping
                failed.append(error)
                continue
            for row in future.result():
                _told(rows, row)
    if failed:
        raise failed[0]


def _told(rows: Rows, row: Mapping[str, Any]) -> None:
    rows.append(row)
    where = f"{row['architecture']}, fold {row['fold']}, {row['target']} from {row['start']}"
    print(
        f"{where}: {100 * max(row['curve']):.1f} % after {_best(row['curve']) + 1} epochs, {row['seconds']} s",
        file=sys.stderr,
        flush=True,
    )


def _key(job: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(job[name] for name in ("architecture", "target", "fold", "start", "size"))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transfers", description=__doc__)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--architectures", default=",".join((LITE0, LITE1, LITE2)))
    options = parser.parse_args(arguments)
    scale = Scale(architectures=tuple(options.architectures.split(",")))
    fill(rows_of("transfers"), scale, minutes=options.minutes, workers=options.workers)


if __name__ == "__main__":
    main()
