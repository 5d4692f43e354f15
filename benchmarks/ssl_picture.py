"""HARVEST's figure 7 from our rows: a panel per set, the test error over the labels, a line per method."""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.pictures import FOLDER, picture
from benchmarks.ssl_report import ALL, DEFAULT, METHODS, budgets_of, mean, of, sets_of

_ACROSS = 4  # panels
_COLOURS = mpl.colormaps["tab20"]


def draw(rows: Sequence[Mapping[str, Any]], folder: Path = FOLDER) -> Path:
    """Keep the figure beside the results."""
    names = sets_of(rows)
    down = ceil(len(names) / _ACROSS)
    figure = Figure(figsize=(3.2 * _ACROSS, 2.6 * down + 0.6), layout="constrained")
    panels = list(figure.subplots(down, _ACROSS, squeeze=False).flat)
    for panel, name in zip(panels, names, strict=False):
        _fill(panel, rows, name)
    for panel in panels[len(names) :]:
        panel.set_axis_off()
    handles: dict[str, Any] = {}
    for panel in figure.axes:
        lines, labels = panel.get_legend_handles_labels()
        handles |= dict(zip(labels, lines, strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=6, fontsize="small")
    return picture("ssl_accuracy", figure, folder)


def _fill(panel: Axes, rows: Sequence[Mapping[str, Any]], name: str) -> None:
    budgets = budgets_of(rows)
    for place, method in enumerate(METHODS):
        means = [(budget, mean(of(rows, method, budget, name))) for budget in budgets]
        points = [(budget, 100 - value) for budget, value in means if value is not None]
        if points:
            width = 2.4 if method == DEFAULT else 1.0
            panel.plot(*zip(*points, strict=True), marker="o", ms=3, lw=width, color=_COLOURS(place), label=method)
    full = mean(of(rows, ALL, 0, name))
    if full is not None:
        panel.axhline(100 - full, color="black", lw=1, ls="--", label=ALL)
    panel.set_xscale("log", base=2)
    panel.set_xticks(budgets, [str(budget) for budget in budgets])
    panel.set(title=name, xlabel="labels per class", ylabel="test error %")
    panel.grid(visible=True, alpha=0.2)
