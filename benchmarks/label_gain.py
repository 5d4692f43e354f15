"""Is "about N more labels would help class X" true: rank correlation of the gain that is said and the gain that comes.

    python -m benchmarks.label_gain [--quick] [--json FILE]

From a few random labels, as many more labels of one class as `gains` says are added, and the class's F1 is measured on
images without a label before and after, for every class in its turn. What is compared is the order of the classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import f1_score

from benchmarks import harness
from benchmarks.embedded import Embedded, embedded, rows_for
from benchmarks.few_labels import SYNTHETIC, available, interval
from seedbed.methods.label.gain import gains
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


def correlations(data: Embedded, scale: Scale) -> list[dict[str, Any]]:
    """A row per budget and seed: how the order of the classes by the gain said is that by the gain measured."""
    rows = []
    for labels in scale.labels:
        for seed in scale.seeds:
            said, measured = said_and_measured(data, labels, seed, scale.draws)
            rank = float(spearmanr(said, measured).statistic) if np.ptp(measured) and np.ptp(said) else 0.0
            first = float(measured[said.argmax()] - measured.mean())
            rows.append({"set": data.name, "labels": labels, "seed": seed, "rank": rank, "first": first})
    return rows


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
    measured = np.zeros(data.classes)
    for gain in said:
        for draw in range(draws):
            measured[gain.klass] += _measured(data, rows, known, gain.klass, gain.labels, [seed, draw]) / draws
    return np.array([gain.points for gain in sorted(said, key=lambda gain: gain.klass)]), measured


def _measured(
    data: Embedded, rows: NDArray[np.int64], known: NDArray[np.int64], klass: int, count: int, seed: Sequence[int]
) -> float:
    """Points of F1 that so many more labels bring to a class, on the test images and those that stay unlabelled."""
    truth = data.labels_train[rows]
    open_to = np.flatnonzero((known < 0) & (truth == klass))
    added = np.random.default_rng([*seed, klass]).permutation(open_to)[:count]
    more = known.copy()
    more[added] = klass
    unseen = rows[more < 0]
    images = np.concatenate([data.test, data.train[unseen]])
    right = np.concatenate([data.labels_test, data.labels_train[unseen]]) == klass
    before, after = (
        Suggester.fit(data.train[rows], given, data.classes).probabilities(images).argmax(axis=1) == klass
        for given in (known, more)
    )
    return 100 * float(f1_score(right, after, zero_division=0) - f1_score(right, before, zero_division=0))


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
    return {"gain_rank_correlation": float(np.mean(ranks)), "gain_rank_correlation_low": interval(ranks)[0]}


def measured(quick: bool) -> tuple[list[dict[str, Any]], bool]:
    """The rows, and whether they are of real sets."""
    scale = QUICK if quick else Scale()
    names = available(scale.sets)
    rows = [row for name in names or [SYNTHETIC] for row in correlations(embedded(name, scale.images), scale)]
    return rows, bool(names)


def measure(quick: bool) -> harness.Report:
    """Measure and report."""
    rows, real = measured(quick)
    return harness.Report(figures(rows), table(rows), data="real" if real else "synthetic", wants_real=True)


if __name__ == "__main__":
    harness.main("label_gain", TITLE, measure)
