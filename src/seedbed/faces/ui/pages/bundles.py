"""The browser of bundles: everything that is kept, found by name, kind and tag."""

import time
from collections.abc import Sequence
from typing import Any

from seedbed.assets.access.roles import Role
from seedbed.assets.store.bundle import Bundle
from seedbed.base.resources import show_size
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, card, empty, link, path, table, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.site import Visit, page
from seedbed.flows.kinds import KINDS

_PAGE = 50
_LOOKED_THROUGH = 1000  # bundles, for a part of a name


@page("/bundles", role=Role.VIEWER)
async def bundles(visit: Visit, q: str = "", kind: str = "", tag: str = "", all: str = "", offset: int = 0) -> None:
    """A form of the browser's own, so that every search has an address."""
    offset = max(offset, 0)
    found = await _find(visit, q, kind, tag, offset, every=bool(all))
    kinds = sorted(KINDS)
    with frame(visit, "Bundles") as lead:
        lead.set_text(_lead(found, q, kind, tag, offset))
        _search(q, kind, tag, bool(all), kinds)
        if found:
            with card():
                _rows(found[:_PAGE])
            _pages(q, kind, tag, all, offset, more=len(found) > _PAGE)
        elif q or kind or tag:
            empty("bundle", "Nothing found", "Search for a part of the name, or leave the tag or the kind away.")
        else:
            empty(
                "bundle",
                "Nothing is kept yet",
                "Data sets, labels, models and reports appear here as jobs make them. Add files yourself with:",
                "seedbed store add FILE --name NAME",
            )


async def _find(visit: Visit, q: str, kind: str, tag: str, offset: int, *, every: bool) -> list[Bundle]:
    """By the whole name; where nothing has that name, by a part of it among the newest."""
    name, _, value = tag.partition("=")
    asked: dict[str, Any] = {"kind": kind, "tags": {name: value} if name else {}, "all_versions": every}
    found = await visit.ask(visit.platform.bundles.find, q, **asked, limit=_PAGE + 1, offset=offset)
    if found or not q:
        return found
    newest = await visit.ask(visit.platform.bundles.find, **asked, limit=_LOOKED_THROUGH)
    return [one for one in newest if q.lower() in one.name.lower()][offset : offset + _PAGE + 1]


def _lead(found: Sequence[Bundle], q: str, kind: str, tag: str, offset: int) -> str:
    what = "Everything that is kept: data sets, labels, models, reports, each with where it comes from."
    if not (q or kind or tag):
        return what
    asked = [f"named like '{q}'"] if q else []
    asked += [f"of kind {say.kind_of(kind)}"] if kind else []
    asked += [f"tagged {tag}"] if tag else []
    many = f"more than {_PAGE:,} bundles" if len(found) > _PAGE else say.plural(len(found), "bundle")
    return f"{many[0].upper()}{many[1:]} {' and '.join(asked)}{' from here on' if offset else ''}."


def _search(q: str, kind: str, tag: str, every: object, kinds: Sequence[str]) -> None:
    with box("form", "search", method="get", action="/bundles", role="search"):
        with box("label", "field grow"):
            words("Name", "span")
            box("input", type="search", name="q", value=q, data_search="", placeholder="leaves", autocomplete="off")
        with box("label", "field"):
            words("Kind", "span")
            with box("select", name="kind"):
                words("any", "option", value="")
                for one in kinds:
                    marks = {"selected": ""} if one == kind else {}
                    words(say.kind_of(one), "option", value=one, **marks)
        with box("label", "field"):
            words("Tag", "span")
            box("input", type="text", name="tag", value=tag, placeholder="season=2025", autocomplete="off")
        with box("label", "check"):
            marks = {"checked": ""} if every else {}
            box("input", type="checkbox", name="all", value="1", **marks)
            words("every version", "span")
        words("Find", "button", "button main", type="submit")


def _rows(found: Sequence[Bundle]) -> None:
    now = time.time()
    with table(["Name", "Kind", "Tags", "Made", "Size"], "stacked"):
        for bundle in found:
            with box("tr"):
                with box("td"):
                    link(bundle.name or bundle.uuid, path("bundles", bundle.uuid))
                    words(
                        f"{bundle.uuid[:13]}" + (f" · by {bundle.lineage.step}" if bundle.lineage.step else ""),
                        classes="soft small",
                    )
                with box("td"):
                    words(say.kind_of(bundle.kind), "span", "kind")
                with box("td"):
                    for name, value in bundle.tags.items():
                        link(f"{name}={value}", path("bundles", tag=f"{name}={value}"), "tag")
                words(say.ago(bundle.created, now), "td", "soft keep", title=say.moment(bundle.created))
                words(show_size(bundle.size or sum(link.size for link in bundle.files)), "td", "soft number keep")


def _pages(q: str, kind: str, tag: str, every: str, offset: int, *, more: bool) -> None:
    with box("nav", "row", aria_label="Pages of the list"):
        if offset:
            back = str(max(offset - _PAGE, 0))
            link("Newer", path("bundles", q=q, kind=kind, tag=tag, all=every, offset=back), "button")
        if more:
            link("Older", path("bundles", q=q, kind=kind, tag=tag, all=every, offset=str(offset + _PAGE)), "button")
