"""A card of the zoo in words, why it is in memory, and a button that removes it."""

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from seedbed.assets.access.roles import Role
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.zoo.card import UNKNOWN
from seedbed.base.resources import show_size
from seedbed.faces.ui import results
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, button, facts, link, path, words
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import telling

_ASKED = "remove-card"
_CLASSES = 12  # that are named


async def weights(visit: Visit, bundle: Bundle) -> bool:
    """What is known of it, if a card describes it: weights that were only tuned to look at images with have none."""
    named = results.texts(bundle, "card")
    cards = await visit.shared(visit.platform.zoo.cards)
    known = next((one for one in cards if named and one["kept"] and one["name"] == named[0]), None)
    if known is None:
        words("No card describes these weights: no training can be told to start from them.", "p", "soft")
        return False
    if known["bundle"] != bundle.uuid:
        with box(classes="row"):
            words(f"Newer weights have taken the name '{known['name']}'.", "span", "soft")
            link("Look at those", path("bundles", known["bundle"]))
        return False
    shown = await visit.ask(visit.platform.zoo.show, known["name"])
    facts(_in_words(shown))
    if visit.by.may(Role.TRAINER, bundle.project):
        _remove_button(visit, shown["name"])
    return True


def _in_words(shown: Mapping[str, Any]) -> dict[str, str]:
    known = shown["accuracy"] is not None
    told = {
        "network": shown["architecture"],
        "learnt from": shown["trained_on"],
        "images": f"{shown['images']:,}" if shown["images"] else "",
        "classes": _named(shown["classes"]),
        "right in its test": say.percent(round(shown["accuracy"], 3)) if known else "not measured here",
        "licence": shown["licence"],
        "size": show_size(shown["size"]),
        "came from": "" if shown["source"] == UNKNOWN else shown["source"],
        "it began with": shown["lineage"].get("started_from", ""),
        "rankings": "" if shown["comparable"] else "leave it out: nothing is kept of the images that it learnt from",
        "memory": shown["why_in_memory"] or "not there: it is read from disk",
    }
    return {name: text for name, text in told.items() if text}


def _named(classes: list[str]) -> str:
    more = len(classes) - _CLASSES
    return ", ".join([*classes[:_CLASSES], *([f"and {more:,} more"] if more > 0 else [])])


def _remove_button(visit: Visit, name: str) -> None:
    async def remove() -> None:
        with telling():
            await visit.ask(visit.platform.zoo.remove, name)
            ui.navigate.to("/zoo")

    with box(classes="row"):
        button("Remove it from the zoo…", classes="danger", data_opens=_ASKED)
    with box("dialog", id=_ASKED, aria_label=f"Remove {name}"):
        words(f"Remove {name}?", "h2", "wrap")
        words(
            "No training can start from it any more, and the rankings that it stands in go with it. Models that "
            "started from it stay. It cannot be brought back from here.",
            "p",
        )
        with box(classes="actions"):
            words("Leave it", "button", "button", type="button", data_closes="", autofocus="")
            button("Remove it for good", remove, "danger full", data_closes="")
