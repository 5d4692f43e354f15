"""Data to ECharts options: pure functions, no page.

Colours are the page's CSS variables (the charts are drawn as SVG), so a chart follows the dark mode by itself. Tooltips
are drawn, not written as markup, and names that people gave appear only as values, never as keys of an option (a key
that begins with a colon would be run as script).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Points = Sequence[tuple[int, float]]
Options = dict[str, Any]

COLOURS = tuple(f"var(--c{number})" for number in range(1, 9))
_MOST_POINTS = 800
FONT = {"fontFamily": "inherit", "fontSize": 12, "color": "var(--soft)"}


@dataclass(frozen=True)
class Panel:
    """Curves that belong on one pair of axes."""

    title: str
    names: tuple[str, ...]


def panels(names: Sequence[str]) -> list[Panel]:
    """Metrics by what they measure: `train/loss` and `valid/loss` share a panel, accuracies come first."""
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(_measure(name), []).append(name)
    order = sorted(groups, key=lambda title: (_rank(title), title))
    return [Panel(title, tuple(groups[title])) for title in order]


def thinned(points: Points, most: int = _MOST_POINTS) -> list[tuple[int, float]]:
    """At most about `most` points, evenly taken; the last is always there. What is not a number is left out."""
    finite = [(step, value) for step, value in points if math.isfinite(value)]
    if len(finite) <= most:
        return finite
    stride = math.ceil(len(finite) / most)
    kept = finite[::stride]
    return kept if kept[-1] == finite[-1] else [*kept, finite[-1]]


def curves(lines: Sequence[tuple[str, Points]], *, share: bool = False) -> Options:
    """Lines over steps, one colour each; `share`: the values are shares of one and are shown as percent."""
    drawn = [(name, thinned(points)) for name, points in lines]
    factor = 100.0 if share else 1.0
    return {
        **base(),
        "grid": {"left": 8, "right": 18, "top": 44 if len(drawn) > 1 else 18, "bottom": 8, "containLabel": True},
        "legend": legend(len(drawn) > 1),
        "tooltip": {**tooltip(), "trigger": "axis", "axisPointer": {"lineStyle": {"color": "var(--line)"}}},
        "xAxis": value_axis(name="step", lines=False),
        "yAxis": {
            **value_axis(),
            "scale": True,
            **({"max": 100} if share else {}),  # of one point alone the axis would go on to 110 %
            "axisLabel": {**FONT, "formatter": "{value} %" if share else "{value}"},
        },
        "series": [
            {
                "type": "line",
                "name": name,
                "data": [[step, round(value * factor, 5)] for step, value in points],
                "showSymbol": len(points) < 3,
                "symbolSize": 7,
                "lineStyle": {"width": 2, "color": COLOURS[number % len(COLOURS)]},
                "itemStyle": {"color": COLOURS[number % len(COLOURS)]},
                "emphasis": {"disabled": True},
            }
            for number, (name, points) in enumerate(drawn)
        ],
    }


def confusion(classes: Sequence[str], counts: Sequence[Sequence[int]]) -> Options:
    """A heat map of truth (down) against what the model says (across); the colour is the share of the row."""
    cells = [
        {
            "value": [called, true, count],
            "itemStyle": {"color": _cell_colour(count, sum(row), right=called == true)},
            "label": {"color": "var(--ink)" if count else "var(--line)"},
        }
        for true, row in enumerate(counts)
        for called, count in enumerate(row)
    ]
    names = [_short(name) for name in classes]
    axis = {"type": "category", "data": names, "splitArea": {"show": False}, "axisLine": _NO, "axisTick": _NO}
    return {
        **base(),
        "grid": {"left": 8, "right": 8, "top": 8, "bottom": 8, "containLabel": True},
        "tooltip": {"show": False},
        "xAxis": {
            **axis,
            "position": "top",
            "axisLabel": {**FONT, "interval": 0, "rotate": 35 if len(names) > 4 else 0},
        },
        "yAxis": {**axis, "inverse": True, "axisLabel": {**FONT, "interval": 0}},
        "series": [
            {
                "type": "heatmap",
                "data": cells,
                "label": {"show": True, "fontFamily": "inherit", "fontSize": 13},
                "itemStyle": {"borderColor": "var(--paper)", "borderWidth": 3, "borderRadius": 7},
                "emphasis": {"disabled": True},
            }
        ],
    }


@dataclass(frozen=True)
class Box:
    """A node of a lineage graph: what it is called, what it is, and where a click leads."""

    id: str
    title: str
    under: str
    href: str
    focus: bool = False
    gone: bool = False
    work: bool = False  # a job, not a bundle


def layers(boxes: Sequence[Box], arrows: Sequence[tuple[str, str]]) -> list[list[Box]]:
    """The boxes in ranks: each stands one rank after the last of those that it was made from."""
    before: dict[str, list[str]] = {box.id: [] for box in boxes}
    for origin, made in arrows:
        if origin in before and made in before:
            before[made].append(origin)
    rank: dict[str, int] = {}
    pending = [box.id for box in boxes]
    while pending:
        ready = [one for one in pending if all(origin in rank for origin in before[one])] or pending[:1]
        for one in ready:
            rank[one] = 1 + max((rank[origin] for origin in before[one] if origin in rank), default=-1)
        pending = [one for one in pending if one not in rank]
    found: list[list[Box]] = [[] for _ in range(1 + max(rank.values(), default=-1))]
    for box in boxes:
        found[rank[box.id]].append(box)
    return _uncrossed(found, before)


def lineage(boxes: Sequence[Box], arrows: Sequence[tuple[str, str]]) -> Options:
    """A graph from left to right on a wide page, from top to bottom on a narrow one."""
    ranks = layers(boxes, arrows)
    places = [
        (box, rank, place - (len(row) - 1) / 2) for rank, row in enumerate(ranks) for place, box in enumerate(row)
    ]
    widest = max((len(row) for row in ranks), default=1)
    half = widest / 2
    long = {"min": -0.5, "max": len(ranks) - 0.5}
    across = {"min": -half, "max": half}
    wide = _axes(long, across, [_node(box, rank, place, side="bottom") for box, rank, place in places])
    named = [_named_on_a_phone(len(ranks[rank]), widest) for _, rank, _ in places]
    nodes = [_node(box, place, rank, **name) for (box, rank, place), name in zip(places, named, strict=True)]
    tall = _axes(across, long, nodes)
    series = [{**_GRAPH, "data": wide["series"][0]["data"], "links": _links(arrows)}]
    drawn = {
        **base(),
        **wide,
        "grid": {"left": 4, "right": 4, "top": 0, "bottom": 22},
        "tooltip": _NO,
        "series": series,
    }
    return {
        "baseOption": drawn,
        "media": [{"query": {"maxWidth": NARROW}, "option": tall}, {"option": wide}],
        "series": series,  # where NiceGUI looks for how many there are
    }


def heights(boxes: Sequence[Box], arrows: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """Pixels that the graph needs on a wide page and on a narrow one."""
    ranks = layers(boxes, arrows)
    return 40 + 84 * max((len(row) for row in ranks), default=1), 40 + 84 * max(len(ranks), 1)


NARROW = 640  # pixels of a chart that is drawn from top to bottom; seedbed.css knows it too
_ROOM, _LEAST_ROOM, _ACROSS_A_PHONE = 20, 4, 44  # letters of a name, at most and at least, and of all side by side
_NO = {"show": False}
_GRAPH: dict[str, Any] = {
    "type": "graph",
    "coordinateSystem": "cartesian2d",
    "symbol": "circle",
    "edgeSymbol": ["none", "arrow"],
    "edgeSymbolSize": 8,
    "lineStyle": {"color": "var(--soft)", "opacity": 0.6, "width": 1.4, "curveness": 0},
    "emphasis": {"disabled": True},
    "cursor": "pointer",
}


def _axes(across: Options, down: Options, nodes: list[Options]) -> Options:
    hidden = {"type": "value", "show": False}
    return {
        "xAxis": {**hidden, **across},
        "yAxis": {**hidden, **down, "inverse": True},
        "series": [{"data": nodes}],
    }


def base() -> Options:
    """What all charts share."""
    return {
        "animation": False,
        "aria": {"enabled": True},
        "backgroundColor": "transparent",
        "textStyle": {"fontFamily": "inherit"},
    }


def tooltip() -> Options:
    """Drawn, never markup."""
    return {
        "renderMode": "richText",
        "confine": True,
        "backgroundColor": "var(--paper)",
        "borderColor": "var(--line)",
        "textStyle": {"color": "var(--ink)", "fontSize": 12},
    }


def legend(shown: object) -> Options:
    """Names above the lines."""
    return {
        "show": bool(shown),
        "type": "scroll",
        "top": 0,
        "left": 0,
        "icon": "roundRect",
        "itemWidth": 14,
        "itemHeight": 4,
        "itemGap": 16,
        "textStyle": FONT,
        "inactiveColor": "var(--line)",
    }


def value_axis(name: str = "", *, lines: bool = True) -> Options:
    """An axis of numbers."""
    return {
        "type": "value",
        "name": name,
        "nameLocation": "end",
        "nameTextStyle": {**FONT, "align": "right", "verticalAlign": "bottom", "padding": [0, 0, 6, 0]},
        "axisLine": {"show": not lines, "lineStyle": {"color": "var(--line)"}},
        "axisTick": _NO,
        "axisLabel": FONT,
        "splitLine": {"show": lines, "lineStyle": {"color": "var(--line)"}},
    }


_FAMILIES = {"acc": "accuracy", "loss": "loss", "confiden": "confidence", "unchanged": "confidence"}


def _measure(name: str) -> str:
    last = name.replace("-", "_").split("/")[-1]
    return next((family for part, family in _FAMILIES.items() if part in last), last)


def _rank(title: str) -> int:
    return 0 if "acc" in title else 1 if "loss" in title else 2


def _short(name: str, most: int = 18) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _cell_colour(count: int, total: int, *, right: bool) -> str:
    if not count or not total:
        return "rgba(128,140,131,0.07)"
    strength = 0.12 + 0.73 * count / total
    return f"rgba({'64,160,100' if right else '217,120,40'},{strength:.3f})"


def _uncrossed(ranks: list[list[Box]], before: Mapping[str, Sequence[str]]) -> list[list[Box]]:
    """Each rank in the order of the middle of what its boxes were made from: arrows then cross little."""
    place: dict[str, float] = {}
    for row in ranks:
        row.sort(key=lambda box: _middle([place[one] for one in before[box.id] if one in place]))
        place.update({box.id: number - (len(row) - 1) / 2 for number, box in enumerate(row)})
    return ranks


def _middle(places: Sequence[float]) -> float:
    return sum(places) / len(places) if places else 0.0


def _named_on_a_phone(neighbours: int, widest: int) -> Options:
    if widest <= 2:
        return {"side": "right"}
    return {"side": "bottom", "room": _ROOM if neighbours == 1 else _ACROSS_A_PHONE // widest}


def _node(box: Box, x: float, y: float, *, side: str, room: int = _ROOM) -> Options:
    return {
        "id": box.id,
        "name": box.id,
        "value": [x, y],
        "href": box.href,
        "symbol": "roundRect" if box.work else "circle",
        "symbolSize": 24 if box.focus else 18,
        "itemStyle": {
            "color": "var(--leaf)" if box.focus else "var(--sunk)" if box.gone else "var(--leaf-wash)",
            "borderColor": "var(--soft)" if box.gone else "var(--leaf)",
            "borderWidth": 1.6,
            "borderType": "dashed" if box.gone else "solid",
        },
        "label": {
            "show": room >= _LEAST_ROOM,
            "position": side,
            "distance": 8,
            "formatter": f"{{a|{_plain(box.title, room)}}}\n{{b|{_plain(box.under, room)}}}",
            "rich": {
                "a": {"fontSize": 13, "fontWeight": "bold", "color": "var(--ink)", "lineHeight": 17},
                "b": {"fontSize": 11.5, "color": "var(--soft)", "lineHeight": 15},
            },
        },
    }


def _plain(text: str, room: int) -> str:
    # braces and bars are the label's own markup
    return _both_ends(text.replace("{", "(").replace("}", ")").replace("|", "/"), room)


def _both_ends(name: str, most: int) -> str:
    """What bundles of one project are told apart by stands at the end of their names."""
    half = most // 2
    return name if len(name) <= most else f"{name[: half - 1].rstrip()}…{name[-half:].lstrip()}"


def _links(arrows: Sequence[tuple[str, str]]) -> list[Options]:
    return [{"source": origin, "target": made} for origin, made in dict.fromkeys(arrows)]
