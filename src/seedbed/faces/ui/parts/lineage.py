"""Where a thing comes from and what was made of it: a graph to click, and the same as links."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from nicegui import ui
from nicegui.events import EChartPointClickEventArguments

from seedbed.assets.store.lineage import Edge, Graph, Node
from seedbed.faces.ui import charts
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, link, path, words

_MOST = 40  # boxes of one drawing; more is a wall, not a picture


def merged(graphs: Iterable[Graph]) -> tuple[list[Node], list[Edge]]:
    """Several graphs as one: every bundle once, nearest first."""
    nodes: dict[str, Node] = {}
    edges: dict[Edge, None] = {}
    for graph in graphs:
        for uuid, node in graph.nodes.items():
            if uuid not in nodes or node.depth < nodes[uuid].depth:
                nodes[uuid] = node
        edges.update(dict.fromkeys(graph.edges))
    return sorted(nodes.values(), key=lambda node: node.depth), list(edges)


def nearest(graph: Graph, most: int) -> tuple[Graph, int]:
    """A graph with only so many of the bundles beside its root, the nearest and newest, and how many were left out."""
    others = sorted(
        (node for node in graph.nodes.values() if node.uuid != graph.root),
        key=lambda node: (node.depth, node.gone, -node.created),
    )
    kept = {graph.root, *(node.uuid for node in others[:most])}
    nodes = {uuid: node for uuid, node in graph.nodes.items() if uuid in kept}
    edges = tuple(edge for edge in graph.edges if {edge.input, edge.made} <= kept)
    return replace(graph, nodes=nodes, edges=edges), len(graph.nodes) - len(nodes)


def boxes_of(nodes: Sequence[Node], focus: Iterable[str]) -> list[charts.Box]:
    """Bundles as boxes; those in focus are the ones that the page is about."""
    wanted = set(focus)
    return [
        charts.Box(
            id=node.uuid,
            title="deleted" if node.gone else node.name or node.uuid[:8],
            under=say.kind_of(node.kind) or node.uuid[:8],
            href="" if node.gone or node.hidden else path("bundles", node.uuid),
            focus=node.uuid in wanted,
            gone=node.gone or node.hidden,
        )
        for node in nodes
    ]


def draw(boxes: Sequence[charts.Box], arrows: Sequence[tuple[str, str]], label: str) -> None:
    """The graph, and below it the same boxes as links for keyboards and screen readers."""
    shown = list(boxes[:_MOST])
    ids = {one.id for one in shown}
    kept = [(origin, made) for origin, made in arrows if origin in ids and made in ids]
    wide, tall = charts.heights(shown, kept)
    chart = ui.echart(charts.lineage(shown, kept), on_point_click=_follow, renderer="svg").classes("chart graph")
    chart.style(f"--wide: {wide}px; --tall: {tall}px")
    chart.props["aria-label"] = label
    chart.props["role"] = "img"
    if len(boxes) > _MOST:
        words(f"The nearest {_MOST} of {len(boxes):,} are drawn.", "p", "soft small")
    with box("ul", "made", aria_label=f"{label}, as links"):
        for one in shown:
            if one.href or one.gone:
                with box("li"):
                    link(one.title, one.href) if one.href else words(one.title, "span")
                    words(f" {one.under}", "span", "soft small")


def _follow(event: EChartPointClickEventArguments) -> None:
    href = str(event.data.get("href", "")) if isinstance(event.data, dict) else ""
    if href.startswith("/"):
        ui.navigate.to(href)
