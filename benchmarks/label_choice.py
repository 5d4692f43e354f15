"""Which images to label: test accuracy after a few labels chosen by each method, and what random needs for the same.

    python -m benchmarks.label_choice [--quick] [--json FILE] [--minutes M] [--workers N] [--only-table]
                                      [--trainer default]

A budget of B labels per class is B times the number of classes, chosen without knowing the classes, in rounds, as a
person labels: what was labelled so far is known when the next images are chosen. The head is that of the suggestions;
`--trainer default` trains a model on the same labels instead, as a laptop does when nothing is set (a GPU is wanted:
there are 280 of them). Each seed has other images to choose from. Rows are kept as runs finish; a later call goes on
where this one ended.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks import harness, label_gain
from benchmarks.embedded import Embedded, embedded, rows_for
from benchmarks.few_labels import SYNTHETIC, Rows, Set, available, interval, load_set, machines_of, rows_of
from benchmarks.filling import fill
from seedbed.base.run import MemoryRun
from seedbed.methods.label.choose import CHOOSERS, DEFAULT, Choices, choose
from seedbed.methods.label.suggest import Suggester
from seedbed.methods.learn.predict import predict
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import train

TITLE = "Test accuracy in % after a few labels, chosen by each method"
SETS = (
    *("plant-seedlings", "plantdoc", "neu-steel", "cifar10", "coffee-symptom", "rice-insects", "tomato-leaf"),
    *("corn-weeds", "cassava", "apple-foliar", "plantvillage"),
)
RANDOM = "random"
HEAD, TRAINER = "linear head", "default trainer"
BUDGETS = (1, 2, 5, 10)  # labels per class
BETWEEN = (3, 7)  # rounds after which nothing is measured
FURTHER = (15, 20, 30, 40)  # budgets of random alone: how many labels it needs
_LARGEST_SHARE = 0.5  # of the images that are labelled at most


@dataclass(frozen=True)
class Scale:
    """How large the runs are."""

    trainer: str = HEAD
    sets: tuple[str, ...] = SETS
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    methods: tuple[str, ...] = (DEFAULT, RANDOM, *(name for name in CHOOSERS if name not in (DEFAULT, RANDOM)))
    images: int = 10**6


QUICK = Scale(sets=("neu-steel", "coffee-symptom"), seeds=(0, 1, 2), methods=(DEFAULT, RANDOM), images=400)
TRAINED = Scale(trainer=TRAINER, sets=SETS[:7], methods=(DEFAULT, RANDOM))


def jobs_of(scale: Scale) -> Iterator[dict[str, Any]]:
    """The runs of a table, a seed after another: with the head all budgets at once, with the trainer one a run."""
    for seed in scale.seeds:
        for method in scale.methods:
            for name in scale.sets:
                job = {"trainer": scale.trainer, "method": method, "set": name, "seed": seed, "images": scale.images}
                if scale.trainer == HEAD:
                    yield {**job, "labels": list(BUDGETS + FURTHER if method == RANDOM else BUDGETS)}
                else:
                    yield from ({**job, "labels": [budget]} for budget in BUDGETS)


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """One run: the accuracy on the test images for each of its budgets, and what it took."""
    began = time.monotonic()
    data = embedded(job["set"], job["images"])
    rows = rows_for(data, job["seed"])
    most = int(_LARGEST_SHARE * len(rows))
    budgets = [budget for budget in job["labels"] if budget * data.classes <= most or budget == 1]
    chosen = chosen_rows(data, rows, job["method"], job["seed"], max(budgets))
    accuracy = _with_head if job["trainer"] == HEAD else _with_trainer
    found = [accuracy(data, rows[chosen[: budget * data.classes]], rows, job["seed"]) for budget in budgets]
    facts = {"budgets": budgets, "accuracy": found, "classes": data.classes}
    return {**job, **facts, "seconds": round(time.monotonic() - began, 2)}


def chosen_rows(data: Embedded, rows: NDArray[np.int64], method: str, seed: int, most: int) -> NDArray[np.int64]:
    """Places in `rows` in the order in which they are chosen, round by round, up to that many per class."""
    embeddings, truth = data.train[rows], data.labels_train[rows]
    labels = np.full(len(rows), -1)
    chosen = np.zeros(0, dtype=np.int64)
    for budget in sorted(budget for budget in (*BUDGETS, *BETWEEN, *FURTHER) if budget <= most):
        count = min(budget * data.classes, len(rows)) - len(chosen)
        news = choose(Choices(embeddings, labels, data.classes, seed=seed), count, method)
        labels[news] = truth[news]
        chosen = np.concatenate([chosen, news])
    return chosen


def _with_head(data: Embedded, labelled: NDArray[np.int64], rows: NDArray[np.int64], seed: int) -> float:
    labels = np.where(np.isin(rows, labelled), data.labels_train[rows], -1)
    said = Suggester.fit(data.train[rows], labels, data.classes).probabilities(data.test).argmax(axis=1)
    return float((said == data.labels_test).mean())


def _with_trainer(data: Embedded, labelled: NDArray[np.int64], rows: NDArray[np.int64], seed: int) -> float:
    """The default trainer at its settings for a laptop; classes that nobody found cannot be learnt."""
    plain = TrainSettings()
    pictures = _pictures(data.name, plain.size)
    found = np.unique(data.labels_train[labelled])
    if len(found) < 2:
        return float((pictures.labels_test == found[0]).mean())
    number = np.full(data.classes, -1)
    number[found] = np.arange(len(found))
    labels = np.where(np.isin(rows, labelled), number[pictures.labels_train[rows]], -1)
    names = tuple(pictures.classes[kind] for kind in found)
    settings = replace(plain, classes=names, report_every=100, checkpoint_every=10**9)
    with tempfile.TemporaryDirectory() as folder:
        trained = train(pictures.images_train[rows], labels, settings, MemoryRun(Path(folder), seed=seed))
        said = found[predict(trained.model, pictures.images_test).argmax(axis=1)]
    return float((said == pictures.labels_test).mean())


@lru_cache(maxsize=len(SETS))
def _pictures(name: str, size: int) -> Set:
    return load_set(name, size)


def _line(row: Mapping[str, Any]) -> str:
    found = ", ".join(f"{100 * value:.1f} % with {budget}" for budget, value in _by_budget(row).items())
    return f"{row['method']}, {row['set']}, seed {row['seed']}: {found}"


def _by_budget(row: Mapping[str, Any]) -> dict[int, float]:
    return dict(zip(row["budgets"], row["accuracy"], strict=True))


Found = Mapping[tuple[str, str, int, int], float]  # method, set, seed, budget: accuracy in %


def found_in(rows: Sequence[Mapping[str, Any]]) -> Found:
    """Every accuracy of the rows."""
    return {
        (row["method"], row["set"], row["seed"], budget): 100 * value
        for row in rows
        for budget, value in _by_budget(row).items()
    }


def table(found: Found, scale: Scale) -> list[dict[str, Any]]:
    """A line per budget and method: the mean over seeds by set, over all sets, and the points ahead of random."""
    lines = []
    for budget in BUDGETS:
        for method in scale.methods:
            cells = {name: _mean(found, method, name, budget) for name in scale.sets}
            known = [value for value in cells.values() if value is not None]
            if known:
                shown = {name: "" if value is None else f"{value:.1f}" for name, value in cells.items()}
                ahead = "" if method == RANDOM else _ahead_in_words(differences(found, scale, method, budget))
                line = {"labels": budget, "method": method, **shown, "mean": f"{np.mean(known):.1f}"}
                lines.append({**line, "ahead of random": ahead})
    return lines


def _ahead_in_words(pairs: Mapping[tuple[str, int], float]) -> str:
    low, high = interval(list(pairs.values())) if pairs else (0.0, 0.0)
    return f"{np.mean(list(pairs.values())):+.1f} ({low:+.1f} to {high:+.1f})" if pairs else ""


def _mean(found: Found, method: str, name: str, budget: int) -> float | None:
    values = [
        value for (one, where, _, labels), value in found.items() if (one, where, labels) == (method, name, budget)
    ]
    return float(np.mean(values)) if values else None


def differences(found: Found, scale: Scale, method: str, budget: int) -> dict[tuple[str, int], float]:
    """Points ahead of random, by set and seed."""
    return {
        (name, seed): found[method, name, seed, budget] - found[RANDOM, name, seed, budget]
        for name in scale.sets
        for seed in scale.seeds
        if (method, name, seed, budget) in found and (RANDOM, name, seed, budget) in found
    }


def figures(found: Found, scale: Scale) -> dict[str, float]:
    """How far the default is ahead of random over all budgets and at its worst one, and what random needs instead."""
    by_budget = {budget: differences(found, scale, DEFAULT, budget) for budget in BUDGETS}
    by_budget = {budget: pairs for budget, pairs in by_budget.items() if pairs}
    if not by_budget:
        return {}
    whole = [
        float(np.mean([pairs[key] for pairs in by_budget.values() if key in pairs])) for key in by_budget[BUDGETS[0]]
    ]
    shown = {
        "default_minus_random_points": float(np.mean(whole)),
        "default_minus_random_low_points": interval(whole)[0],
        "worst_budget_minus_random_low_points": min(interval(list(pairs.values()))[0] for pairs in by_budget.values()),
    }
    needs = [times for budget in BUDGETS for times in _times(found, scale, budget)]
    return {**shown, "labels_random_needs_times": float(np.median(needs))} if needs else shown


def _times(found: Found, scale: Scale, budget: int) -> list[float]:
    """How many times the default's labels random needs for the same accuracy, by set; at least, beyond its last."""
    times = []
    for name in scale.sets:
        curve = {labels: _mean(found, RANDOM, name, labels) for labels in BUDGETS + FURTHER}
        known = {labels: value for labels, value in curve.items() if value is not None}
        ours = _mean(found, DEFAULT, name, budget)
        if ours is not None and len(known) > 1:
            rising = np.maximum.accumulate(list(known.values()))
            needed = np.exp(np.interp(ours, rising, np.log(list(known))))
            times.append(float(needed) / budget)
    return times


def note(found: Found, scale: Scale) -> str:
    """The headline, and where the default loses."""
    needs = {budget: _times(found, scale, budget) for budget in BUDGETS}
    words = [f"{budget * float(np.median(times)):.1f} for {budget}" for budget, times in needs.items() if times]
    lost = [
        f"{name} at {budget} ({np.mean(mine):+.1f})"
        for budget in BUDGETS
        for name in scale.sets
        if (mine := [v for (where, _), v in differences(found, scale, DEFAULT, budget).items() if where == name])
        and np.mean(mine) < 0
    ]
    head = f"With the {scale.trainer}. For the accuracy of '{DEFAULT}', random needs (labels per class, median set): "
    return f"{head}{', '.join(words)}. The default is behind random on: {', '.join(lost) or 'no set at any budget'}."


def measure(scale: Scale, rows: Rows, *, real: bool, minutes: float, quick: bool, workers: int = 1) -> harness.Report:
    """Fill the table as far as time allows, and report what there is."""
    fill(rows, jobs_of(scale), run, _line, minutes=minutes, workers=workers)
    mine = [
        row
        for row in rows
        if (row["trainer"], row["images"]) == (scale.trainer, scale.images) and row["set"] in scale.sets
    ]
    found = found_in(mine)
    gain = label_gain.figures(label_gain.measured(quick=quick, minutes=minutes)[0]) if scale.trainer == HEAD else {}
    return harness.Report(
        figures={**figures(found, scale), **gain},
        rows=table(found, scale),
        data="real" if real else "synthetic",
        wants_real=True,
        note=f"{note(found, scale)} {machines_of(mine) if mine else ''}".strip(),
        part="" if scale.trainer == HEAD else scale.trainer,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--trainer", choices=["head", "default"], default="head")
    parser.add_argument("--only-table", action="store_true")
    options, rest = parser.parse_known_args(arguments)

    def measured(quick: bool) -> harness.Report:
        scale = QUICK if quick else TRAINED if options.trainer == "default" else Scale()
        scale = replace(scale, sets=tuple(available(scale.sets)))
        real = bool(scale.sets)
        minutes = 0.0 if options.only_table else options.minutes
        if real and not quick:
            rows = rows_of("label_choice")
            return measure(scale, rows, real=real, minutes=minutes, quick=quick, workers=options.workers)
        if not real:
            scale = replace(QUICK, sets=(SYNTHETIC,))
        with tempfile.TemporaryDirectory() as folder:
            rows = Rows(Path(folder) / "rows.jsonl")
            return measure(scale, rows, real=real, minutes=10, quick=True)

    harness.main("label_choice", TITLE, measured, rest)


if __name__ == "__main__":
    torch.set_num_threads(1)
    with threadpool_limits(1):  # the matrices are small: threads would mostly wait for each other
        main()
