"""Labels that slipped: how many of those that are named are wrong, and how many of the wrong ones are named.

    python -m benchmarks.label_slips [--quick] [--json FILE]

Some labels of each class are drawn, some of them are made wrong, and a linear head is asked about the images whose
labels it never saw. From what it says, three ways name labels to look at again: ours, the confident joint as it is
(Northcutt, Jiang and Chuang, 2021), and cleanlab as it comes, which needs `make peers`.
"""

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks import harness
from benchmarks.embedded import Embedded, embedded
from benchmarks.few_labels import SYNTHETIC, available
from benchmarks.ssl_report import CORE
from seedbed.methods.label.quality import LIKELY, chance_wrong, doubted, out_of_fold

TITLE = "Labels that slipped, among those that are named to be looked at again"
OURS, JOINT, CLEANLAB = "ours", "confident joint", "cleanlab"
_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    sets: tuple[str, ...] = CORE
    labels: tuple[int, ...] = (5, 10, 25)  # per class
    wrong: tuple[float, ...] = (0.0, 0.05, 0.1)
    seeds: tuple[int, ...] = (0, 1, 2)
    images: int = 10**6


QUICK = Scale(("neu-steel", "coffee-symptom"), (10,), (0.0, 0.1), (0, 1), 400)


@dataclass(frozen=True)
class Case:
    """Labels of which some are wrong, and what a head says of their images."""

    about: Mapping[str, Any]
    given: NDArray[np.int64]
    slipped: NDArray[np.bool_]
    chances: NDArray[np.float64]


def cases_of(scale: Scale) -> Iterator[Case]:
    """One per set, number of labels, share of wrong ones and seed."""
    for name in scale.sets:
        data = embedded(name, scale.images)
        for labels in scale.labels:
            for wrong in scale.wrong:
                for seed in scale.seeds:
                    yield _case(data, labels, wrong, seed)


def _case(data: Embedded, labels: int, wrong: float, seed: int) -> Case:
    draws = np.random.default_rng([seed, labels, round(1000 * wrong)])
    kinds = range(data.classes)
    rows = np.concatenate([draws.permutation(np.flatnonzero(data.labels_train == kind))[:labels] for kind in kinds])
    truth = data.labels_train[rows].astype(np.int64)
    given = with_slips(truth, data.classes, round(wrong * len(truth)), draws)
    chances = out_of_fold(data.train[rows], given, data.classes, folds=5, seed=0)
    about = {"set": data.name, "labels": labels, "wrong": wrong, "right": float((chances.argmax(1) == truth).mean())}
    return Case(about, given, given != truth, chances)


def with_slips(truth: NDArray[np.int64], classes: int, count: int, draws: np.random.Generator) -> NDArray[np.int64]:
    """The labels with so many of them moved to another class, each to any."""
    given = truth.copy()
    places = draws.permutation(len(truth))[:count]
    given[places] = (truth[places] + draws.integers(1, classes, count)) % classes
    return given


def named_by_us(case: Case) -> list[int]:
    """Places of labels, the likeliest to be wrong first."""
    wrong = chance_wrong(case.chances, case.given)
    likely = [place for place, _, _ in doubted(case.chances, case.given) if wrong[place] >= LIKELY]
    return sorted(likely, key=lambda place: -wrong[place])


def named_by_cleanlab(cases: Sequence[Case]) -> list[list[int]]:
    """The same by cleanlab, case by case; nothing where it is not installed."""
    python = _ROOT / ".venv-peers" / "bin" / "python"
    if not python.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases):
            np.savez(Path(folder) / f"{number:06d}.npz", chances=case.chances, given=case.given)
        script = Path(__file__).parent / "peers" / "cleanlab_slips.py"
        subprocess.run([str(python), str(script), folder], check=True)
        return [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json"))]


def counted(case: Case, named: Sequence[int]) -> dict[str, int]:
    """What came of one way of naming in one case."""
    slips = int(case.slipped.sum())
    return {
        "labels": len(case.given),
        "slips": slips,
        "named": len(named),
        "found": int(case.slipped[list(named)].sum()),
        "found early": int(case.slipped[list(named[:slips])].sum()),
    }


def table(cases: Sequence[Case], ways: Mapping[str, Sequence[Sequence[int]]]) -> list[dict[str, Any]]:
    """A line per number of labels, share of wrong ones and way."""
    lines = []
    for labels, wrong in dict.fromkeys((case.about["labels"], case.about["wrong"]) for case in cases):
        mine = [
            place for place, case in enumerate(cases) if (case.about["labels"], case.about["wrong"]) == (labels, wrong)
        ]
        right = 100 * float(np.mean([cases[place].about["right"] for place in mine]))
        for way, named in ways.items():
            sums = _sums([counted(cases[place], named[place]) for place in mine])
            lines.append(
                {"labels per class": labels, "wrong %": 100 * wrong, "head right %": right, "named by": way, **sums}
            )
    return lines


def _sums(counts: Sequence[Mapping[str, int]]) -> dict[str, float | str]:
    whole = {name: sum(count[name] for count in counts) for name in counts[0]}
    slips, named = whole["slips"], whole["named"]
    return {
        "named, % of labels": 100 * named / whole["labels"],
        "wrong, % of named": 100 * whole["found"] / named if slips and named else "",
        "found, % of wrong": 100 * whole["found"] / slips if slips else "",
        "in as many looks as are wrong": 100 * whole["found early"] / slips if slips else "",
    }


def figures(lines: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Means over the lines of each way: right labels that are named where none is wrong, and what is found."""
    found = {}
    for way in dict.fromkeys(line["named by"] for line in lines):
        mine = [line for line in lines if line["named by"] == way]
        name = way.replace(" ", "_")
        found[f"{name}_named_where_none_is_wrong_pct"] = _mean(mine, "named, % of labels", none_wrong=True)
        found[f"{name}_wrong_of_named_pct"] = _mean(mine, "wrong, % of named")
        found[f"{name}_found_pct"] = _mean(mine, "found, % of wrong")
        found[f"{name}_found_in_as_many_looks_pct"] = _mean(mine, "in as many looks as are wrong")
    return found


def _mean(lines: Sequence[Mapping[str, Any]], column: str, *, none_wrong: bool = False) -> float:
    values = [line[column] for line in lines if (line["wrong %"] == 0) == none_wrong and line[column] != ""]
    return float(np.mean(values)) if values else 0.0


def measure(quick: bool) -> harness.Report:
    """Measure and report."""
    scale = QUICK if quick else Scale()
    names = tuple(available(scale.sets))
    cases = list(cases_of(replace(scale, sets=names) if names else replace(QUICK, sets=(SYNTHETIC,))))
    ways = {
        OURS: [named_by_us(case) for case in cases],
        JOINT: [[place for place, _, _ in doubted(case.chances, case.given)] for case in cases],
    }
    if peers := named_by_cleanlab(cases):
        ways[CLEANLAB] = peers
    lines = table(cases, ways)
    note = f"{len(cases)} draws of labels from {len(names) or 1} sets; a wrong label is of any other class."
    return harness.Report(figures(lines), lines, data="real" if names else "synthetic", wants_real=True, note=note)


if __name__ == "__main__":
    with threadpool_limits(1):  # the matrices are small: threads would mostly wait for each other
        harness.main("label_slips", TITLE, measure)
