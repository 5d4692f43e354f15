"""What something was made from that a page shows beside it."""

from seedbed.assets.store.bundle import Bundle
from seedbed.faces.ui.site import Visit


async def data_of(visit: Visit, bundle: Bundle) -> str:
    """The data set whose images a result is about: the nearest one that it comes from; '': none that can be seen."""
    graph = await visit.ask(visit.platform.bundles.lineage, bundle.uuid, direction="up", depth=4)
    near = sorted((node for node in graph.nodes.values() if node.kind == "data-set"), key=lambda node: node.depth)
    return near[0].uuid if near else ""
