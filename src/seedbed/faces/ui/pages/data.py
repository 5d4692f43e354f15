"""Data sets: all of them, and one with its images, findings and counts."""

from collections.abc import Sequence
from typing import Any

from seedbed.assets.access.roles import Role
from seedbed.base.resources import show_size
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, card, facts, link, path, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.parts.bars import bars
from seedbed.faces.ui.parts.bringing import bring_images
from seedbed.faces.ui.parts.datatile import data_tile
from seedbed.faces.ui.parts.trainform import Task, TrainForm
from seedbed.faces.ui.site import Visit, page

_PAGE, _SETS = 240, 100
_NOTES = {"note": "", "warning": "warn", "error": "bad"}


@page("/data", role=Role.VIEWER)
async def data_sets(visit: Visit) -> None:
    """The latest version of each."""
    found = await visit.ask(visit.platform.data.list, limit=_SETS)
    with frame(visit, "Data sets") as lead:
        if not found:
            lead.set_text("No images are here yet.")
            bring_images(visit, "Bring a folder of images", "A folder, a zip or tar; class folders are understood.")
            return
        lead.set_text(f"{say.plural(len(found), 'data set')}, each in its newest version.")
        with box(classes="tiles"):
            for bundle in found:
                data_tile(bundle)


@page("/data/{ref}", role=Role.VIEWER)
async def data_set(visit: Visit, ref: str, offset: int = 0) -> None:
    """Images, findings in words, statistics."""
    offset = max(offset, 0)
    summary = await visit.ask(visit.platform.data.show, ref)
    records = await visit.ask(visit.platform.data.records, ref, offset=offset, limit=_PAGE)
    numbers = summary["statistics"]
    with frame(visit, summary["name"], crumbs=[("Data sets", "/data")]) as lead:
        lead.set_text(_answer(numbers, summary["findings"]))
        if summary["findings"]:
            with card("What to look at"):
                for finding in summary["findings"]:
                    words(finding["sentence"], "p", f"note {_NOTES.get(finding['severity'], '')}")
        with box(classes="two"):
            if numbers["classes"]:
                with card("Images per class"):
                    bars({**numbers["classes"], **_unlabelled(numbers)}, "Images per class")
            with card("In numbers"):
                facts(_facts(numbers))
        labels = sum(numbers["classes"].values())
        if labels and visit.by.may(Role.TRAINER):
            TrainForm(visit, Task(labels, numbers["images"], data=summary["uuid"])).build()
        with card("Images", aside=_shown(offset, len(records), numbers["images"])):
            thumbs.grid([_thumb(summary["uuid"], offset + number, record) for number, record in enumerate(records)])
            _pages(ref, offset, numbers["images"])
        with box(classes="row"):
            link("Where it comes from, and its files", path("bundles", summary["uuid"]), "button")


def _answer(numbers: dict[str, Any], findings: Sequence[Any]) -> str:
    classes = numbers["classes"]
    known = f" in {say.plural(len(classes), 'class', 'classes')}" if classes else ", which came without labels"
    look = f" {say.plural(len(findings), 'finding')} to look at." if findings else " Nothing is wrong with them."
    return f"{say.plural(numbers['images'], 'image')}{known}.{look}"


def _unlabelled(numbers: dict[str, Any]) -> dict[str, int]:
    return {"not labelled": numbers["unlabelled"]} if numbers["unlabelled"] else {}


def _facts(numbers: dict[str, Any]) -> dict[str, str]:
    def span(three: Sequence[int]) -> str:
        low, middle, high = three
        return f"{low} pixels" if low == high else f"{low} to {high} pixels, half of them up to {middle}"

    def counted(counts: dict[str, int]) -> str:
        return ", ".join(f"{count:,} {name}" for name, count in counts.items())

    pairs = {
        "images": f"{numbers['images']:,}",
        "on disk": show_size(numbers["bytes"]),
        "width": span(numbers["width"]),
        "height": span(numbers["height"]),
        "formats": counted(numbers["formats"]),
        "parts": counted(numbers["splits"]),
        "mean colour": " ".join(f"{value:.2f}" for value in numbers["mean"]),
        "other columns": counted(numbers["columns"]),
    }
    return {name: text for name, text in pairs.items() if text}


def _thumb(uuid: str, index: int, record: dict[str, Any]) -> thumbs.Thumb:
    label = record.get("class", "")
    return thumbs.Thumb(thumbs.address(uuid, index), label or record["file"], record["file"] if label else "")


def _shown(offset: int, count: int, images: int) -> str:
    return f"{offset + 1:,} to {offset + count:,} of {images:,}" if count else ""


def _pages(ref: str, offset: int, images: int) -> None:
    with box("nav", "row", aria_label="Pages of images"):
        if offset:
            link("Earlier images", path("data", ref, offset=str(max(offset - _PAGE, 0))), "button")
        if offset + _PAGE < images:
            link("More images", path("data", ref, offset=str(offset + _PAGE)), "button")
