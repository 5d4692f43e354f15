"""Pictures that benchmarks leave beside RESULTS.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

FOLDER = Path(__file__).with_name("pictures")


def picture(name: str, figure: Figure, folder: Path = FOLDER) -> Path:
    """Keep a figure as SVG: the same figure gives the same file."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.svg"
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    return path


def lines(panels: Mapping[str, Sequence[tuple[float, float]]], what: str) -> Figure:
    """A panel per name, with a line through its points, on logarithmic axes."""
    figure = Figure(figsize=(3.2 * len(panels), 2.6), layout="constrained")
    for axes, (name, points) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        axes.loglog(*zip(*points, strict=True), marker="o", color="#2f6b3a")
        axes.set(xlabel=name, ylabel=what)
        axes.grid(visible=True, which="both", alpha=0.2)
    return figure
