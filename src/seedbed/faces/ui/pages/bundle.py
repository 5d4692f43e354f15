"""One bundle: what is in it, files to take away, tags, versions, where it comes from."""

import time
from collections.abc import Sequence

from seedbed.assets.access.roles import Role
from seedbed.assets.store.bundle import Array, ArrayType, Bundle
from seedbed.assets.store.lineage import Graph
from seedbed.base.errors import NotFound
from seedbed.base.resources import show_size
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, card, facts, link, path, table, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts import lineage
from seedbed.faces.ui.parts.made import TOLD, show_made
from seedbed.faces.ui.site import Visit, page

_FILES, _ITEMS, _VERSIONS, _DERIVED = 60, 12, 20, 12
_PLAIN = (ArrayType.INT, ArrayType.FLOAT, ArrayType.STR, ArrayType.BOOL)
_SHOWN_WELL = {"report", "predictions", "data-set", "labels", "model", "download", "weights", *TOLD}


@page("/bundles/{ref}", role=Role.VIEWER)
async def bundle(visit: Visit, ref: str) -> None:
    """By uuid, the beginning of one, or a name."""
    found = await visit.ask(visit.platform.bundles.show, ref)
    versions = await _versions(visit, found)
    with frame(visit, found.name or found.uuid, crumbs=[("Bundles", "/bundles")]) as lead:
        lead.set_text(_answer(found))
        told = False
        if found.kind in _SHOWN_WELL:
            with card("What it says"):
                told = await show_made(visit, found, named=False)
        await _lineage(visit, found)
        with card("What is in it"):
            _arrays(found, told=told)
        with card("Facts"):
            await _facts(visit, found, told=told)
        if len(versions) > 1:
            with card("Versions", aside="of this name, the newest first"):
                _listed(versions, found)


def _answer(found: Bundle) -> str:
    made = f", made by the step {found.lineage.step}" if found.lineage.step else ", added by hand"
    derived = " It can be rebuilt from what it was made of." if found.derived else ""
    return f"A bundle of kind {say.kind_of(found.kind)}{made} {say.ago(found.created, time.time())}.{derived}"


async def _versions(visit: Visit, found: Bundle) -> list[Bundle]:
    if not found.name:
        return []
    like = await visit.ask(visit.platform.bundles.find, found.name, all_versions=True, limit=_VERSIONS)
    return [one for one in like if one.name == found.name]


async def _lineage(visit: Visit, found: Bundle) -> None:
    graphs: list[Graph] = []
    more = 0
    for direction in ("up", "down"):
        try:
            graph = await visit.ask(visit.platform.bundles.lineage, found.uuid, direction=direction, depth=6)
        except NotFound:
            continue
        if direction == "down":
            graph, more = lineage.nearest(graph, _DERIVED)
        graphs.append(graph)
    nodes, edges = lineage.merged(graphs)
    if len(nodes) > 1:
        with card("Where it comes from, and what was made of it"):
            arrows = [(edge.input, edge.made) for edge in edges]
            lineage.draw(lineage.boxes_of(nodes, [found.uuid]), arrows, f"Lineage of {found.name}")
            if more:
                words(f"and {more:,} more that were made of it", "p", "soft small")


def _arrays(found: Bundle, *, told: bool) -> None:
    if not found.arrays:
        words("Nothing.", "p", "soft")
    single = {name: array for name, array in found.arrays.items() if len(array.items) == 1 and array.type in _PLAIN}
    if not told:
        facts({name: _number(array.items[0]) for name, array in single.items()})
    for name, array in found.arrays.items():
        if name not in single:
            with box("section", "stack tight"):
                with box(classes="row"):
                    words(name, "h3")
                    words(f"{say.plural(len(array.items), 'item')} of type {array.type}", "span", "soft small")
                _array(found, name, array)


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _array(found: Bundle, name: str, array: Array) -> None:
    if array.type is ArrayType.FILE:
        with box("ul", "stack tight"):
            for index, file in enumerate(array.files[:_FILES]):
                href = path("api", "v1", "bundles", found.uuid, "files", name, str(index))
                with box("li"):
                    link(file.name, href, "wrap", download="")
                    words(f" {show_size(file.size)}", "span", "soft small")
        _rest(len(array.items), _FILES)
        return
    with box("ul", "row"):
        for item in array.items[:_ITEMS]:
            with box("li"):
                _item(array.type, str(item))
    _rest(len(array.items), _ITEMS)


def _item(kind: ArrayType, text: str) -> None:
    if kind is ArrayType.BUNDLE:
        link(text[:13], path("bundles", text))
    elif kind is ArrayType.LINK and text.startswith(("https://", "http://")):
        link(text, text, "wrap", rel="noreferrer noopener", target="_blank")
    else:
        words(text, "span", "tag")


def _rest(count: int, shown: int) -> None:
    if count > shown:
        words(f"and {count - shown:,} more", "p", "soft small")


async def _facts(visit: Visit, found: Bundle, *, told: bool) -> None:
    if found.tags:
        with box(classes="row"):
            for name, value in found.tags.items():
                link(f"{name}={value}", path("bundles", tag=f"{name}={value}"), "tag")
    pairs = {"made": say.moment(found.created), "size": show_size(found.size or sum(one.size for one in found.files))}
    if not told:
        pairs |= {name: say.value_of(value) for name, value in found.lineage.params.items()}
    facts({**pairs, "uuid": found.uuid, "key": found.key or "none: it was not computed", "content": found.digest})
    if found.lineage.job:
        with box(classes="row"):
            link("The job that made it", path("jobs", found.lineage.job), "button")


def _listed(versions: Sequence[Bundle], found: Bundle) -> None:
    with table(["Version", "Made", "Size"]):
        for one in versions:
            with box("tr"):
                with box("td"):
                    if one.uuid == found.uuid:
                        words(f"{one.uuid[:13]}, this one", "span")
                    else:
                        link(one.uuid[:13], path("bundles", one.uuid))
                words(say.moment(one.created), "td", "soft")
                words(show_size(one.size or sum(link.size for link in one.files)), "td", "soft number")
