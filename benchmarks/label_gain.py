"""Is "about N more labels would help class X" true: rank correlation of the gain that is said and the gain that comes.

    python -m benchmarks.label_gain [--quick] [--json FILE]

From a few random labels, as many more labels of one class as `gains` says are added, and the class's F1 is measured on
images without a label before and after, for every class in its turn. What is compared is the order of the classes.
Rows are kept as runs finish; a later call goes on where this one ended.
"""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import f1_score
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks import harness
from benchmarks.embedded import Embedded, embedded, rows_for
from benchmarks.few_labels import SYNTHETIC, Rows, available, interval, machines_of, rows_of
from seedbed.methods.label.gain import Gain, gains
from seedbed.methods.label.suggest import Suggester

TITLE = "The gain that more labels of a class are said to bring, beside the gain that they bring"
SETS = (
    *("plant-seedlings", "plantdoc", "neu-steel", "cifar10", "coffee-symptom", "rice-insects", "tomato-leaf"),
    *("corn-weeds", "cassava", "apple-foliar", "plantvillage"),
)


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    sets: tuple[str, ...] = SETS
    labels: tuple[int, ...] = (2, 5)  # per class that are there already
    seeds: tuple[int, ...] = (0, 1, 2)
    draws: int = 3  # of the labels that are added
    images: int = 10**6


QUICK = Scale(("neu-steel", "coffee-symptom"), (2,), (0, 1), 2, 400)


def jobs_of(scale: Scale) -> Iterator[dict[str, Any]]:
    """The runs: one per set, budget and seed."""
    for name in scale.sets:
        for labels in scale.labels:
            for seed in scale.seeds:
                yield {"set": name, "labels": labels, "seed": seed, "draws": scale.draws, "images": scale.images}


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """One run: how the order of the classes by the gain said is that by the gain measured."""
    data = embedded(job["set"], job["images"])
    said, measured = said_and_measured(data, job["labels"], job["seed"], job["draws"])
    rank = float(spearmanr(said, measured).statistic) if np.ptp(measured) and np.ptp(said) else 0.0
    return {**job, "rank": rank, "first": float(measured[said.argmax()] - measured.mean())}


def fill(rows: Rows, scale: Scale, *, minutes: float) -> list[dict[str, Any]]:
    """Do the runs that have no row yet, until the time is over; all rows of this scale."""
    until = time.monotonic() + 60 * minutes
    for job in jobs_of(scale):
        if time.monotonic() > until:
            break
        if not rows.done(job):
            rows.append(run(job))
    return [row for job in jobs_of(scale) for row in rows.find(job)]


def said_and_measured(
    data: Embedded, labels: int, seed: int, draws: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points by class: what `gains` says, and what its number of labels brought on average over draws."""
    rows = rows_for(data, seed)
    truth = data.labels_train[rows]
    mixed = np.random.default_rng([seed, labels]).permutation(len(rows))
    known = np.full(len(rows), -1)
    known[mixed[: labels * data.classes]] = truth[mixed[: labels * data.classes]]
    said = gains(data.train[rows], known, data.classes, seed=seed)
    before = _answers(data, rows, known)
    measured = np.zeros(data.classes)
    for gain in said:
        for draw in range(draws):
            more = _with_more(data, rows, known, gain, [seed, draw])
            unseen = np.concatenate([np.ones(len(data.test), bool), more < 0])  # by neither of the two heads
            after = _f1(data, rows, _answers(data, rows, more), gain.klass, unseen)
            measured[gain.klass] += (after - _f1(data, rows, before, gain.klass, unseen)) / draws
    return np.array([gain.points for gain in sorted(said, key=lambda gain: gain.klass)]), measured


def _with_more(
    data: Embedded, rows: NDArray[np.int64], known: NDArray[np.int64], gain: Gain, seed: Sequence[int]
) -> NDArray[np.int64]:
    """The labels, and as many more of a class as its gain is said for."""
    open_to = np.flatnonzero((known < 0) & (data.labels_train[rows] == gain.klass))
    more = known.copy()
    more[np.random.default_rng([*seed, gain.klass]).permutation(open_to)[: gain.labels]] = gain.klass
    return more


def _answers(data: Embedded, rows: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """What a head from these labels says of the test images and of those to choose from."""
    head = Suggester.fit(data.train[rows], known, data.classes)
    return np.asarray(head.probabilities(np.concatenate([data.test, data.train[rows]])).argmax(axis=1))


def _f1(
    data: Embedded, rows: NDArray[np.int64], said: NDArray[np.int64], klass: int, unseen: NDArray[np.bool_]
) -> float:
    """F1 of a class in % on some of the images."""
    truth = np.concatenate([data.labels_test, data.labels_train[rows]])
    return 100 * float(f1_score(truth[unseen] == klass, said[unseen] == klass, zero_division=0))


def table(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A line per set and budget."""
    lines = []
    for name, labels in dict.fromkeys((row["set"], row["labels"]) for row in rows):
        mine = [row for row in rows if (row["set"], row["labels"]) == (name, labels)]
        rank, first = (float(np.mean([row[key] for row in mine])) for key in ("rank", "first"))
        lines.append(
            {"set": name, "labels per class": labels, "rank correlation": rank, "the first class's gain - mean": first}
        )
    return lines


def figures(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The mean rank correlation over sets, budgets and seeds, and the lower end of its 95 % interval."""
    ranks = [row["rank"] for row in rows]
    if not ranks:
        return {}
    return {"gain_rank_correlation": float(np.mean(ranks)), "gain_rank_correlation_low": interval(ranks)[0]}


def measured(*, quick: bool, minutes: float = 24 * 60.0) -> tuple[list[dict[str, Any]], bool]:
    """The rows, and whether they are of real sets."""
    scale = QUICK if quick else Scale()
    names = tuple(available(scale.sets))
    if names and not quick:
        return fill(rows_of("label_gain"), replace(scale, sets=names), minutes=minutes), True
    with tempfile.TemporaryDirectory() as folder:
        rows = Rows(Path(folder) / "rows.jsonl")
        return fill(rows, replace(QUICK, sets=names or (SYNTHETIC,)), minutes=minutes), bool(names)


def measure(quick: bool) -> harness.Report:
    """Measure and report."""
    rows, real = measured(quick=quick)
    return harness.Report(
        figures(rows), table(rows), data="real" if real else "synthetic", wants_real=True, note=machines_of(rows)
    )


if __name__ == "__main__":
    with threadpool_limits(1):  # the matrices are small: threads would mostly wait for each other
        harness.main("label_gain", TITLE, measure)
