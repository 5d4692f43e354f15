"""What the network matters: the four of HARVEST's figure 8 and EfficientNet-Lite0, FreeMatch, 80 labels a class.

    python -m benchmarks.ssl_backbones [--quick] [--json FILE] [--minutes M] [--workers N] [--only-table]

HARVEST starts all its networks from ImageNet weights. Here only EfficientNet-Lite has any, so the others start from
scratch, and every row says what it started from. Rows are kept as runs finish; a later call does what is missing, and
anew what was measured with other settings.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from benchmarks import harness
from benchmarks.few_labels import SYNTHETIC, Rows, Set, available, choose, load_set, machines_of, recipe_of, rows_of
from benchmarks.filling import fill
from seedbed.assets.zoo.catalogue import CARDS
from seedbed.base.run import MemoryRun
from seedbed.methods.learn.predict import predict
from seedbed.methods.learn.settings import ON_A_GPU, Strength, TrainSettings
from seedbed.methods.learn.trainer import train

TITLE = "Networks: test error from 80 labels per class with FreeMatch"
SCRATCH = "scratch"


@dataclass(frozen=True)
class Network:
    """A network as it is trained here, and its error in the paper (%, another data set, from ImageNet weights)."""

    name: str
    size: int
    weights: Literal["pretrained", "none"]
    rate: float
    paper: float | None = None


LITE0 = Network("efficientnet_lite0", 128, "pretrained", ON_A_GPU["learning_rate"])
NETWORKS = (
    LITE0,
    Network("vit_tiny", 32, "none", 5e-4, 10.21),
    Network("resnet50", 96, "none", 1e-3, 16.18),
    Network("vit_small", 32, "none", 5e-4, 8.47),
    Network("vit_base", 96, "none", 3e-4, 6.22),
    Network("efficientnet_lite0", 128, "none", 1e-3),  # what its weights are worth
)


@dataclass(frozen=True)
class Scale:
    """How large the runs are."""

    sets: tuple[str, ...] = ("coffee-symptom", "apple-foliar")  # both have over 200 images of every class
    labels: int = 80
    steps: int = 1200
    labelled: int = 64
    unlabelled: int = 256
    seeds: tuple[int, ...] = (0, 1, 2)
    test: int = 10**6  # images at most
    networks: tuple[Network, ...] = NETWORKS
    augment: Strength = field(default_factory=Strength)


QUICK = Scale(
    ("coffee-symptom",),
    labels=10,
    steps=2,
    labelled=5,
    unlabelled=5,
    seeds=(0,),
    test=40,
    networks=NETWORKS[:2],
    augment=Strength(turn=20.0),  # to find out how far images may be turned takes as long as all the rest
)
FULL = Scale()


def jobs_of(scale: Scale) -> Iterator[dict[str, Any]]:
    """The runs of the table, one seed after another."""
    for seed in scale.seeds:
        for network in scale.networks:
            for name in scale.sets:
                asked = {"network": network.name, "weights": network.weights, "size": network.size}
                asked |= {"set": name, "labels": scale.labels, "steps": scale.steps, "seed": seed}
                yield {**asked, "recipe": recipe_of(settings_of(network, scale))}


class Run(MemoryRun):
    """A run that keeps no checkpoints: nobody goes on with it, and those of a large network are gigabytes."""

    def checkpoint(self, write: Callable[[Path], None], *, step: int) -> None:
        pass


def run(job: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """One run: the error on the test images, what the network started from, and what it took."""
    network = next(one for one in scale.networks if (one.name, one.weights) == (job["network"], job["weights"]))
    data = _loaded(job["set"], network.size)
    labels, marked = choose(data.labels_train, job["labels"], job["seed"])
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        trained = train(
            data.images_train, labels, settings_of(network, scale, data.classes), Run(Path(folder), seed=job["seed"])
        )
    pick = np.random.default_rng(0).permutation(len(data.labels_test))[: scale.test]
    wrong = predict(trained.model, data.images_test[pick]).argmax(axis=1) != data.labels_test[pick]
    facts = trained.model.facts()
    return {
        **job,
        "architecture": facts["architecture"],
        "parameters": facts["parameters"],
        "started_from": facts["started_from"],
        "rate": network.rate,
        "error": float(wrong.mean()),
        "marked": marked,
        "seconds": round(time.monotonic() - began, 2),
    }


def settings_of(network: Network, scale: Scale, classes: tuple[str, ...] = ()) -> TrainSettings:
    """The paper's algorithm, and the same steps and batches for every network; none ends early."""
    return TrainSettings(
        classes=classes,
        algorithm="freematch",
        ema=ON_A_GPU["ema"],
        start=network.name,
        weights=network.weights,
        size=network.size,
        steps=scale.steps,
        learning_rate=network.rate,
        labelled_batch=scale.labelled,
        unlabelled_batch=scale.unlabelled,
        evaluate_every=100,
        report_every=100,
        checkpoint_every=10**9,
        patience=0,
        augment=scale.augment,
    )


@lru_cache(maxsize=8)  # two sets in the sizes of all networks
def _loaded(name: str, size: int) -> Set:
    return load_set(name, size)


def _told(row: Mapping[str, Any]) -> str:
    said = f"{row['network']}, {row['started_from']}, {row['set']}, seed {row['seed']}"
    return f"{said}: error {100 * row['error']:.1f} %, {row['seconds']:.0f} s"


def pretraining(started_from: str) -> str:
    """How a network was pre-trained, in words."""
    if started_from == SCRATCH:
        return "none: from scratch"
    return f"{CARDS.get(started_from).trained_on} ({started_from})" if started_from in CARDS else started_from


def table(rows: Sequence[Mapping[str, Any]], scale: Scale) -> list[dict[str, Any]]:
    """A line per network: how it was pre-trained, its mean error on each set, and the paper's."""
    lines = []
    for network in NETWORKS:
        own = _of(rows, network)
        if not own:
            continue
        cells = {f"{name}, error %": _mean_error(own, name) for name in scale.sets}
        shown = {name: "" if value is None else f"{value:.1f}" for name, value in cells.items()}
        lines.append(
            {
                "network": own[0]["architecture"],
                "px": network.size,
                "parameters": f"{own[0]['parameters'] / 1e6:.1f} M",
                "pre-trained on": pretraining(own[0]["started_from"]),
                **shown,
                "seeds": len({row["seed"] for row in own}),
                "HARVEST, its set, ImageNet weights, error %": network.paper or "",
            }
        )
    return lines


def _of(rows: Sequence[Mapping[str, Any]], network: Network) -> list[Mapping[str, Any]]:
    return [row for row in rows if (row["network"], row["weights"]) == (network.name, network.weights)]


def _mean_error(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    found = [row["error"] for row in rows if row["set"] == name]
    return 100 * float(np.mean(found)) if found else None


def figures(rows: Sequence[Mapping[str, Any]], scale: Scale) -> dict[str, float]:
    """The mean errors over the sets of the pretrained network and of the best from scratch, where all sets are in."""
    means = {}
    for network in NETWORKS:
        errors = [_mean_error(_of(rows, network), name) for name in scale.sets]
        if None not in errors:
            means[network] = float(np.mean([error for error in errors if error is not None]))
    scratch = [mean for network, mean in means.items() if network.weights == "none"]
    found = {"lite0_pretrained_error_pct": means[LITE0]} if LITE0 in means else {}
    return found | ({"best_from_scratch_error_pct": min(scratch)} if scratch else {})


def measure(scale: Scale, rows: Rows, *, real: bool, minutes: float, workers: int = 1) -> harness.Report:
    """Fill the table as far as time allows, and report what there is of today's settings."""
    fill(rows, jobs_of(scale), partial(run, scale=scale), _told, minutes=minutes, workers=workers)
    today = {recipe_of(settings_of(network, scale)) for network in scale.networks}
    found = [row for row in rows if row["set"] in scale.sets and row.get("recipe") in today]
    marked = sorted({row["set"] for row in found if row["marked"]})
    small = f" Classes of {', '.join(marked)} gave only half of their images." if marked else ""
    batches = f"{scale.labelled} labelled and {scale.unlabelled} unlabelled images"
    return harness.Report(
        figures=figures(found, scale),
        rows=table(found, scale),
        data="real" if real else "synthetic",
        wants_real=True,
        note=f"FreeMatch, {scale.labels} labels a class, {scale.steps} steps of {batches} for every network. Only "
        "EfficientNet-Lite has pretrained weights here: errors of networks from scratch say what comes of them without "
        "weights, and are not to be held against the paper's, which all start from ImageNet and are of another set."
        + small,
        origin=machines_of(found) if found else "",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only-table", action="store_true")
    options, rest = parser.parse_known_args(arguments)

    def measured(quick: bool) -> harness.Report:
        real = bool(available(FULL.sets))
        if real and not quick:
            minutes = 0.0 if options.only_table else options.minutes
            return measure(FULL, rows_of("ssl_backbones"), real=True, minutes=minutes, workers=options.workers)
        scale = QUICK if real else replace(QUICK, sets=(SYNTHETIC,))
        with tempfile.TemporaryDirectory() as folder:
            return measure(scale, Rows(Path(folder) / "rows.jsonl"), real=real, minutes=10)

    harness.main("ssl_backbones", TITLE, measured, rest)


if __name__ == "__main__":
    torch.set_num_threads(min(2, torch.get_num_threads()))
    main()
