"""Tables, records and trees in the terminal."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from seedbed.faces.client.results import Graph

_WIDE = 250  # columns where nobody looks: whatever reads a pipe gets whole lines


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Rows under headings."""
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        grid.add_column(column, overflow="fold", no_wrap=column == "id")
    for row in rows:
        grid.add_row(*(escape(str(cell)) for cell in row))
    _print(grid)


def record(values: Mapping[str, Any]) -> None:
    """Lines `name  value`; what is empty is left out."""
    grid = Table(box=None, pad_edge=False, show_header=False)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in values.items():
        if value in ("", None, [], {}):
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        grid.add_row(escape(name.replace("_", " ")), escape(text))
    _print(grid)


def lineage(root: str, graph: Graph, *, down: bool) -> None:
    """A bundle with what it was made from, or what was made from it; what was drawn once is not drawn again."""
    nodes = {node["uuid"]: node for node in graph["nodes"]}
    branches: dict[str, list[tuple[str, str]]] = {}
    for edge in graph["edges"]:
        start, end = (edge["input"], edge["made"]) if down else (edge["made"], edge["input"])
        branches.setdefault(start, []).append((edge["name"], end))

    def label(uuid: str, name: str) -> str:
        node = nodes.get(uuid)
        words = f"{uuid} (not here)"
        if node and not node["gone"]:
            words = node["name"] if node["hidden"] else f"{node['name']} ({node['kind']}) {uuid}"
        return escape(f"{name}: {words}" if name else words)

    tree = Tree(label(root, ""))
    waiting, drawn = [(tree, root)], {root}
    while waiting:
        branch, uuid = waiting.pop()
        for name, end in branches.get(uuid, []):
            twig = branch.add(label(end, name))
            if end not in drawn:
                drawn.add(end)
                waiting.append((twig, end))
    _print(tree)


def _print(drawn: RenderableType) -> None:
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(drawn)
        return
    wide = Console(highlight=False, width=_WIDE)
    with wide.capture() as captured:
        wide.print(drawn)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))
