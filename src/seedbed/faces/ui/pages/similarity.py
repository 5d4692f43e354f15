"""Which data sets are alike: a map of all distances, the same as a table, and a form to compare others."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from nicegui import ui

from seedbed.assets.access.roles import Role
from seedbed.assets.store.events import Event
from seedbed.base.errors import NotFound
from seedbed.faces.ui import heat, theme
from seedbed.faces.ui import starts as tell
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, button, card, link, path, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts.bringing import bring_images
from seedbed.faces.ui.parts.joblist import JobList
from seedbed.faces.ui.site import Visit, page
from seedbed.faces.ui.telling import telling
from seedbed.flows.usecases.similarities import MOST, STEP, Comparable
from seedbed.runtime.jobs.records import Job

_ROW, _HEAD = 46, 130  # pixels of the map
_JOBS = 50
_BRING = "Data sets are compared by their images and classes: bring two with a folder for each class."


@page("/zoo/similarity", role=Role.VIEWER)
async def similarity(visit: Visit, of: str = "") -> None:
    """The newest table, or that of a bundle."""
    ui.add_head_html(theme.zoo_head())
    with frame(visit, "Which data sets are alike", crumbs=[("Starting points", "/zoo")]) as lead:
        shown = SimilarityPage(visit, of, lead.set_text)
        await shown.build()
    visit.site.live.watch(visit.client, visit.by, shown.follow, lambda: shown.moving)


class SimilarityPage:
    """The map, and how it follows the job that makes a new one."""

    def __init__(self, visit: Visit, of: str, answer: Callable[[str], object]) -> None:
        self._visit = visit
        self._of = of
        self._answer = answer
        self._drawn = ""
        self._jobs: list[Job] = []

    @property
    def moving(self) -> bool:
        """Whether data sets are being compared."""
        return bool(self._jobs)

    async def build(self) -> None:
        """Everything, once."""
        known = await self._visit.ask(self._visit.platform.similarities.known)
        self._place = box(classes="stack wide")
        with card("They are being compared") as self._going:
            self._list = JobList([], "", self._visit.by)
        can = [one for one in known if not one.why_not]
        if not can:
            bring_images(self._visit, "There are no data sets to compare", _BRING)
        elif len(can) > 1 and self._visit.by.may(Role.TRAINER):
            self._choose(known)
        await self._show()

    async def follow(self, events: Sequence[Event]) -> None:
        """A new table appears by itself."""
        await self._show()

    async def _show(self) -> None:
        jobs = await self._visit.shared(self._visit.platform.jobs.list, limit=_JOBS)
        self._jobs = [job for job in jobs if job.step == STEP and not job.state.ended]
        self._list.show(self._jobs, jobs)
        self._going.set_visibility(self.moving)
        try:
            found = await self._visit.ask(self._visit.platform.similarities.show, self._of)
        except NotFound:
            if self._of:
                raise
            self._answer("No data sets have been compared yet.")
            return
        if found["bundle"] != self._drawn:
            self._drawn = found["bundle"]
            pairs = [(found["names"][i], found["names"][j], found["distances"][i][j]) for i, j in _pairs(found)]
            self._answer(tell.furthest(pairs))
            self._place.clear()
            with self._place:
                _map(found)

    def _choose(self, known: Sequence[Comparable]) -> None:
        able = [one for one in known if not one.why_not]
        with card("Compare data sets"):
            boxes = {}
            with box(classes="picks"):
                for number, one in enumerate(able):
                    boxes[one.data.uuid] = ui.checkbox(one.data.name, value=number < min(10, MOST))
            missing = [one.why_not for one in known if one.why_not]
            if missing:
                with box("details", "fold"):
                    words(f"{say.plural(len(missing), 'data set')} cannot be compared yet", "summary")
                    for why in missing:
                        words(why, "p", "soft small")

            async def compare() -> None:
                with telling():
                    chosen = [uuid for uuid, one in boxes.items() if one.value]
                    await self._visit.ask(self._visit.platform.similarities.compare, chosen)
                    self._of = ""
                    await self._show()

            with box(classes="row"):
                button("Compare these", compare, "main")


def _pairs(found: dict[str, Any]) -> list[tuple[int, int]]:
    return list(combinations(range(len(found["names"])), 2))


def _map(found: dict[str, Any]) -> None:
    names, distances = found["names"], found["distances"]
    with card("How far apart they are", aside="the greener, the more alike"):
        chart = ui.echart(heat.distance_map(names, distances), renderer="svg").classes("chart heat")
        chart.style(f"height: {_HEAD + _ROW * len(names)}px; max-width: {320 + 110 * len(names)}px")
        chart.props["role"] = "img"
        chart.props["aria-label"] = "Map of distances; the table below it has the same numbers"
        words(
            "A distance is what it takes to turn the images of one data set, with their classes, into those of the "
            "other. Only their order and proportions mean something.",
            "p",
            "soft small",
        )
    with card("The same in numbers"):
        _table(found)


def _table(found: dict[str, Any]) -> None:
    names = found["names"]
    with (
        box(classes="wide-place", tabindex="0", role="region", aria_label="Distances of data sets"),
        box("table", "rows distances"),
    ):
        with box("thead"), box("tr"):
            words("Data set", "th", scope="col")
            words("Images", "th", "right", scope="col")
            for name in names:
                words(name, "th", "right", scope="col", title=name)
        with box("tbody"):
            for down, row in enumerate(found["distances"]):
                with box("tr"):
                    with box("th", scope="row"):
                        uuid = found["data"][down]
                        link(names[down], path("data", uuid)) if uuid else words(names[down], "span")
                    words(f"{found['images'][down]:,}", "td", "number right")
                    for across, value in enumerate(row):
                        words("–" if across == down else heat.shown(value), "td", "number right")
