"""What trainings can start from: the cards of the zoo, which is nearest, and what is in memory and why."""

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from seedbed.assets.access.roles import Role
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.events import Event
from seedbed.assets.zoo.backbones import network_of
from seedbed.base.resources import show_size
from seedbed.faces.ui import starts as tell
from seedbed.faces.ui import theme
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import Progress, box, button, card, empty, link, path, table, words
from seedbed.faces.ui.layout import ENDINGS, frame
from seedbed.faces.ui.site import Visit, page
from seedbed.faces.ui.telling import say_so, telling
from seedbed.methods.learn.settings import TrainSettings

_SETS, _RANKINGS = 100, 50


@page("/zoo", role=Role.VIEWER)
async def zoo(visit: Visit) -> None:
    """One question at the top: from what can a training start, and what is nearest."""
    ui.add_head_html(theme.zoo_head())
    with frame(visit, "Starting points") as lead:
        shown = ZooPage(visit, lead.set_text)
        await shown.build()
    visit.site.live.watch(visit.client, visit.by, shown.follow)


class ZooPage:
    """What is on the page, drawn anew when a job has ended."""

    def __init__(self, visit: Visit, answer: Any) -> None:
        self._visit = visit
        self._answer = answer

    async def build(self) -> None:
        """Everything, once; forms stay while the rest follows."""
        data = await self._visit.ask(self._visit.platform.data.list, limit=_SETS)
        with box(classes="row"):
            link("Which data sets are alike", "/zoo/similarity", "button")
        self._first = box(classes="stack wide")
        if data and self._visit.by.may(Role.TRAINER):
            _ask(self._visit, data, await self._networks())
        self._rest = box(classes="stack wide")
        await self._show(data)

    async def follow(self, events: Sequence[Event]) -> None:
        """Look again where something has ended."""
        if any(event.kind in ENDINGS for event in events):
            await self._show(await self._visit.ask(self._visit.platform.data.list, limit=_SETS))

    async def _networks(self) -> dict[str, str]:
        """The networks that there are weights of one's own for, by the card that each starts from otherwise."""
        cards = await self._visit.shared(self._visit.platform.zoo.cards)
        kept = [network_of(one["architecture"]) for one in cards if one["kept"]]
        usual = {one["architecture"]: one["name"] for one in cards if not one["kept"]}
        often = sorted(set(kept), key=lambda name: (-kept.count(name), usual.get(name) != TrainSettings().start, name))
        return {usual.get(name, name): name for name in often} or {TrainSettings().start: TrainSettings().start}

    async def _show(self, data: Sequence[Bundle]) -> None:
        zoo = self._visit.platform.zoo
        cards = await self._visit.shared(zoo.cards)
        cache = await self._visit.shared(zoo.cache)
        rankings = await self._visit.shared(zoo.rankings, limit=_RANKINGS)
        here = [one for one in cards if one["on_disk"]]
        newest = data[0].name if data else ""
        told = next((facts for facts in rankings if facts["target"] == newest), rankings[0] if rankings else None)
        self._answer(tell.zoo_in_words(len(here), newest, told))
        self._first.clear()
        with self._first:
            _cards(here, [one for one in cards if not one["on_disk"]])
        self._rest.clear()
        with self._rest:
            _rankings(rankings)
            _cache(cache)


def _cards(here: Sequence[Mapping[str, Any]], absent: Sequence[Mapping[str, Any]]) -> None:
    if not any(one["kept"] for one in here):
        empty(
            "sprout",
            "Nothing of your own yet",
            "Every finished training can become a starting point for those that follow: images that are alike learn "
            "sooner from each other. The page of a model has a button for that; on the command line:",
            "seedbed zoo import MY-TRAINING",
        )
    with card("Weights that are here", aside=say.plural(len(here), "set")):
        _card_table(sorted(here, key=lambda one: (not one["kept"], one["name"])))
        if absent:
            with box("details", "fold"):
                words(f"{len(absent)} more that can be had", "summary")
                with table(["Name", "Network", "How to bring it here"], "stacked"):
                    for one in absent:
                        with box("tr"):
                            words(one["name"], "td", "wrap")
                            words(one["architecture"], "td", "soft")
                            with box("td"):
                                words(one["install"] or "It is fetched when it is first used.", "code")


def _card_table(cards: Sequence[Mapping[str, Any]]) -> None:
    with table(["Name", "Learnt from", "Network", "Right in its test", "Licence", "Size", "In memory"], "stacked"):
        for one in cards:
            with box("tr"):
                with box("td"):
                    link(one["name"], path("bundles", one["bundle"])) if one["bundle"] else words(one["name"], "span")
                images = f", {say.plural(one['images'], 'image')}" if one["images"] else ""
                words(f"{one['trained_on']}{images}", "td", data_label="from")
                words(one["architecture"], "td", "soft keep")
                known = one["accuracy"] is not None
                right = say.percent(round(one["accuracy"], 3)) if known else "not measured here"
                words(right, "td", "number" if known else "soft", data_label="right in its test")
                words(one["licence"], "td", "soft keep", data_label="licence")
                words(show_size(one["size"]), "td", "number", data_label="size")
                with box("td"):
                    words("in memory" if one["in_memory"] else "on disk", "span", "kind" if one["in_memory"] else "tag")


def _ask(visit: Visit, data: Sequence[Bundle], networks: dict[str, str]) -> None:
    """Which data set to find the nearest weights for."""
    with card("What is nearest to a data set?"):
        words(
            "Its images are compared with those behind each set of weights. That takes about half a minute of one "
            "processor, and every training does it by itself before it begins.",
            "p",
            "soft",
        )
        with box(classes="search"):
            chosen = ui.select({one.uuid: one.name for one in data}, value=data[0].uuid, label="Data set")
            network = ui.select(networks, value=next(iter(networks)), label="Network").props("outlined dense")
            chosen.props("outlined dense")

            async def rank() -> None:
                with telling():
                    asked = {"network": str(network.value)}
                    jobs = await visit.ask(visit.platform.zoo.rank, str(chosen.value), **asked)
                    if jobs:
                        ui.navigate.to(path("zoo", "rank", jobs[-1].id))
                    else:
                        say_so("There are no weights of that network to choose from yet: import a training first.")

            button("Compare it with all weights", rank, "main")


def _rankings(rankings: Sequence[Mapping[str, Any]]) -> None:
    if not rankings:
        return
    columns = ["Data set", "Network", "Nearest", "Start from", ""]
    with card("Compared so far", aside="the newest of each data set and network"), table(columns, "stacked"):
        for facts in rankings:
            with box("tr"):
                words(facts["target"], "td", "wrap")
                words(facts["baseline"], "td", "soft wrap", data_label="network")
                near = facts["ranked"][0]["name"] if facts["ranked"] else "nothing could be compared"
                words(near, "td", "wrap", data_label="nearest")
                words(tell.advised(facts["advice"]), "td", "soft", data_label="start from")
                with box("td", "keep"):
                    link("Why", path("zoo", "rank", facts["bundle"]), aria_label=f"Why, for {facts['target']}")


def _cache(cache: Mapping[str, Any]) -> None:
    with card("In memory, and why"):
        words(tell.cache_in_words(cache), "p")
        if cache["entries"]:
            Progress(len(cache["entries"]) / max(cache["slots"], 1), "Places that are taken")
            with table(["Weights", "Why they are kept", "Size", "Used", "Saved"], "stacked"):
                for one in cache["entries"]:
                    with box("tr"):
                        words(one["name"], "td", "wrap")
                        words(one["why"], "td")
                        words(show_size(one["size"]), "td", "number", data_label="size")
                        words(say.plural(one["hits"] + one["misses"], "time"), "td", "number", data_label="used")
                        words(say.duration(one["saved_seconds"]), "td", "number", data_label="saved")
        waiting = {
            name: why for name, why in cache["held"].items() if name not in {e["name"] for e in cache["entries"]}
        }
        for name, why in waiting.items():
            words(f"A place is kept for '{name}': {why}", "p", "soft")
