"""Test accuracy from a few labels: every algorithm beside labels alone, a linear probe and all labels.

    python -m benchmarks.ssl_accuracy [--quick] [--json FILE] [--minutes M] [--workers N] [--methods a,b] [--only-table]

The core table is of seven real sets, 5 and 40 labels a class, three seeds, in the layout of HARVEST's table II. Rows
are kept as runs finish; a later call goes on where this one ended.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import harness
from benchmarks.few_labels import SYNTHETIC, Rows, Set, available, choose, interval, load_set, machines_of, rows_of
from seedbed.base.run import MemoryRun
from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.predict import predict
from seedbed.methods.learn.settings import ON_A_GPU, TrainSettings
from seedbed.methods.learn.trainer import train

TITLE = "Test accuracy from a few labels per class"
SETS = ("plant-seedlings", "plantdoc", "neu-steel", "cifar10", "coffee-symptom", "rice-insects", "tomato-leaf")
DEFAULT = TrainSettings().algorithm
LABELS_ONLY, PROBE, ALL = "supervised", "probe", "all labels"
BUDGETS, SEEDS = (5, 40), (0, 1, 2)
REFERENCE = {  # the means that were to be beaten, by method and budget: plain fine-tuning and FreeMatch, one seed
    (LABELS_ONLY, 5): 55.6,
    (LABELS_ONLY, 40): 76.8,
    ("freematch", 5): 50.1,
    ("freematch", 40): 79.1,
    (PROBE, 5): 47.4,
    (PROBE, 40): 67.5,
    (ALL, 0): 83.4,
}


@dataclass(frozen=True)
class Scale:
    """How large the runs are."""

    sets: tuple[str, ...] = SETS
    size: int = ON_A_GPU["size"]
    steps: int = ON_A_GPU["steps"]
    labelled: int = ON_A_GPU["labelled_batch"]
    unlabelled: int = ON_A_GPU["unlabelled_batch"]
    rate: float = ON_A_GPU["learning_rate"]
    seeds: tuple[int, ...] = SEEDS
    methods: tuple[str, ...] = (DEFAULT, LABELS_ONLY, PROBE, ALL)


FULL = Scale(
    methods=(DEFAULT, LABELS_ONLY, PROBE, ALL, *(name for name in ALGORITHMS if name not in (DEFAULT, LABELS_ONLY)))
)
QUICK = Scale(("coffee-symptom", "neu-steel"), 40, 12, 16, 24, 3e-4, (0,), (DEFAULT, LABELS_ONLY))


def jobs_of(scale: Scale) -> Iterator[dict[str, Any]]:
    """The runs of a table, what matters most first."""
    for method in scale.methods:
        for seed in scale.seeds:
            for budget in (0,) if method == ALL else BUDGETS:
                for name in scale.sets:
                    yield {"method": method, "set": name, "labels": budget, "seed": seed, "size": scale.size}


def run(job: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """One run: the accuracy on the test images, and what it took."""
    data = _loaded(job["set"], job["size"])
    labels, marked = choose(data.labels_train, job["labels"], job["seed"])
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        trained = train(
            data.images_train, labels, settings_of(job, scale, data), MemoryRun(Path(folder), seed=job["seed"])
        )
        right = predict(trained.model, data.images_test).argmax(axis=1) == data.labels_test
    facts = {"accuracy": float(right.mean()), "marked": marked, "steps": trained.steps}
    return {**job, **facts, "seconds": round(time.monotonic() - began, 2)}


def settings_of(job: Mapping[str, Any], scale: Scale, data: Set) -> TrainSettings:
    """The same network, steps and batches for every method; only the probe leaves the network as it is."""
    algorithm = LABELS_ONLY if job["method"] in (PROBE, ALL) else job["method"]
    return TrainSettings(
        classes=data.classes,
        algorithm=algorithm,
        size=job["size"],
        steps=1 if job["method"] == PROBE else scale.steps,
        learning_rate=1e-9 if job["method"] == PROBE else scale.rate,
        labelled_batch=scale.labelled,
        unlabelled_batch=scale.unlabelled,
        report_every=100,
        checkpoint_every=10**9,
    )


@lru_cache(maxsize=2)
def _loaded(name: str, size: int) -> Set:
    return load_set(name, size)


def fill(rows: Rows, scale: Scale, *, minutes: float, workers: int) -> None:
    """Do the runs that have no row yet, until the time is over; runs that are not finished then are dropped."""
    todo = [job for job in jobs_of(scale) if not rows.done(job)]
    if not todo:
        return
    until = time.monotonic() + 60 * minutes
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        futures = [pool.submit(run, job, scale) for job in todo]
        try:
            for done, future in enumerate(futures):
                row = future.result(timeout=max(0.0, until - time.monotonic()))
                rows.append(row)
                print(f"{done + 1} of {len(todo)}: {_line(row)}", file=sys.stderr, flush=True)
        except TooLate:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list((pool._processes or {}).values()):
                process.kill()


def _line(row: Mapping[str, Any]) -> str:
    return f"{row['method']}, {row['set']}, {row['labels']} labels, seed {row['seed']}: {100 * row['accuracy']:.1f} %"


def table(rows: Sequence[Mapping[str, Any]], scale: Scale) -> list[dict[str, Any]]:
    """A line per method and budget: mean accuracy by set, its mean over the sets, and the reference's."""
    lines = []
    for method in scale.methods:
        for budget in (0,) if method == ALL else BUDGETS:
            cells = {name: _mean(rows, method, budget, name) for name in scale.sets}
            known = [value for value in cells.values() if value is not None]
            if not known:
                continue
            shown = {name: "" if value is None else f"{value:.1f}" for name, value in cells.items()}
            mean = f"{np.mean(known):.1f}" if len(known) == len(scale.sets) else ""
            reference = REFERENCE.get((method, budget), "")
            labels = budget or "all"
            lines.append({"method": method, "labels": labels, **shown, "mean": mean, "reference": reference})
    return lines


def _mean(rows: Sequence[Mapping[str, Any]], method: str, budget: int, name: str) -> float | None:
    found = [row["accuracy"] for row in _of(rows, method, budget, name)]
    return 100 * float(np.mean(found)) if found else None


def _of(rows: Sequence[Mapping[str, Any]], method: str, budget: int, name: str) -> list[Mapping[str, Any]]:
    return [row for row in rows if (row["method"], row["labels"], row["set"]) == (method, budget, name)]


def figures(rows: Sequence[Mapping[str, Any]], scale: Scale) -> dict[str, float]:
    """The default's means, and its worst loss against labels alone over sets and budgets."""
    found: dict[str, float] = {}
    for budget in BUDGETS:
        means = [_mean(rows, DEFAULT, budget, name) for name in scale.sets]
        if None not in means:
            found[f"mean_at_{budget}_pct"] = float(np.mean([value for value in means if value is not None]))
    gains = [mean for mean, _, _ in comparisons(rows, scale, LABELS_ONLY)]
    if gains:
        found["worst_minus_labels_only_points"] = min(gains)
    return found


def comparisons(
    rows: Sequence[Mapping[str, Any]], scale: Scale, other: str
) -> list[tuple[float, tuple[float, float], str]]:
    """Points by which the default is ahead of another method, paired by seed, with interval, per set and budget."""
    lines = []
    for budget in BUDGETS:
        for name in scale.sets:
            ours, theirs = (
                {row["seed"]: row["accuracy"] for row in _of(rows, method, budget, name)} for method in (DEFAULT, other)
            )
            pairs = [100 * (ours[seed] - theirs[seed]) for seed in sorted(set(ours) & set(theirs))]
            if pairs:
                lines.append((float(np.mean(pairs)), interval(pairs), f"{name} at {budget}"))
    return lines


def note(rows: Sequence[Mapping[str, Any]], scale: Scale) -> str:
    """Where the default loses beyond chance, and which rows had classes too small for their budget."""
    lost = [
        f"{where} against {other} ({mean:+.1f})"
        for other in (LABELS_ONLY, PROBE)
        for mean, (_, high), where in comparisons(rows, scale, other)
        if high < 0
    ]
    marked = sorted({f"{row['set']} at {row['labels']}" for row in rows if row["marked"]})
    words = f"The default is '{DEFAULT}'. Beyond the paired 95 % interval it loses: {', '.join(lost) or 'nowhere'}."
    small = f" Classes that gave only half of their images: {', '.join(marked)}." if marked else ""
    return words + small


def measure(scale: Scale, rows: Rows, *, real: bool, minutes: float, workers: int) -> harness.Report:
    """Fill the table as far as time allows, and report what there is."""
    fill(rows, scale, minutes=minutes, workers=workers)
    found = [row for row in rows if row["size"] == scale.size and row["set"] in scale.sets]
    origin = machines_of(found) if found else ""
    return harness.Report(
        figures=figures(found, scale),
        rows=table(found, scale),
        data="real" if real else "synthetic",
        wants_real=True,
        note=f"{note(found, scale)} {origin}".strip(),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--methods", default="")
    parser.add_argument("--only-table", action="store_true")
    options, rest = parser.parse_known_args(arguments)

    def measured(quick: bool) -> harness.Report:
        scale = QUICK if quick else FULL
        if options.methods:
            scale = Scale(methods=tuple(options.methods.split(",")))
        real = bool(available(scale.sets))
        if not real:
            scale = replace(QUICK, sets=(SYNTHETIC,))
        if not quick and real:
            minutes = 0.0 if options.only_table else options.minutes
            return measure(scale, rows_of("ssl_accuracy"), real=real, minutes=minutes, workers=options.workers)
        with tempfile.TemporaryDirectory() as folder:
            return measure(scale, Rows(Path(folder) / "rows.jsonl"), real=real, minutes=10, workers=1)

    harness.main("ssl_accuracy", TITLE, measured, rest)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    torch.set_num_threads(2)
    main()
