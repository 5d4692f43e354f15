"""Labels that may be slips, kept or changed with one click each; and how people agree who labelled the same."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from seedbed.assets.access.roles import Role
from seedbed.assets.projects.projects import Project
from seedbed.base.errors import SeedbedError
from seedbed.faces.ui import theme
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, button, card, empty, link, path, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.site import Visit, page
from seedbed.faces.ui.telling import telling
from seedbed.flows.quality import Agreed, Checked, Quality
from seedbed.flows.usecases.labelling import Doubt

_MOST = 24


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
        projects, labelling = self._visit.platform.projects, self._visit.platform.labelling
        if not any((await self._visit.ask(projects.counts, self._project.id)).values()):
            self._unlabelled()
            return
        try:
            found = await self._visit.ask(labelling.slips, self._project.id)
            hard = 0 if found else await self._visit.ask(labelling.hard_to_tell, self._project.id)
        except SeedbedError as error:
            self._tell(str(error))
            return
        self._left = len(found)
        self._count()
        with self._place:
            self._slips(found) if found else self._none(hard)
        quality = await self._visit.ask(projects.quality, self._project.id)
        apart = await self._visit.ask(projects.disagreements, self._project.id)
        with self._place:
            self._people(quality, len(apart))

    def _slips(self, found: Sequence[Doubt]) -> None:
        with card("May be slips", aside="the likeliest first"), box(classes="reviews"):
            for doubt in found[:_MOST]:
                self._one(doubt)
        with box(classes="row"):
            link("Review them on the labelling page", self._label("mistakes"), "button")

    def _unlabelled(self) -> None:
        self._tell("There are no labels to review yet.")
        with self._place, empty("sprout", "Label a few images first", "Labels that may be slips are named here then."):
            link("Begin to label", path("projects", self._project.id, "label"), "button main")

    def _none(self, hard: int) -> None:
        """Where many labels can be doubted, none is called a slip: the classes are hard to tell apart so far."""
        if hard:
            self._tell("Slips cannot be told yet: many images look like those of another class.")
        why = f"{hard} labels would be doubted; few of them can be wrong." if hard else "No label looks like a slip."
        with empty("sprout", "Nothing to review", f"{why} More labels help most now."):
            link("Label where it is unsure", self._label("unsure"), "button main")

    def _people(self, quality: Quality, apart: int) -> None:
        """How people agree, where several labelled the same images, and how they do where the answer is known."""
        if quality.pairs:
            with card("Where several people labelled"):
                _sentences(quality.pairs)
                if apart:
                    with box(classes="row"):
                        images = say.plural(apart, "image", "images")
                        link(f"Look at {images} they see differently", self._label("disagreements"), "button")
        if quality.checks:
            with card("Checks", aside=f"among {say.plural(quality.golden, 'image')} whose answer is known"):
                _sentences(quality.checks)

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
            label_row, project = self._visit.platform.projects.label_row, self._project
            await self._visit.ask(label_row, project.id, doubt.index, label, data=project.data)
            place.classes("settled")
            place.clear()
            with place, box(classes="body"):
                words(f"It is {label}.", "b")
            self._left -= 1
            self._count()


def _sentences(told: Sequence[Agreed] | Sequence[Checked]) -> None:
    for one in told:
        words(one.sentence, "p")
