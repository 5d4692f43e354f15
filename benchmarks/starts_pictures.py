"""Figures 1, 2 and 4 of domain-aware MTaaS, of starts that were measured here."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.measured_starts import Pair
from benchmarks.transfers import IMAGENET


def epochs(pairs: Sequence[Pair]) -> Figure:
    """Epochs by target: ImageNet's beside the best and the worst of the other starts."""
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    targets = sorted({pair.target for pair in pairs})
    starts = [
        sorted((pair for pair in pairs if pair.target == target), key=lambda pair: pair.ratio) for target in targets
    ]
    bars = {
        "ImageNet": ([np.mean(mine[0].baseline_epochs) for mine in starts], "#888888"),
        "best other start": ([np.mean(mine[0].epochs) for mine in starts], "#2f6b3a"),
        "worst other start": ([np.mean(mine[-1].epochs) for mine in starts], "#b5523b"),
    }
    for number, (name, (heights, colour)) in enumerate(bars.items()):
        axes.bar(np.arange(len(targets)) + 0.27 * (number - 1), heights, 0.25, color=colour, label=name)
    axes.set_xticks(range(len(targets)), targets, rotation=30, ha="right")
    axes.set_ylabel("epochs")
    axes.legend(fontsize=7)
    return figure


def curves(runs: Sequence[Mapping[str, Any]], pairs: Sequence[Pair]) -> Figure:
    """Accuracy by epoch from ImageNet's weights and from the starts that saved and cost most."""
    ordered = sorted(pairs, key=lambda pair: pair.ratio)
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    for axes, pair in zip(figure.subplots(1, 2), (ordered[0], ordered[-1]), strict=True):
        for row in runs:
            if (row["architecture"], row["target"]) == (pair.architecture, pair.target):
                colour = {IMAGENET: "#3b6fb5", pair.source: "#2f6b3a"}.get(row["start"])
                if colour:
                    axes.plot(range(1, len(row["curve"]) + 1), row["curve"], color=colour, alpha=0.7)
        axes.set_title(f"{pair.target}: from {pair.source} (green)\nand from ImageNet (blue)", fontsize=8)
        axes.set(xlabel="epoch", ylabel="accuracy")
    return figure


def scatter(pairs: Sequence[Pair], foretellers: Mapping[str, Mapping[tuple[str, str], float]]) -> Figure:
    """Epoch ratio against what foretells it, a colour per source."""
    rows = -(-len(foretellers) // 3)
    figure = Figure(figsize=(9.6, 2.8 * rows), layout="constrained")
    panels = figure.subplots(rows, 3, squeeze=False).ravel()
    sources = sorted({pair.source for pair in pairs})
    for axes, (name, near) in zip(panels, foretellers.items(), strict=False):
        for source in sources:
            mine = [pair for pair in pairs if pair.source == source]
            axes.scatter(
                [near[pair.target, source] for pair in mine], [pair.ratio for pair in mine], s=14, label=source
            )
        axes.axhline(1, color="black", linewidth=0.5)
        axes.set(xlabel=name, ylabel="epoch ratio")
    for axes in panels[len(foretellers) :]:
        axes.set_axis_off()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=7)
    return figure
