"""Groups of images without a label: the quick default and SCAN, judged by the classes that they were not told.

    python -m benchmarks.clustering [--quick] [--json FILE] [--minutes M] [--methods 'a;b'] [--seeds N] [--only-table]

Clustering accuracy gives every group the class that fits best, one to one (Hungarian); NMI and ARI need no such match.
The number of groups is the number of classes, as in HARVEST; 'quick, own number' estimates it. Rows are kept as runs
finish; a later call goes on where this one ended, and `--seeds 1` sees every set once before any a second time. The
table shows every method that has rows.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import harness
from benchmarks.clustering_runs import (
    FIGURE_11,
    LONG,
    MANY,
    METHODS,
    OWN_NUMBER,
    QUICK,
    SCAN,
    SETS,
    SPEED,
    Scale,
    run,
)
from benchmarks.few_labels import SYNTHETIC, Rows, available, interval, machines_of, rows_of
from benchmarks.filling import fill
from seedbed.methods.label.embed import SIZE

TITLE = "Groups of alike images without a label, in % of images in the group of their class"
_PAPER = 60  # %: HARVEST's SCAN of 25 epochs stays below it on all of its sets but one
FULL = Scale()
LESS = Scale((FIGURE_11, "neu-steel"), 400, (0,), (QUICK, OWN_NUMBER, SCAN), 192)


def jobs_of(scale: Scale) -> Iterator[dict[str, Any]]:
    """The runs of a table, what matters most first, and then a set at a time: its images are embedded once."""
    yield {"method": SPEED, "set": scale.sets[0], "seed": 0}
    matters = [method for method in scale.methods if method in (QUICK, OWN_NUMBER, SCAN)]
    for methods in (matters, [method for method in scale.methods if method not in matters]):
        for name in scale.sets:
            for method in methods:
                for seed in scale.seeds:
                    yield {"method": method, "set": name, "seed": seed}


def _line(row: Mapping[str, Any]) -> str:
    found = f"{100 * row['accuracy']:.1f} %" if "accuracy" in row else f"{row['cpu_seconds']:.0f} CPU seconds"
    return f"{row['method']}, {row['set']}, seed {row['seed']}: {found}"


def table(rows: Sequence[Mapping[str, Any]], scale: Scale) -> list[dict[str, Any]]:
    """A line per set: the accuracy of each method, NMI and ARI of the two that matter, and their seconds."""
    lines = []
    for name in scale.sets:
        found = [row for row in rows if row["set"] == name and row["method"] != SPEED]
        if found:
            facts = {"set": name, "images": found[0]["images"], "classes": found[0]["classes"]}
            lines.append({**facts, **_cells(found, scale)})
    if len(lines) > 1:
        lines.append({"set": "mean", "images": "", "classes": "", **_cells(_whole(rows, scale), scale)})
    return lines


def _cells(rows: Sequence[Mapping[str, Any]], scale: Scale) -> dict[str, str]:
    accuracies = {f"{method} %": _mean(rows, method, "accuracy", 100) for method in scale.methods}
    others = {
        f"{title} {method}": _mean(rows, method, name, 1, places)
        for title, name, places in (("NMI", "nmi", 2), ("ARI", "ari", 2), ("s", "seconds", 1))
        for method in (QUICK, SCAN, LONG)
        if method in scale.methods
    }
    return {**accuracies, "own number": _mean(rows, OWN_NUMBER, "groups", 1, 0), **others}


def _mean(rows: Sequence[Mapping[str, Any]], method: str, name: str, times: float, places: int = 1) -> str:
    """The mean over seeds and sets, every set counting alike; empty where there are none."""
    by_set: dict[str, list[float]] = {}
    for row in rows:
        if row["method"] == method:
            by_set.setdefault(row["set"], []).append(row[name])
    if not by_set:
        return ""
    return f"{times * float(np.mean([np.mean(values) for values in by_set.values()])):.{places}f}"


def _whole(rows: Sequence[Mapping[str, Any]], scale: Scale) -> list[Mapping[str, Any]]:
    """The rows of the methods that have one for every set, so that their means can be compared."""
    sets = {method: {row["set"] for row in rows if row["method"] == method} for method in scale.methods}
    return [row for row in rows if row["method"] != SPEED and len(sets.get(row["method"], ())) == len(scale.sets)]


def figures(rows: Sequence[Mapping[str, Any]], scale: Scale) -> dict[str, float]:
    """Mean accuracies over the sets, SCAN against the quick default, and the time that the default takes."""
    whole = _whole(rows, scale)
    names = {QUICK: "quick_accuracy_pct", SCAN: "scan_accuracy_pct", LONG: "scan_long_accuracy_pct"}
    found = {
        name: float(_mean(whole, method, "accuracy", 100, 3))
        for method, name in names.items()
        if _mean(whole, method, "accuracy", 100)
    }
    speeds = [row["cpu_seconds"] for row in rows if row["method"] == SPEED]
    if speeds:
        found["quick_cpu_seconds_per_10k"] = min(speeds)
    return found


def comparisons(rows: Sequence[Mapping[str, Any]], scale: Scale, method: str) -> tuple[int, int, float, float, float]:
    """On how many sets a method is ahead of and behind the quick default, and by how many points with its interval.

    Differences are of runs with the same seed, and their mean is a set's.
    """
    pairs = []
    for name in scale.sets:
        mine, ours = (
            {row["seed"]: row["accuracy"] for row in rows if (row["set"], row["method"]) == (name, asked)}
            for asked in (method, QUICK)
        )
        if both := mine.keys() & ours.keys():
            pairs.append(100 * float(np.mean([mine[seed] - ours[seed] for seed in both])))
    if not pairs:
        return 0, 0, 0.0, 0.0, 0.0
    low, high = interval(pairs)
    return sum(pair > 0 for pair in pairs), sum(pair < 0 for pair in pairs), float(np.mean(pairs)), low, high


def note(rows: Sequence[Mapping[str, Any]], scale: Scale) -> str:
    """SCAN against the default in words, the paper's remark, the time, and figure 11."""
    words = [_against(rows, scale, method) for method in scale.methods if method not in (QUICK, OWN_NUMBER)]
    below = [_below(rows, scale, method) for method in (QUICK, SCAN) if method in scale.methods]
    words += [f"HARVEST's SCAN of 25 epochs stays below {_PAPER} % on all sets but one; here {' and '.join(below)}."]
    words += [_took(row) for row in rows if row["method"] == SPEED]
    return "\n\n".join([" ".join(words), *figure_11(rows, scale)])


def _took(row: Mapping[str, Any]) -> str:
    scaled = "" if row["images"] == MANY else f", scaled up from {row['images']} images"
    return (
        f"On one thread the quick default took {row['seconds']:.0f} s and {row['cpu_seconds']:.0f} CPU s for {MANY:,} "
        f"decoded images at {SIZE} px: {row['embedding_cpu_seconds']:.0f} CPU s embedding with "
        f"EfficientNet-Lite0{scaled}, {row['grouping_cpu_seconds']:.0f} grouping."
    )


def _against(rows: Sequence[Mapping[str, Any]], scale: Scale, method: str) -> str:
    ahead, behind, points, low, high = comparisons(rows, scale, method)
    verdict = "ahead of" if low > 0 else "behind" if high < 0 else "level with"
    seeds = len({row["seed"] for row in rows if row["method"] == method})
    return (
        f"'{method}' ({seeds} {'seed' if seeds == 1 else 'seeds'}) is {verdict} the quick default: "
        f"{points:+.1f} points on average over sets "
        f"({low:+.1f} to {high:+.1f}), more on {ahead} sets and less on {behind}."
    )


def _below(rows: Sequence[Mapping[str, Any]], scale: Scale, method: str) -> str:
    means = [_mean([row for row in rows if row["set"] == name], method, "accuracy", 100) for name in scale.sets]
    known = [float(mean) for mean in means if mean]
    return f"'{method}' is below on {sum(mean < _PAPER for mean in known)} of {len(known)}"


def figure_11(rows: Sequence[Mapping[str, Any]], scale: Scale) -> list[str]:
    """The confusion matrices of the paper's figure 11, of the first seed: of each class, % in each group."""
    parts = []
    for method in (SCAN, QUICK):
        for row in rows:
            if (row["set"], row["method"], row["seed"]) == (FIGURE_11, method, scale.seeds[0]):
                share = 100 * np.array(row["confusion"]) / np.array(row["confusion"]).sum(axis=1, keepdims=True)
                lines = [
                    {
                        "class": name,
                        **{f"group of {other}": f"{share[at, to]:.0f}" for to, other in enumerate(row["names"])},
                    }
                    for at, name in enumerate(row["names"])
                ]
                parts += [f"Figure 11 for {FIGURE_11}, '{method}', % of each class:", harness.table_of(lines)]
    return parts


def measure(scale: Scale, rows: Rows, *, real: bool, minutes: float) -> harness.Report:
    """Fill the table as far as time allows, and report what there is."""
    fill(rows, jobs_of(scale), partial(run, scale=scale), _line, minutes=minutes)
    found = [row for row in rows if row["set"] in scale.sets and row["method"] in (SPEED, *METHODS)]
    known = {row["method"] for row in found}
    scale = replace(scale, methods=tuple(method for method in METHODS if method in known))
    return harness.Report(
        figures=figures(found, scale),
        rows=table(found, scale),
        data="real" if real else "synthetic",
        wants_real=True,
        note=note(found, scale),
        origin=machines_of(found) if found else "",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--methods", default="")
    parser.add_argument("--seeds", type=int, default=len(FULL.seeds))
    parser.add_argument("--only-table", action="store_true")
    options, rest = parser.parse_known_args(arguments)
    wanted = tuple(options.methods.split(";")) if options.methods else ()
    if unknown := [name for name in wanted if name not in METHODS]:
        parser.error(f"--methods names {', '.join(unknown)}; there are {'; '.join(METHODS)}.")

    def measured(quick: bool) -> harness.Report:
        real = bool(available(SETS))
        scale = LESS if quick or not real else FULL
        sets = tuple(available(scale.sets)) if real else (SYNTHETIC,)
        scale = replace(scale, sets=sets, methods=wanted or scale.methods, seeds=scale.seeds[: options.seeds])
        if not quick and real:
            return measure(
                scale, rows_of("clustering"), real=real, minutes=0.0 if options.only_table else options.minutes
            )
        with tempfile.TemporaryDirectory() as folder:
            return measure(scale, Rows(Path(folder) / "rows.jsonl"), real=real, minutes=10)

    harness.main("clustering", TITLE, measured, rest)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    torch.set_num_threads(2)
    main()
