"""What the defaults of a training are worth: the default algorithm with one setting changed, beside itself.

    python -m benchmarks.ssl_defaults [--quick] [--json FILE] [--minutes M] [--workers N] [--only-table] [--laptop]
        [--changes "a,b,a + b"] [--sets a,b] [--labels 40] [--seeds 0] [--compiled]

The sets are those of benchmarks.ssl_accuracy, but no test image has a say: a quarter of every class's training images
is taken out and judges, so that what is chosen here can be tested there. `--laptop` has the defaults of a CPU instead
of a GPU's. Rows are kept as runs finish; a later call goes on where this one ended.
"""

import argparse
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from benchmarks import harness, ssl_accuracy
from benchmarks.few_labels import (
    SYNTHETIC,
    Rows,
    available,
    choose,
    interval,
    judged_apart,
    machines_of,
    recipe_of,
    rows_of,
)
from benchmarks.filling import fill
from benchmarks.ssl_accuracy import loaded, settings_of, trained_answers
from benchmarks.ssl_report import BUDGETS, CORE, DEFAULT
from seedbed.base.ids import digest_of
from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.settings import Strength, TrainSettings

TITLE = "The default training with one setting changed"
PLAIN, AND = "as it is", " + "
VARIANTS = {  # of the default algorithm
    "every image looked at": "benchmarks.steadier:EveryImage",
    "alignment fades": "benchmarks.steadier:FadingAlignment",
    "labels seen strongly": "benchmarks.steadier:StrongLabels",
    "labels seen both ways": "benchmarks.steadier:BothLabels",
    "labels mixed": "benchmarks.steadier:MixedLabels",
    "labels seen strongly and mixed": "benchmarks.steadier:StrongMixedLabels",
}
CHANGES: Mapping[str, Mapping[str, Any]] = {  # what matters most first; what is multiplied is said as `times`
    PLAIN: {},
    "larger zoom": {"augment": Strength(zoom=0.25, strong_zoom=0.6)},
    "half as large again": {"times": ("size", 1.5)},
    **{name: {"algorithm": name} for name in VARIANTS},
    "threshold 0.8": {"options": {"threshold": 0.8}},
    "threshold 0.95": {"options": {"threshold": 0.95}},
    "always aligned": {"options": {"scarce": 1e6}},
    "half aligned": {"options": {"align": 0.5}},
    "not aligned": {"options": {"align": 0.0}},
    "no label held out": {"held_out": 0.0},
    "3 times the steps": {"times": ("steps", 3)},
    "twice the rate": {"times": ("learning_rate", 2)},
    "half the rate": {"times": ("learning_rate", 0.5)},
    "a quarter of the rate": {"times": ("learning_rate", 0.25)},
    "half the average's memory": {"times": ("ema", 0.5)},
    "twice the average's memory": {"times": ("ema", 2)},
    "head at random": {"head_start": 0.0},
    "statistics learnt": {"batch_norm": "learn"},
}


@dataclass(frozen=True)
class Scale:
    """Which changes are tried, and the runs that they are tried in."""

    runs: ssl_accuracy.Scale = ssl_accuracy.FULL
    changes: tuple[str, ...] = tuple(CHANGES)

    @property
    def names(self) -> dict[str, str]:
        """Every change by what stands for its settings."""
        return {known(change, self): change for change in dict.fromkeys([*CHANGES, *self.changes])}


_VARIANTS_SOURCE = Path(__file__).with_name("steadier.py")
QUICK = Scale(replace(ssl_accuracy.QUICK, budgets=(5,), steps=4), (PLAIN, "no label held out", "threshold 0.8"))


def jobs_of(scale: Scale) -> Iterator[dict[str, Any]]:
    """The runs, one seed of every change before any has two.

    A run is known by its settings, and not by what they change: what was half of the usual rate may be the usual one.
    """
    runs, called = scale.runs, {change: by for by, change in scale.names.items()}
    for seed in runs.seeds:
        for change in scale.changes:
            for budget in runs.budgets:
                for name in runs.sets:
                    yield {"known": called[change], "set": name, "labels": budget, "seed": seed, "size": runs.size}


def changed(change: str, settings: TrainSettings) -> TrainSettings:
    """The settings with a change, or with several."""
    for part in change.split(AND):
        values = dict(CHANGES[part])
        if "times" in values:
            name, factor = values.pop("times")
            value = getattr(settings, name)
            values[name] = 1 - (1 - value) / factor if name == "ema" else type(value)(value * factor)
        options = {**settings.options, **values.pop("options", {})}
        settings = replace(settings, **values, options=options)
    return settings


def clashes(change: str) -> set[str]:
    """What two parts of a change would set, so that only the last would count."""
    named = [name for part in change.split(AND) for name in _sets(CHANGES[part])]
    return {name for name in named if named.count(name) > 1}


def _sets(values: Mapping[str, Any]) -> list[str]:
    plain = [name for name in values if name not in ("times", "options")]
    multiplied = [values["times"][0]] if "times" in values else []
    return [*plain, *multiplied, *values.get("options", {})]


def known(change: str, scale: Scale) -> str:
    """A few characters that stand for the settings with a change."""
    settings = changed(change, settings_of(DEFAULT, scale.runs))
    if settings.algorithm not in VARIANTS:
        return recipe_of(settings)
    plain = replace(settings, algorithm=DEFAULT)
    return digest_of([recipe_of(plain), settings.algorithm, _VARIANTS_SOURCE.read_text()])[:8]


def run(job: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """One run: the share of the judging images that it gets right, and what it took."""
    change = scale.names[job["known"]]
    settings = changed(change, settings_of(DEFAULT, scale.runs))
    data = judged_apart(loaded(job["set"], settings.size))
    labels, marked = choose(data.labels_train, job["labels"], job["seed"])
    settings = replace(settings, classes=data.classes)
    if settings.algorithm in VARIANTS and settings.algorithm not in ALGORITHMS:
        ALGORITHMS.add(settings.algorithm, VARIANTS[settings.algorithm])
    began = time.process_time()
    answers, steps = trained_answers(data, labels, settings, job["seed"])
    accuracy = float((answers.argmax(axis=1) == data.labels_test).mean())
    took = {"steps": steps, "cpu_seconds": round(time.process_time() - began, 2)}
    return {"change": change, **job, "accuracy": accuracy, "marked": marked, **took}


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("set", "labels", "seed", "size"))


def pairs(change: str, budget: int, rows: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], ...]]:
    """The runs with a change, each with the same run without it, where that is there."""
    plain = {_key(row): row for row in rows if row["change"] == PLAIN}
    return [
        (row, plain[_key(row)])
        for row in rows
        if (row["change"], row["labels"]) == (change, budget) and _key(row) in plain
    ]


def gains(change: str, budget: int, rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """The points that a change gains, run by run."""
    return [100 * (row["accuracy"] - plain["accuracy"]) for row, plain in pairs(change, budget, rows)]


def times_the_work(change: str, budget: int, rows: Sequence[Mapping[str, Any]]) -> float | Literal[""]:
    """How many times the processor's seconds a change takes, over all runs."""
    both = [(row["cpu_seconds"], plain["cpu_seconds"]) for row, plain in pairs(change, budget, rows)]
    return sum(seconds for seconds, _ in both) / sum(seconds for _, seconds in both) if both else ""


def tried(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The changes that there are runs with, in the order of CHANGES."""
    order = list(CHANGES)
    there = {row["change"] for row in rows} - {PLAIN}
    return sorted(there, key=lambda change: [order.index(part) for part in change.split(AND)])


def table(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A line per change: what it gains at each budget, with the interval, in how many runs; on a CPU also its work."""
    lines, on_a_cpu = [], all(row["machine"]["gpu"] == "none" for row in rows)
    for change in tried(rows):
        found = {budget: gains(change, budget, rows) for budget in BUDGETS}
        if any(found.values()):
            cells = {f"points at {budget} labels": _gain(points) for budget, points in found.items()}
            work = {f"times the CPU s at {budget}": times_the_work(change, budget, rows) for budget in BUDGETS}
            runs = {"runs": sum(len(points) for points in found.values())}
            lines.append({"change": change, **cells, **(work if on_a_cpu else {}), **runs})
    return lines


def _gain(points: Sequence[float]) -> str:
    if not points:
        return ""
    low, high = interval(points)
    spread = f"({low:+.1f} to {high:+.1f})" if len(points) > 1 else "(one run)"
    return f"{np.mean(points):+.1f} {spread}"


def figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The largest gain of a change at each budget: near 0 where the defaults are right."""
    found = {}
    for budget in BUDGETS:
        means = [float(np.mean(points)) for change in tried(rows) if (points := gains(change, budget, rows))]
        if means:
            found[f"largest_gain_at_{budget}_points"] = max(means)
    return found


def report_of(rows: Sequence[Mapping[str, Any]], *, real: bool, part: str = "") -> harness.Report:
    """What changes gain."""
    parts = dict.fromkeys(part for change in tried(rows) for part in change.split(AND))
    told = "; ".join(f"{part}: {words}" for part in parts if (words := _words(part)))
    return harness.Report(
        figures=figures(rows),
        rows=table(rows),
        data="real" if real else "synthetic",
        wants_real=True,
        note=f"Points of accuracy gained over '{DEFAULT}' as it is, on training images that were taken out to judge, "
        f"paired by set and seed, with the 95 % interval of the mean over runs. {told and f'The changes: {told}. '}"
        "What has no words here is in benchmarks/steadier.py or speaks for itself.",
        part=part,
        origin=machines_of(rows) if rows else "",
    )


def _words(change: str) -> str:
    values = {name: value for name, value in CHANGES[change].items() if name not in ("times", "algorithm")}
    return ", ".join(f"{name} {value}" for name, value in values.items())


def measure(
    scale: Scale, rows: Rows, *, real: bool, minutes: float, workers: int = 1, part: str = ""
) -> harness.Report:
    """Fill the table as far as time allows, and report all that there is of these defaults."""
    fill(rows, jobs_of(scale), partial(run, scale=scale), _told, minutes=minutes, workers=workers)
    return report_of(of_today(list(rows), scale), real=real, part=part)


def of_today(rows: Iterable[Mapping[str, Any]], scale: Scale) -> list[dict[str, Any]]:
    """The runs whose settings are today's defaults with a change of today's, each called by that."""
    every = replace(scale, changes=(*scale.changes, *_together(rows))).names
    return [{**row, "change": every[row["known"]]} for row in rows if row["known"] in every]


def _together(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The changes that were tried together and are still there."""
    named = dict.fromkeys(row["change"] for row in rows if AND in row["change"])
    return [change for change in named if all(part in CHANGES for part in change.split(AND))]


def _told(row: Mapping[str, Any]) -> str:
    where = f"{row['set']}, {row['labels']} labels, seed {row['seed']}"
    return f"{row['change']}, {where}: {100 * row['accuracy']:.1f} %"


def quickly() -> harness.Report:
    """The same from a few small runs."""
    real = bool(available(QUICK.runs.sets))
    scale = QUICK if real else replace(QUICK, runs=replace(QUICK.runs, sets=(SYNTHETIC,)))
    with tempfile.TemporaryDirectory() as folder:
        return measure(scale, Rows(Path(folder) / "rows.jsonl"), real=real, minutes=10)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--workers", type=int, default=1)
    for name in ("--only-table", "--compiled", "--laptop"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("--changes", default=",".join(CHANGES))
    for name in ("--sets", "--labels", "--seeds"):
        parser.add_argument(name, default="")
    options, rest = parser.parse_known_args(arguments)
    changes = tuple(dict.fromkeys([PLAIN, *options.changes.split(",")]))  # every other is held against the first
    if unknown := [part for change in changes for part in change.split(AND) if part not in CHANGES]:
        parser.error(f"there is no change '{unknown[0]}'; there are: {', '.join(CHANGES)}")
    if clashing := [change for change in changes if clashes(change)]:
        parser.error(f"the parts of '{clashing[0]}' both set {', '.join(sorted(clashes(clashing[0])))}")

    def measured(quick: bool) -> harness.Report:
        if quick or not available(CORE):
            return quickly()
        chosen = argparse.Namespace(**{**vars(options), "methods": ""})
        runs = ssl_accuracy.named_in(chosen, ssl_accuracy.LAPTOP if options.laptop else ssl_accuracy.FULL)
        minutes = 0.0 if options.only_table else options.minutes
        part = "laptop" if options.laptop else ""
        scale, rows = Scale(runs, changes), rows_of("ssl_defaults")
        return measure(scale, rows, real=True, minutes=minutes, workers=options.workers, part=part)

    harness.main("ssl_defaults", TITLE, measured, rest)


if __name__ == "__main__":
    torch.set_num_threads(min(2, torch.get_num_threads()))
    main()
