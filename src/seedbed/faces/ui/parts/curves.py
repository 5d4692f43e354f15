"""Learning curves that grow while a job runs."""

from collections.abc import Mapping, Sequence

from nicegui import ui
from nicegui.element import Element

from seedbed.faces.ui import charts
from seedbed.faces.ui.elements import box, words

MEMORY = "memory"  # how the names of what was used of it begin
Metrics = Mapping[str, Sequence[tuple[int, float]]]


def is_share(lines: Sequence[tuple[str, charts.Points]], title: str) -> bool:
    """Whether the values are shares of one, so that percent is the better word."""
    values = [value for _, points in lines for _, value in points]
    named = any(word in title for word in ("acc", "share", "precision", "recall", "f1", "confiden"))
    return named and bool(values) and max(values) <= 1.0 and min(values) >= 0.0


class Curves:
    """One panel per measure; `show` moves the lines, and draws new panels when new measures appear."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        """`names`: what measures are called here, and panels (with a colon), where that is not by their own names."""
        self._names = names or {}
        self._place: Element = box(classes="two")
        self._titles: list[str] = []
        self._charts: dict[str, ui.echart] = {}

    def show(self, lines: Mapping[str, Sequence[tuple[str, charts.Points]]]) -> None:
        """Title of a panel to its (name, points) lines."""
        drawn = {
            title: charts.curves([(self._called(name), points) for name, points in given], share=is_share(given, title))
            for title, given in lines.items()
        }
        if list(drawn) != self._titles:
            self._draw(drawn)
            return
        for title, options in drawn.items():
            chart = self._charts[title]
            if chart.options != options:
                chart.options.clear()
                chart.options.update(options)
                chart.update()

    def _draw(self, drawn: Mapping[str, charts.Options]) -> None:
        self._titles, self._charts = list(drawn), {}
        self._place.clear()
        with self._place:
            for title, options in drawn.items():
                with box("figure", "stack tight"):
                    called = self._names.get(f"{title}:", self._called(title)).replace("_", " ")
                    words(called, "h3")
                    chart = ui.echart(options, renderer="svg").classes("chart")
                    chart.props["aria-label"] = f"Curve of {called} over steps"
                    self._charts[title] = chart

    def _called(self, name: str) -> str:
        return self._names.get(name, name)


def of_one(metrics: Metrics) -> dict[str, list[tuple[str, charts.Points]]]:
    """The panels of one job; memory is told at the end alone, and is no curve."""
    named = [name for name, points in metrics.items() if points and not name.startswith(MEMORY)]
    return {panel.title: [(name, metrics[name]) for name in panel.names] for panel in charts.panels(named)}


def of_several(jobs: Sequence[tuple[str, Metrics]]) -> dict[str, list[tuple[str, charts.Points]]]:
    """The same measure of several jobs on one pair of axes; first the measures that more of them share."""
    names = {name for _, metrics in jobs for name, points in metrics.items() if points and not name.startswith(MEMORY)}
    lines = {
        name: [(title, metrics[name]) for title, metrics in jobs if metrics.get(name)]
        for panel in charts.panels(sorted(names))
        for name in panel.names
    }
    return dict(sorted(lines.items(), key=lambda item: -len(item[1])))
