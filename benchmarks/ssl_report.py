"""What the rows of benchmarks.ssl_accuracy say: HARVEST's figure 7 and table II, means, and which goals are met.

A row is one run: `method`, `set`, `labels` (per class; 0: all), `seed`, `accuracy` and others on the test images, and
`marked` where some class was too small for the budget and gave half of its images. `recipe` stands for the settings
that it was trained with; a run that has been measured with former defaults only is shown, and says so. It is held
against runs with former defaults alone, and no figure rests on it.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.few_labels import interval, machines_of
from benchmarks.harness import Report, table_of
from seedbed.base.registry import Registry
from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.settings import TrainSettings

CORE = ("plant-seedlings", "plantdoc", "neu-steel", "cifar10", "coffee-symptom", "rice-insects", "tomato-leaf")
OTHERS = ("plantvillage", "fruits360", "apple-foliar", "cassava", "corn-weeds", "flowers102", "tiny-imagenet")
DEFAULT = TrainSettings().algorithm
LABELS_ONLY, PROBE, ALL, PEER = "supervised", "probe", "all labels", "semilearn freematch"
BUDGETS, MORE_BUDGETS = (5, 40), (10, 20, 80)
METHODS = (DEFAULT, *(name for name in ALGORITHMS if name not in (DEFAULT, LABELS_ONLY)), PEER, LABELS_ONLY, PROBE, ALL)
REFERENCE_SIZE = 128  # pixels
REFERENCE = {  # the means that were to be beaten, by method and budget: plain fine-tuning and FreeMatch, one seed
    (LABELS_ONLY, 5): 55.6,
    (LABELS_ONLY, 40): 76.8,
    ("freematch", 5): 50.1,
    ("freematch", 40): 79.1,
    (PROBE, 5): 47.4,
    (PROBE, 40): 67.5,
    (ALL, 0): 83.4,
}
HARVEST = {  # errors that the paper's text gives of its figure 7: ViT-tiny, and all images of those sets
    "plantvillage": {"mixmatch": {5: 12.67}, "flexmatch": {5: 7.04, 80: 2.40}, ALL: {0: 0.90}},
    "fruits360": {"freematch": {10: 0.81}, ALL: {0: 1.11}},
}
TABLE_II = {  # accuracy, precision, recall and F1 of the paper, on sets of its own: FreeMatch, ViT-base, 80 labels
    "HARVEST, corn": (97.08, 91.77, 95.43, 92.61),
    "HARVEST, soybean": (93.07, 88.64, 92.40, 89.61),
}
_SCORES = ("accuracy", "precision", "recall", "f1")
_SEEDS = 3  # of the core
_LARGEST = 40  # labels per class at which the goals are counted
_DRAWING: Registry[Any] = Registry("drawing", {"figure 7": "benchmarks.ssl_picture:draw"})  # matplotlib comes with it
Row = Mapping[str, Any]
Rows = Sequence[Row]


def newest(rows: Rows, today: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Of every run the row with today's recipe of its method where there is one, else its last one, told as such."""
    kept: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for row in rows:
        run, former = _run(row), row.get("recipe") != today.get(row["method"])
        if not former or run not in kept or kept[run]["former"]:
            kept[run] = {**row, "former": former}
    return list(kept.values())


def _run(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("method", "set", "labels", "seed"))


def of(rows: Rows, method: str, budget: int, name: str) -> list[Mapping[str, Any]]:
    """The runs of a method on a set with a budget, one per seed."""
    return [row for row in rows if (row["method"], row["labels"], row["set"]) == (method, budget, name)]


def mean(rows: Rows, score: str = "accuracy") -> float | None:
    """The mean of a score over runs in percent; None where no run has it."""
    found = [row[score] for row in rows if score in row]
    return 100 * float(np.mean(found)) if found else None


def paired(rows: Rows, budget: int, name: str, other: str, other_budget: int) -> list[tuple[Row, Row]]:
    """The default's runs, each with another method's of its seed: of today's settings if there are any, else of former.

    What today's are ahead of former ones says nothing of the methods.
    """
    ours, theirs = (
        {(bool(row.get("former")), row["seed"]): row for row in of(rows, method, at, name)}
        for method, at in ((DEFAULT, budget), (other, other_budget))
    )
    both = sorted(ours.keys() & theirs.keys())
    return [(ours[key], theirs[key]) for key in both if key[0] == both[0][0]]


def ahead(pairs: Sequence[tuple[Row, Row]]) -> list[float]:
    """Points by which the default is ahead of another method, seed by seed."""
    return [100 * (ours["accuracy"] - theirs["accuracy"]) for ours, theirs in pairs]


def sets_of(rows: Rows) -> list[str]:
    """The sets that have rows, the core first."""
    return sorted({row["set"] for row in rows}, key=lambda name: ([*CORE, *OTHERS, name].index(name), name))


def budgets_of(rows: Rows) -> list[int]:
    """The budgets that have rows, in rising order."""
    return sorted({row["labels"] for row in rows} - {0})


def figure_7(rows: Rows) -> list[dict[str, Any]]:
    """A line per set and method with the test error at every budget; the paper's own lines where it names them."""
    columns = [*budgets_of(rows), 0]
    lines = []
    for name in sets_of(rows):
        for method in METHODS:
            cells = [_error(of(rows, method, budget, name)) for budget in columns]
            if any(cells):
                lines.append(_line(name, method, columns, cells))
        for method, errors in HARVEST.get(name, {}).items():
            cells = [f"{errors[budget]:.2f}" if budget in errors else "" for budget in columns]
            lines.append(_line(name, f"{method} in HARVEST", columns, cells))
    return lines


def _line(name: str, method: str, columns: Sequence[int], cells: Sequence[str]) -> dict[str, Any]:
    shown = zip((f"{budget} labels" if budget else ALL for budget in columns), cells, strict=True)
    return {"set": name, "method": method, **{f"{column}, error %": cell for column, cell in shown}}


def _error(runs: Rows) -> str:
    accuracy = mean(runs)
    if accuracy is None:
        return ""
    few, small = "~" if len(runs) < _SEEDS else "", "*" if any(row["marked"] for row in runs) else ""
    return f"{few}{100 - accuracy:.1f}{small}{_former(runs)}"


def _former(runs: Rows) -> str:
    return "^" if any(row.get("former") for row in runs) else ""


def means_table(rows: Rows, sets: Sequence[str]) -> list[dict[str, Any]]:
    """A line per method at 5 and at 40 labels: its accuracy by set, the mean over the sets, and the reference's."""
    lines, has_reference = [], _has_reference(rows, sets)
    for method in METHODS:
        for budget in (0,) if method == ALL else BUDGETS:
            runs = {name: of(rows, method, budget, name) for name in sets}
            cells = {name: mean(found) for name, found in runs.items()}
            known = [value for value in cells.values() if value is not None]
            if known:
                shown = {
                    name: "" if value is None else f"{value:.1f}{_former(runs[name])}" for name, value in cells.items()
                }
                every = [run for found in runs.values() for run in found]
                overall = f"{np.mean(known):.1f}{_former(every)}" if len(known) == len(sets) else ""
                asked = {"method": method, "labels": budget or "all"}
                reference = {"reference": REFERENCE.get((method, budget), "")} if has_reference else {}
                lines.append({**asked, **shown, "mean": overall, **reference})
    return lines


def _has_reference(rows: Rows, sets: Sequence[str]) -> bool:
    """Whether these are the sets and the size of images that the reference is of."""
    return tuple(sets) == CORE and all(row["size"] == REFERENCE_SIZE for row in rows)


def table_ii(rows: Rows) -> list[dict[str, Any]]:
    """A line per set with the default's scores at the paper's 80 labels, else at the largest budget that was run."""
    lines = []
    for name in sets_of(rows):
        budgets = [budget for budget in budgets_of(rows) if any("f1" in row for row in of(rows, DEFAULT, budget, name))]
        if budgets:
            runs = of(rows, DEFAULT, max(budgets), name)
            lines.append(_scores(name, max(budgets), [mean(runs, score) for score in _SCORES], _former(runs)))
    if lines:
        lines += [_scores(name, 80, scores) for name, scores in TABLE_II.items()]
    return lines


def _scores(name: str, budget: int, scores: Sequence[float | None], mark: str = "") -> dict[str, Any]:
    shown = ["" if score is None else f"{score:.2f}{mark}" for score in scores]
    named = zip(("accuracy %", "precision %", "recall %", "F1 %"), shown, strict=True)
    return {"set": name, "labels": budget, **dict(named)}


def nearness(rows: Rows) -> list[dict[str, Any]]:
    """A line per set that admits 40 labels a class: how few labels bring the default near all labels."""
    lines = []
    for name in sets_of(rows):
        largest = of(rows, DEFAULT, _LARGEST, name)
        if not largest or any(row["marked"] for row in largest):
            continue
        budgets = [budget for budget in budgets_of(rows) if budget <= _LARGEST]
        pairs = {budget: paired(rows, budget, name, ALL, 0) for budget in budgets}
        behind = {budget: -float(np.mean(ahead(both))) for budget, both in pairs.items() if both}
        if behind:
            mark = _former([ours for both in pairs.values() for ours, _ in both])
            at = f"points behind {ALL} at {_LARGEST}"
            few = {f"within {points}": _fewest(behind, points, mark) for points in (1, 3)}
            lines.append({"set": name, at: f"{behind.get(_LARGEST, float('nan')):.1f}{mark}", **few})
    return lines


def _fewest(behind: Mapping[int, float], points: float, mark: str) -> str:
    """The smallest budget that is no further behind than that."""
    near = [budget for budget, gap in behind.items() if gap <= points]
    return f"{min(near)}{mark}" if near else ""


def comparisons(rows: Rows, sets: Sequence[str], other: str) -> list[tuple[float, tuple[float, float], str]]:
    """Points by which the default is ahead of another method, with interval, per set at 5 and at 40 labels."""
    found = []
    for budget in BUDGETS:
        for name in sets:
            if points := ahead(pairs := paired(rows, budget, name, other, budget)):
                mark = _former([ours for ours, _ in pairs])
                found.append((float(np.mean(points)), _spread(points), f"{name} at {budget}{mark}"))
    return found


def _spread(points: Sequence[float]) -> tuple[float, float]:
    """The interval of the mean; one seed says nothing of it."""
    return interval(points) if len(points) > 1 else (-np.inf, np.inf)


def figures(rows: Rows, sets: Sequence[str]) -> dict[str, float]:
    """The default's means, its worst losses, how often it is near all labels, and how far ahead of semilearn.

    A figure is there once all runs that it rests on have been measured with today's settings.
    """
    found: dict[str, float] = {}
    for budget in BUDGETS:
        means = [mean(of(rows, DEFAULT, budget, name)) for name in sets]
        if None not in means and _of_today(rows, sets, (budget,), DEFAULT):
            found[f"mean_at_{budget}_pct"] = float(np.mean([value for value in means if value is not None]))
    for other, words in ((LABELS_ONLY, "labels_only"), (PROBE, "probe"), (PEER, "semilearn")):
        gains = [gain for gain, _, _ in comparisons(rows, sets, other)]
        if gains and _of_today(rows, sets, BUDGETS, DEFAULT, other):
            found[f"worst_minus_{words}_points"] = min(gains)
            if other == PEER:
                found["minus_semilearn_points"] = float(np.mean(gains))
    near = nearness(rows)
    if near and _of_today(rows, sets_of(rows), (0, *budgets_of(rows)), DEFAULT, ALL):
        for points in (1, 3):
            met = sum(line[f"within {points}"] != "" for line in near)
            found[f"sets_within_{points}_points_pct"] = 100 * met / len(near)
    return found


def _of_today(rows: Rows, sets: Sequence[str], budgets: Sequence[int], *methods: str) -> bool:
    """Whether none of these methods' runs was measured with former settings alone."""
    runs = [run for name in sets for budget in budgets for method in methods for run in of(rows, method, budget, name)]
    return not _former(runs)


def note(rows: Rows, sets: Sequence[str]) -> str:
    """Where the default loses beyond chance, the other tables, and what the signs mean."""
    near = nearness(rows)
    beside = ", beside a plain loop of ours with one seed" * _has_reference(rows, sets)
    parts = [
        "~ fewer than three seeds; * a class has fewer than twice as many training images as the budget, and gave half "
        f"of them. {_of_former(rows)}The default is '{DEFAULT}'. {losses(rows, sets)}",
        f"Accuracy (%) by method{beside}:\n\n{table_of(means_table(rows, sets))}",
        f"The default in the layout of HARVEST's table II:\n\n{table_of(table_ii(rows))}",
        f"The fewest labels a class at which the default comes within 1 and within 3 points of {ALL}, for sets whose "
        f"classes all have twice {_LARGEST} training images ({len(near)} so far):\n\n{table_of(near)}",
    ]
    return "\n\n".join(part for part in parts if not part.endswith("\n\n"))


def _of_former(rows: Rows) -> str:
    former = sum(bool(row.get("former")) for row in rows)
    return f"^ with former default settings, as {former} of the {len(rows)} runs were measured so far. " * bool(former)


def losses(rows: Rows, sets: Sequence[str]) -> str:
    """Where the default is behind: beyond the interval where there are seeds for one, else at all."""
    found = [(other, *one) for other in (LABELS_ONLY, PROBE, PEER) for one in comparisons(rows, sets, other)]
    lost = [_behind(other, gain, where) for other, gain, (_, high), where in found if high < 0]
    once = [(other, gain, where) for other, gain, (low, _), where in found if low == -np.inf]
    sure = f"At 5 and 40 labels it loses beyond the paired 95 % interval: {', '.join(lost) or 'nowhere'}."
    behind = ", ".join(_behind(other, gain, where) for other, gain, where in once if gain < 0)
    share = f"{len(once)} of {len(found)} comparisons"
    unsure = f"{share} are of one seed, which has no interval; behind in those: {behind or 'nowhere'}."
    return f"{sure if len(once) < len(found) else ''} {unsure if once else ''}".strip()


def _behind(other: str, gain: float, where: str) -> str:
    return f"{where} against {other} ({gain:+.1f})"


def report_of(
    measured: Rows, sets: Sequence[str], today: Mapping[str, str], *, real: bool, drawn: bool = False, part: str = ""
) -> Report:
    """The report on all that was measured; its means are over `sets`, `today` has the recipe of every method."""
    rows = newest(measured, today)
    words = note(rows, sets)
    if drawn and rows and find_spec("matplotlib"):
        _DRAWING.get("figure 7")(rows)
        among = ", runs with former settings among the others" * bool(_former(rows))
        words += f"\n\nDrawn in pictures/ssl_accuracy.svg{among}."
    return Report(
        figures=figures(rows, sets),
        rows=figure_7(rows),
        data="real" if real else "synthetic",
        wants_real=True,
        note=words,
        origin=machines_of(rows) if rows else "",
        part=part,
    )
