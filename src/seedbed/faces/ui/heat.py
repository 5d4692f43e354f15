"""Distances of data sets to ECharts options: a heat map whose squares say what they are when they are hovered."""

import math
from collections.abc import Sequence

from seedbed.faces.ui.charts import FONT, Options, base, tooltip

_PHONE = 460  # pixels of the map, at most
_NO = {"show": False}


def distance_map(names: Sequence[str], distances: Sequence[Sequence[float]]) -> Options:
    """Every data set against every other; the nearer, the greener."""
    apart = [value for down, row in enumerate(distances) for across, value in enumerate(row) if down != across]
    least, largest = min(apart, default=0.0), max(apart, default=0.0)
    letters = max((len(shown(value)) for value in apart), default=1)
    cells = [
        {
            "name": pair_in_words(names[down], names[across], value, same=down == across),
            "value": [across, down, shown(value)],
            "itemStyle": {"color": colour((value - least) / ((largest - least) or 1.0), same=down == across)},
            **({"label": _NO} if down == across else {}),
        }
        for down, row in enumerate(distances)
        for across, value in enumerate(row)
    ]
    axis = {"type": "category", "data": list(names), "axisLine": _NO, "axisTick": _NO, "splitArea": _NO}
    label = {**FONT, "interval": 0, "overflow": "truncate", "width": 150}
    slant = 40 if len(names) > 5 else 0
    phone = {**label, "width": 74, "fontSize": 11}
    on_phones = _room(len(names), letters, 11, beside=90)
    on_desks = _room(len(names), letters, 13, beside=150)
    return {
        **base(),
        "grid": {"left": 4, "right": 12, "top": 4, "bottom": 4, "containLabel": True},
        "tooltip": {**tooltip(), "formatter": "{b}"},
        "xAxis": {**axis, "position": "top", "axisLabel": {**label, "rotate": slant}},
        "yAxis": {**axis, "inverse": True, "axisLabel": label},
        "series": [
            {
                "type": "heatmap",
                "data": cells,
                "label": {"show": True, "color": "var(--ink)", "fontFamily": "inherit", "fontSize": 13},
                "itemStyle": {"borderColor": "var(--paper)", "borderWidth": 3, "borderRadius": 7},
                "emphasis": {"itemStyle": {"borderColor": "var(--leaf)"}},
            }
        ],
        "media": [
            {"query": {"maxWidth": min(_PHONE, on_phones - 1)}, "option": _labels(phone, 50, 11, numbers=False)},
            {"query": {"minWidth": on_phones, "maxWidth": _PHONE}, "option": _labels(phone, 50, 11, numbers=True)},
            {
                "query": {"minWidth": _PHONE + 1, "maxWidth": on_desks - 1},
                "option": _labels(label, slant, 13, numbers=False),
            },
            {"option": _labels(label, slant, 13, numbers=True)},
        ],
    }


def _room(sets: int, letters: int, size: int, *, beside: int) -> int:
    """Pixels of a map from which on the squares are wide enough for their numbers; `beside` is that of the names."""
    return beside + math.ceil(sets * (0.58 * size * letters + 8))


def _labels(label: Options, slant: int, size: int, *, numbers: bool) -> Options:
    """On a phone names are short and stand slanted, so that the squares have room; `numbers` stand in wide ones."""
    return {
        "xAxis": {"axisLabel": {**label, "rotate": slant}},
        "yAxis": {"axisLabel": label},
        "series": [{"label": {"show": numbers, "fontSize": size}}],
    }


def pair_in_words(one: str, other: str, distance: float, *, same: bool) -> str:
    """What is said of a square."""
    plain = [name.replace("{", "(").replace("}", ")").replace("|", "/") for name in (one, other)]
    return f"{plain[0]}: the data set itself" if same else f"{plain[0]} and {plain[1]}: {shown(distance)} apart"


def shown(distance: float) -> str:
    """A distance for people: three digits are as many as it means."""
    return f"{distance:.3g}" if distance < 1000 else f"{distance:,.0f}"


def colour(share: float, *, same: bool) -> str:
    """Of a square, by where its distance lies between the least and the largest: the nearest are the greenest."""
    if same:
        return "rgba(128,140,131,0.10)"
    return f"rgba(64,160,100,{0.13 + 0.55 * (1 - share):.3f})"
