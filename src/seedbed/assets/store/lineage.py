"""Where a bundle comes from and what was made of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import CTE, Connection, Integer, Select, Text, func, literal, select

from seedbed.assets.db.tables import bundle_inputs, bundles

Direction = Literal["up", "down"]
_MOST = 20_000  # nodes of one answer


@dataclass(frozen=True)
class Node:
    """A bundle in a graph; one that was deleted, or never was here, is `gone` and has only its uuid."""

    uuid: str
    depth: int
    name: str = ""
    kind: str = ""
    created: float = 0.0
    step: str = ""
    job: str = ""
    gone: bool = False


@dataclass(frozen=True)
class Edge:
    """`made` was made from `input`, which its step calls `name`."""

    input: str
    made: str
    name: str


@dataclass(frozen=True)
class Graph:
    """The lineage of `root`: nodes by uuid, nearest first, and the edges among them."""

    root: str
    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]
    truncated: bool = False

    def to_json(self) -> dict[str, Any]:
        """As a JSON value."""
        return {
            "root": self.root,
            "nodes": [vars(node) for node in self.nodes.values()],
            "edges": [vars(edge) for edge in self.edges],
            "truncated": self.truncated,
        }


def reached(root: str, depth: int, direction: Direction) -> CTE:
    """Every (uuid, depth) that is reached from a root: one recursive query over the index of the edges."""
    start = select(literal(root, Text).label("uuid"), literal(0, Integer).label("depth")).cte("reached", recursive=True)
    here, there = (bundle_inputs.c.uuid, bundle_inputs.c.input)
    if direction == "down":
        here, there = there, here
    step = select(there, start.c.depth + 1).where(here == start.c.uuid, start.c.depth < depth)
    return start.union(step)


def node_statement(root: str, depth: int, direction: Direction) -> Select[Any]:
    """The SQL for the nodes of a graph."""
    found = reached(root, depth, direction)
    near = select(found.c.uuid, func.min(found.c.depth).label("depth")).group_by(found.c.uuid).subquery("near")
    columns = [bundles.c[name] for name in ("name", "kind", "created", "step", "job")]
    joined = near.outerjoin(bundles, bundles.c.uuid == near.c.uuid)
    return select(near.c.uuid, near.c.depth, *columns).select_from(joined).order_by(near.c.depth).limit(_MOST + 1)


def edge_statement(root: str, depth: int, direction: Direction) -> Select[Any]:
    """The SQL for the edges of a graph."""
    found = reached(root, depth - 1, direction)
    here = bundle_inputs.c.uuid if direction == "up" else bundle_inputs.c.input
    from_here = select(found.c.uuid).distinct().subquery("here")
    return select(bundle_inputs).join(from_here, here == from_here.c.uuid)


def lineage_of(conn: Connection, root: str, *, depth: int, direction: Direction) -> Graph:
    """The graph of a bundle, up to its ancestors or down to its descendants."""
    rows = conn.execute(node_statement(root, depth, direction)).all()
    nodes = {row.uuid: _node(row) for row in rows[:_MOST]}
    edges = []
    if depth > 0:
        for row in conn.execute(edge_statement(root, depth, direction)):
            if row.uuid in nodes and row.input in nodes:
                edges.append(Edge(row.input, row.uuid, row.name))
    return Graph(root, nodes, tuple(edges), truncated=len(rows) > _MOST)


def _node(row: Any) -> Node:
    if row.name is None:
        return Node(row.uuid, row.depth, gone=True)
    return Node(row.uuid, row.depth, row.name, row.kind, row.created, row.step, row.job)
