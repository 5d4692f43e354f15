"""Labels that may be slips: kept or changed with one click each; and images on which people disagree."""

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.labels import LabelEvent
from seedbed.assets.projects.projects import Project
from seedbed.base.errors import SeedbedError
from seedbed.base.ids import new_id
from seedbed.faces.ui import theme
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, button, card, empty, link, path, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.site import Visit, page
from seedbed.faces.ui.telling import telling
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.labelling import Doubt

_MOST = 24
_SUSPECT = 1 / 3  # of all labels: where more than that look wrong, it is the few labels that tell too little


@page("/projects/{ref}/review", role=Role.LABELLER)
async def review(visit: Visit, ref: str) -> None:
    """The likeliest slips first."""
    project = await visit.ask(visit.platform.projects.get, ref)
    ui.add_head_html(theme.way_head())
    home = path("projects", project.id)
    with frame(visit, "Review labels", crumbs=[("Home", "/"), (project.name, home)]) as lead:
        shown = Review(visit, project, lead.set_text)
        shown.build()
    ui.timer(0.05, shown.fill, once=True)  # it takes a moment to find them: the page is there before


class Review:
    """What is on the page."""

    def __init__(self, visit: Visit, project: Project, tell: Callable[[str], object]) -> None:
        self._visit = visit
        self._project = project
        self._tell = tell
        self._left = 0

    def build(self) -> None:
        """An empty place."""
        self._tell("Looking for labels that may be slips …")
        self._place = box(classes="stack wide")

    async def fill(self) -> None:
        """Find them."""
        try:
            found = await self._visit.ask(lambda *, by: doubts(self._visit.platform, self._project.id, by))
        except SeedbedError as error:
            self._tell(str(error))
            return
        self._left = len(found)
        self._count()
        with self._place:
            if not found:
                with empty("sprout", "Nothing to review", "No label looks like a slip. More labels help most now."):
                    link("Label where it is unsure", self._label("unsure"), "button main")
                return
            with card("May be slips", aside="the likeliest first"), box(classes="reviews"):
                for doubt in found[:_MOST]:
                    self._one(doubt)
            with box(classes="row"):
                link("Review them on the labelling page", self._label("mistakes"), "button")

    def _label(self, show: str) -> str:
        return path("projects", self._project.id, "label", show=show)

    def _count(self) -> None:
        if self._left > 0:
            what = say.plural(self._left, "label looks", "labels look")
            self._tell(
                f"{what} as if it might be a slip. Keep it, or change it."
                if self._left == 1
                else f"{what} as if they might be slips. Keep each, or change it."
            )
        else:
            self._tell("Nothing is left to review here.")

    def _one(self, doubt: Doubt) -> None:
        with box(classes="review") as place:
            box("img", src=thumbs.address(self._project.data, doubt.index, 384), alt="", loading="lazy")
            with box(classes="body"):
                words(f"Labelled {doubt.given}", "b")
                words(f"It looks more like {doubt.likely}.", "p", "soft")
                with box(classes="row"):
                    button(f"Change to {doubt.likely}", partial(self._say, place, doubt, doubt.likely), "main")
                    button(f"Keep {doubt.given}", partial(self._say, place, doubt, doubt.given))

    async def _say(self, place: Any, doubt: Doubt, label: str) -> None:
        with telling():
            await self._visit.ask(lambda *, by: _label(self._visit.platform, self._project, doubt.index, label, by))
            place.classes("settled")
            place.clear()
            with place, box(classes="body"):
                words(f"It is {label}.", "b")
            self._left -= 1
            self._count()


def doubts(platform: Platform, project: str, by: Identity) -> list[Doubt]:
    """The likely slips, without those that somebody has looked at again and kept."""
    found = platform.labelling.mistakes(project, by=by)
    labels = sum(platform.projects.counts(project, by=by).values())
    if not found or len(found) > _SUSPECT * labels:
        return []
    data = platform.projects.get(project, by=by).data
    kept = confirmed(platform, project, by)
    images = {one.index: platform.data.records(data, offset=one.index, limit=1, by=by)[0] for one in found[: 4 * _MOST]}
    return [one for one in found[: 4 * _MOST] if not {images[one.index]["id"], images[one.index]["file"]} & kept]


def confirmed(platform: Platform, project: str, by: Identity) -> set[str]:
    """Images of which the same was said twice in a row: somebody looked again and meant it."""
    last: dict[str, str] = {}
    twice: set[str] = set()
    for event in platform.projects.history(project, by=by):
        (twice.add if event.label and last.get(event.image) == event.label else twice.discard)(event.image)
        last[event.image] = event.label
    return twice


def _label(platform: Platform, project: Project, index: int, label: str, by: Identity) -> None:
    (record,) = platform.data.records(project.data, offset=index, limit=1, by=by)
    known = platform.projects.labels(project.id, by=by)
    image = record["file"] if record["file"] in known else record["id"]
    platform.projects.add_labels(project.id, [LabelEvent(new_id(), image, label, "")], by=by)
