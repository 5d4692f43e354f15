"""What the defaults of a training are worth: the default algorithm with one setting changed, beside itself.

    python -m benchmarks.ssl_defaults [--quick] [--json FILE] [--minutes M] [--workers N] [--only-table]
        [--changes "a,b"] [--labels 40] [--seeds 0] [--compiled]

The seven sets, labels and seeds are those of benchmarks.ssl_accuracy, whose rows of the default are what a change is
held against, run by run. Rows are kept as runs finish; a later call goes on where this one ended.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import harness, ssl_accuracy
from benchmarks.few_labels import SYNTHETIC, Rows, available, choose, interval, machines_of, rows_of
from benchmarks.filling import fill
from benchmarks.ssl_accuracy import loaded, settings_of, trained_answers
from benchmarks.ssl_report import BUDGETS, CORE, DEFAULT
from seedbed.methods.learn.settings import ON_A_GPU, Strength, TrainSettings

TITLE = "The default training with one setting changed"
_STEPS, _RATE = ON_A_GPU["steps"], ON_A_GPU["learning_rate"]
CHANGES: Mapping[str, Mapping[str, Any]] = {  # what matters most first
    "3 times the steps": {"steps": 3 * _STEPS},
    "no label held out": {"held_out": 0.0},
    "half aligned": {"options": {"align": 0.5}},
    "not aligned": {"options": {"align": 0.0}},
    "threshold 0.8": {"options": {"threshold": 0.8}},
    "threshold 0.95": {"options": {"threshold": 0.95}},
    "larger zoom": {"augment": Strength(zoom=0.25, strong_zoom=0.6)},
    "twice the rate": {"learning_rate": 2 * _RATE},
    "half the rate": {"learning_rate": _RATE / 2},
    "quicker average": {"ema": 0.98},
    "slower average": {"ema": 0.995},
    "head at random": {"head_start": 0.0},
    "statistics learnt": {"batch_norm": "learn"},
}


@dataclass(frozen=True)
class Scale:
    """Which changes are tried, and the runs that they are tried in."""

    runs: ssl_accuracy.Scale = ssl_accuracy.FULL
    changes: tuple[str, ...] = tuple(CHANGES)

    @property
    def as_it_is(self) -> ssl_accuracy.Scale:
        """The runs without a change."""
        return replace(self.runs, methods=(DEFAULT,))


QUICK = Scale(replace(ssl_accuracy.QUICK, budgets=(5,), steps=4), ("no label held out", "threshold 0.8"))


def jobs_of(scale: Scale) -> Iterator[dict[str, Any]]:
    """The runs, one seed of every change before any has two."""
    runs = scale.runs
    for seed in runs.seeds:
        for change in scale.changes:
            for budget in runs.budgets:
                for name in runs.sets:
                    yield {"change": change, "set": name, "labels": budget, "seed": seed, "size": runs.size}


def changed(change: str, settings: TrainSettings) -> TrainSettings:
    """The settings with one change."""
    return replace(settings, **CHANGES[change])


def run(job: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """One run: the share of the test images that it gets right, and what it took."""
    data = loaded(job["set"], job["size"])
    labels, marked = choose(data.labels_train, job["labels"], job["seed"])
    plain = replace(settings_of({**job, "method": DEFAULT}, scale.runs, data), augment=scale.runs.augment)
    began = time.monotonic()
    answers, steps = trained_answers(data, labels, changed(job["change"], plain), job["seed"])
    accuracy = float((answers.argmax(axis=1) == data.labels_test).mean())
    took = {"steps": steps, "seconds": round(time.monotonic() - began, 2)}
    return {**job, "accuracy": accuracy, "marked": marked, **took}


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("set", "labels", "seed", "size"))


def gains(change: str, budget: int, rows: Sequence[Mapping[str, Any]], plain: Mapping[Any, float]) -> list[float]:
    """The points that a change gains, run by run, where the same run is there without it."""
    return [
        100 * (row["accuracy"] - plain[_key(row)])
        for row in rows
        if (row["change"], row["labels"]) == (change, budget) and _key(row) in plain
    ]


def table(rows: Sequence[Mapping[str, Any]], plain: Mapping[Any, float]) -> list[dict[str, Any]]:
    """A line per change: what it gains at each budget, with the interval, and in how many runs."""
    lines = []
    for change in CHANGES:
        found = {budget: gains(change, budget, rows, plain) for budget in BUDGETS}
        if any(found.values()):
            cells = {f"points at {budget} labels": _gain(points) for budget, points in found.items()}
            lines.append({"change": change, **cells, "runs": sum(len(points) for points in found.values())})
    return lines


def _gain(points: Sequence[float]) -> str:
    if not points:
        return ""
    low, high = interval(points)
    spread = f"({low:+.1f} to {high:+.1f})" if len(points) > 1 else "(one run)"
    return f"{np.mean(points):+.1f} {spread}"


def figures(rows: Sequence[Mapping[str, Any]], plain: Mapping[Any, float]) -> dict[str, float]:
    """The largest gain of a change at each budget: near 0 where the defaults are right."""
    found = {}
    for budget in BUDGETS:
        means = [float(np.mean(points)) for change in CHANGES if (points := gains(change, budget, rows, plain))]
        if means:
            found[f"largest_gain_at_{budget}_points"] = max(means)
    return found


def report_of(rows: Sequence[Mapping[str, Any]], default: Sequence[Mapping[str, Any]], *, real: bool) -> harness.Report:
    """What changes gain over the default's rows."""
    plain = {_key(row): row["accuracy"] for row in default if row["method"] == DEFAULT}
    told = "; ".join(f"{change}: {_words(CHANGES[change])}" for change in CHANGES)
    return harness.Report(
        figures=figures(rows, plain),
        rows=table(rows, plain),
        data="real" if real else "synthetic",
        wants_real=True,
        note=f"Points of test accuracy gained over '{DEFAULT}' as it is, paired by set and seed, with the 95 % "
        f"interval of the mean over runs. The changes: {told}.",
        origin=machines_of([*rows, *default]) if rows else "",
    )


def _words(change: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in change.items())


def measure(scale: Scale, rows: Rows, default: Rows, *, real: bool, minutes: float, workers: int = 1) -> harness.Report:
    """Fill the table as far as time allows, and report all that there is."""
    fill(rows, jobs_of(scale), partial(run, scale=scale), _told, minutes=minutes, workers=workers)
    return report_of(
        [row for row in rows if row["size"] == scale.runs.size],
        [row for row in default if row["size"] == scale.runs.size],
        real=real,
    )


def _told(row: Mapping[str, Any]) -> str:
    where = f"{row['set']}, {row['labels']} labels, seed {row['seed']}"
    return f"{row['change']}, {where}: {100 * row['accuracy']:.1f} %"


def quickly() -> harness.Report:
    """The same from a few small runs, the default's own among them."""
    real = bool(available(QUICK.runs.sets))
    scale = QUICK if real else replace(QUICK, runs=replace(QUICK.runs, sets=(SYNTHETIC,)))
    with tempfile.TemporaryDirectory() as folder:
        default = Rows(Path(folder) / "default.jsonl")
        for job in ssl_accuracy.jobs_of(scale.as_it_is):
            default.append(ssl_accuracy.run(job, scale.as_it_is))
        return measure(scale, Rows(Path(folder) / "rows.jsonl"), default, real=real, minutes=10)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only-table", action="store_true")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--changes", default=",".join(CHANGES))
    for name in ("--labels", "--seeds"):
        parser.add_argument(name, default="")
    options, rest = parser.parse_known_args(arguments)
    changes = tuple(options.changes.split(","))
    if unknown := [change for change in changes if change not in CHANGES]:
        parser.error(f"there is no change '{unknown[0]}'; there are: {', '.join(CHANGES)}")

    def measured(quick: bool) -> harness.Report:
        if quick or not available(CORE):
            return quickly()
        chosen = argparse.Namespace(**{**vars(options), "methods": "", "sets": ""})
        scale = Scale(ssl_accuracy.named_in(chosen, ssl_accuracy.FULL), changes)
        minutes = 0.0 if options.only_table else options.minutes
        rows, default = rows_of("ssl_defaults"), rows_of("ssl_accuracy")
        return measure(scale, rows, default, real=True, minutes=minutes, workers=options.workers)

    harness.main("ssl_defaults", TITLE, measured, rest)


if __name__ == "__main__":
    torch.set_num_threads(min(2, torch.get_num_threads()))
    main()
