"""Where a bundle comes from and what was made of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from sqlalchemy import CTE, Connection, Integer, Select, Text, func, literal, select

from seedbed.assets.db.tables import bundle_inputs, bundles

Direction = Literal["up", "down"]
_MOST = 20_000  # nodes of one answer
HIDDEN = "a bundle of another project"
"""What one is called that whoever asks may not see."""


class Node(NamedTuple):  # not a dataclass: a graph has thousands, and these are made several times faster
    """A bundle in a graph; one that was deleted, or never was here, is `gone` and has only its uuid.

    One that whoever asks may not see is `hidden`: nothing but its uuid is told of it.
    """

    uuid: str
    depth: int
    name: str = ""
    kind: str = ""
    created: float = 0.0
    step: str = ""
    job: str = ""
    project: str = ""
    gone: bool = False
    hidden: bool = False


class Edge(NamedTuple):
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

    def hiding(self, may_see: Callable[[str], bool]) -> "Graph":
        """The same without what is told of bundles of projects that somebody may not see."""
        secret = {project for project in {node.project for node in self.nodes.values()} if not may_see(project)}
        if not secret:
            return self
        nodes = {
            uuid: Node(uuid, node.depth, HIDDEN, hidden=True) if node.project in secret and not node.gone else node
            for uuid, node in self.nodes.items()
        }
        return replace(self, nodes=nodes)

    def to_json(self) -> dict[str, Any]:
        """As a JSON value."""
        return {
            "root": self.root,
            "nodes": [node._asdict() for node in self.nodes.values()],
            "edges": [edge._asdict() for edge in self.edges],
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
    columns = [bundles.c[name] for name in ("name", "kind", "created", "step", "job", "project")]
    joined = near.outerjoin(bundles, bundles.c.uuid == near.c.uuid)
    return select(near.c.uuid, near.c.depth, *columns).select_from(joined).order_by(near.c.depth).limit(_MOST + 1)


def edge_statement(root: str, depth: int, direction: Direction) -> Select[Any]:
    """The SQL for the edges of a graph."""
    found = reached(root, depth - 1, direction)
    here = bundle_inputs.c.uuid if direction == "up" else bundle_inputs.c.input
    from_here = select(found.c.uuid).distinct().subquery("here")
    columns = (bundle_inputs.c.input, bundle_inputs.c.uuid, bundle_inputs.c.name)
    return select(*columns).join(from_here, here == from_here.c.uuid)


def lineage_of(conn: Connection, root: str, *, depth: int, direction: Direction) -> Graph:
    """The graph of a bundle, up to its ancestors or down to its descendants."""
    rows = conn.execute(node_statement(root, depth, direction)).all()
    nodes = {row[0]: Node(*row) if row[2] is not None else Node(row[0], row[1], gone=True) for row in rows[:_MOST]}
    found = conn.execute(edge_statement(root, depth, direction)).all() if depth > 0 else []
    edges = tuple(Edge(*row) for row in found if row[0] in nodes and row[1] in nodes)
    return Graph(root, nodes, edges, truncated=len(rows) > _MOST)
