"""How sure a model is against how often it is right, as ECharts options. Pure, as charts are."""

from collections.abc import Sequence
from typing import Any

from seedbed.faces.ui.charts import COLOURS, FONT, Options, base, legend, tooltip, value_axis

Bin = tuple[float, float, int]  # mean confidence, share that is right, images


def reliability(lines: Sequence[tuple[str, Sequence[Bin]]]) -> Options:
    """A line per name over the diagonal, where confidence is what it says; the more images, the larger the point."""
    most = max((count for _, bins in lines for _, _, count in bins), default=1)
    return {
        **base(),
        "grid": {"left": 26, "right": 24, "top": 44, "bottom": 26, "containLabel": True},
        "legend": legend(True),
        "tooltip": {**tooltip(), "trigger": "item"},
        "xAxis": _share_axis("how sure it is", 28),
        "yAxis": _share_axis("how often it is right", 46),
        "series": [_diagonal(), *(_line(name, bins, number, most) for number, (name, bins) in enumerate(lines))],
    }


def _share_axis(name: str, gap: int) -> Options:
    label = {**FONT, "formatter": "{value} %"}
    named = {"name": name, "nameLocation": "middle", "nameGap": gap, "nameTextStyle": FONT}
    return {**value_axis(), "min": 0, "max": 100, "axisLabel": label, **named}


def _diagonal() -> dict[str, Any]:
    return {
        "type": "line",
        "name": "exactly as sure as right",
        "data": [[0, 0], [100, 100]],
        "symbol": "none",
        "silent": True,
        "lineStyle": {"color": "var(--soft)", "width": 1.2, "type": "dashed"},
        "itemStyle": {"color": "var(--soft)"},
        "emphasis": {"disabled": True},
    }


def _line(name: str, bins: Sequence[Bin], number: int, most: int) -> dict[str, Any]:
    colour = COLOURS[number % len(COLOURS)]
    points = [
        {"value": [round(100 * sure, 2), round(100 * right, 2), count], "symbolSize": 6 + 12 * (count / most) ** 0.5}
        for sure, right, count in bins
        if count
    ]
    return {
        "type": "line",
        "name": name,
        "data": points,
        "symbol": "circle",
        "lineStyle": {"color": colour, "width": 2},
        "itemStyle": {"color": colour},
        "emphasis": {"disabled": True},
    }
