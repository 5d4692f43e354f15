"""Which learning rate suits batches that are not the usual ones: kept as it is, by the square root, or in proportion.

    python -m benchmarks.ssl_batches [--quick] [--json FILE] [--minutes M] [--only-table]

The default training on a CPU, with a few labels of each class, tested on images that it has not seen. Rows are kept as
runs finish; a later call goes on where this one ended.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import harness
from benchmarks.few_labels import SYNTHETIC, Rows, available, choose, interval, machines_of, rows_of
from benchmarks.filling import fill
from benchmarks.ssl_accuracy import loaded, trained_answers
from seedbed.methods.learn.rates import share_of
from seedbed.methods.learn.settings import TrainSettings

TITLE = "Test accuracy in % of the default training by its batches and by the rule for its learning rate"
KEPT, ROOT, LINEAR = "kept", "square root", "in proportion"
RULES: Mapping[str, float] = {KEPT: 0.0, ROOT: 0.5, LINEAR: 1.0}  # power of the batches' share of the usual ones
USUAL = (TrainSettings.labelled_batch, TrainSettings.unlabelled_batch)
RATE = TrainSettings().rate()
LABELS = 5  # of each class
SETS = ("neu-steel",)  # beside the drawn leaves


@dataclass(frozen=True)
class Part:
    """Runs of one pair of batches."""

    batches: tuple[int, int]
    steps: int = 120
    rules: tuple[str, ...] = tuple(RULES)


@dataclass(frozen=True)
class Scale:
    """How large the table is."""

    sets: tuple[str, ...] = (SYNTHETIC, *SETS)
    parts: tuple[Part, ...] = (
        Part((4, 12)),
        Part((4, 48)),
        Part((8, 24)),
        Part(USUAL, rules=(KEPT,)),
        Part((64, 192), steps=30, rules=(KEPT, ROOT)),
    )
    size: int = TrainSettings().size
    seeds: tuple[int, ...] = (0,)


QUICK = Scale((SYNTHETIC,), (Part((4, 12), 4), Part(USUAL, 2, (KEPT,))), 32)


def jobs_of(scale: Scale) -> Iterator[dict[str, Any]]:
    """The runs, set by set, small batches first, one seed of all before any has two."""
    for seed in scale.seeds:
        for name in scale.sets:
            for part in scale.parts:
                for rule in part.rules:
                    batches = {"labelled": part.batches[0], "unlabelled": part.batches[1]}
                    asked = {"rule": rule, "set": name, **batches, "steps": part.steps, "seed": seed}
                    yield {**asked, "size": scale.size, "rate": rate_by(rule, part.batches)}


def rate_by(rule: str, batches: tuple[int, int]) -> float:
    """The highest learning rate that a rule gives."""
    return RATE * share_of(batches, USUAL) ** RULES[rule]


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """One run: how much of the test set it gets right, and how often it names the class that it names most."""
    data = loaded(job["set"], job["size"])
    labels, marked = choose(data.labels_train, LABELS, job["seed"])
    settings = TrainSettings(
        classes=data.classes,
        size=job["size"],
        steps=job["steps"],
        labelled_batch=job["labelled"],
        unlabelled_batch=job["unlabelled"],
        learning_rate=job["rate"],
        checkpoint_every=10**9,
    )
    began = time.monotonic()
    answers, _ = trained_answers(data, labels, settings, job["seed"])
    called = answers.argmax(axis=1)
    found = {
        "accuracy": float((called == data.labels_test).mean()),
        "most": float(np.bincount(called).max() / len(called)),
    }
    return {**job, **found, "marked": marked, "seconds": round(time.monotonic() - began, 1)}


def table(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A line for each pair of batches and each set: the accuracy by rule, the mean of the seeds."""
    lines = []
    for batches, name, steps in sorted({(_batches(row), row["set"], row["steps"]) for row in rows}):
        here = [row for row in rows if (_batches(row), row["set"], row["steps"]) == (batches, name, steps)]
        found = {rule: [100 * row["accuracy"] for row in here if row["rule"] == rule] for rule in RULES}
        shown = {rule: f"{np.mean(points):.1f}" if points else "" for rule, points in found.items()}
        about = {"batches": f"{batches[0]} + {batches[1]}", "set": name, "steps": steps}
        lines.append({**about, "seeds": len({row["seed"] for row in here}), **shown})
    return lines


def gains(rule: str, rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """The points that a rule gains over the kept rate, run by run."""
    plain, other = ({_key(row): 100 * row["accuracy"] for row in rows if row["rule"] == one} for one in (KEPT, rule))
    return [other[key] - plain[key] for key in plain if key in other]


def compared(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """The gains of each rule where batches are smaller and where they are larger than the usual ones."""
    found = {}
    for which, wanted in (("smaller", lambda share: share < 1), ("larger", lambda share: share > 1)):
        chosen = [row for row in rows if wanted(share_of(_batches(row), USUAL))]
        found |= {f"{which}, {rule}": gains(rule, chosen) for rule in (ROOT, LINEAR)}
    return {name: points for name, points in found.items() if points}


def report_of(kept: Rows, scale: Scale, *, real: bool) -> harness.Report:
    """All that the rows say, and how many there are of those that there are to be."""
    wanted = list(jobs_of(scale))
    rows = [row for job in wanted for row in kept.find(job)]  # others are of a former usual rate
    done = sum(kept.done(job) for job in wanted)
    found = compared(rows)
    told = "; ".join(f"{name}: {_gain(points)}" for name, points in found.items())
    return harness.Report(
        figures={
            f"{name.replace(', ', '_').replace(' ', '_')}_points": float(np.mean(points))
            for name, points in found.items()
        },
        rows=table(rows),
        data="real" if real else "synthetic",
        wants_real=True,
        note=f"{done} of {len(wanted)} runs so far. {LABELS} labels of each class, images of {scale.size} px; "
        f"'{SYNTHETIC}' is drawn. Batches are labelled + unlabelled "
        f"images of a step; the usual ones are {USUAL[0]} + {USUAL[1]} at a rate of {RATE}. Points gained over the "
        f"kept rate, by batches and rule, paired by set and seed, with the 95 % interval of the mean: {told}.",
        origin=machines_of(rows) if rows else "",
    )


def _gain(points: Sequence[float]) -> str:
    low, high = interval(points)
    spread = f"{low:+.1f} to {high:+.1f}{', a tie' if low <= 0 <= high else ''}" if len(points) > 1 else "one run"
    return f"{np.mean(points):+.1f} ({spread})"


def _batches(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["labelled"], row["unlabelled"]


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*_batches(row), row["set"], row["steps"], row["seed"])


def _told(row: Mapping[str, Any]) -> str:
    where = (
        f"{row['labelled']} + {row['unlabelled']}, {row['set']}, seed {row['seed']}, {row['rule']} ({row['rate']:.2g})"
    )
    return f"{where}: {100 * row['accuracy']:.1f} %"


def measure(scale: Scale, rows: Rows, *, real: bool, minutes: float) -> harness.Report:
    """Fill the table as far as time allows, and report all that there is."""
    fill(rows, jobs_of(scale), run, _told, minutes=minutes)
    return report_of(rows, scale, real=real)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--only-table", action="store_true")
    options, rest = parser.parse_known_args(arguments)

    def measured(quick: bool) -> harness.Report:
        if not quick and len(available(SETS)) == len(SETS):
            minutes = 0.0 if options.only_table else options.minutes
            return measure(Scale(), rows_of("ssl_batches"), real=True, minutes=minutes)
        with tempfile.TemporaryDirectory() as folder:
            return measure(QUICK, Rows(Path(folder) / "rows.jsonl"), real=False, minutes=10)

    harness.main("ssl_batches", TITLE, measured, rest)


if __name__ == "__main__":
    torch.set_num_threads(min(2, torch.get_num_threads()))
    main()
