"""One project as a way in five steps: images, labels, training, results, taking away; what comes next is said first."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from nicegui import ui

from seedbed.assets.access.roles import Role
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.events import Event
from seedbed.faces.ui import theme
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, link, path, table, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts.imagestep import ImageStep
from seedbed.faces.ui.parts.joblist import JobList, newest_first
from seedbed.faces.ui.parts.labelstep import LabelStep
from seedbed.faces.ui.parts.people import ProjectPeople
from seedbed.faces.ui.parts.step import Step, When
from seedbed.faces.ui.parts.trainstep import TrainStep
from seedbed.faces.ui.parts.wishes import wishes_of
from seedbed.faces.ui.results import newest_tests, texts
from seedbed.faces.ui.site import Visit, page
from seedbed.faces.ui.way import answer, right_in_words
from seedbed.flows.usecases.ways import Way
from seedbed.runtime.jobs.states import State

_MODELS, _REPORTS, _SHOWN_JOBS = 10, 50, 12


@page("/projects/{ref}", role=Role.VIEWER)
async def project(visit: Visit, ref: str, labels: str = "") -> None:
    """By id or name; `labels` is an upload with labels that waits for the images."""
    first = await visit.ask(visit.platform.ways.of, ref)
    ui.add_head_html(theme.way_head())
    with frame(visit, first.project.name, crumbs=[("Home", "/")]) as lead:
        shown = ProjectHome(visit, first, lead.set_text, labels)
        await shown.build()
    visit.site.live.watch(visit.client, visit.by, shown.follow, lambda: shown.moving)


class ProjectHome:
    """The steps, and how they follow what happens."""

    def __init__(self, visit: Visit, first: Way, tell: Callable[[str], object], labels: str) -> None:
        self._visit = visit
        self._now = first
        self._tell = tell
        self._labels = labels
        self._looking = asyncio.Lock()

    @property
    def moving(self) -> bool:
        """Whether something goes on that moves without events."""
        return any(State(job.state).active for job in self._now.jobs)

    async def build(self) -> None:
        """Everything, once."""
        project = self._now.project.id
        with box("ol", "way"):
            self._steps = (
                ImageStep(self._visit, project),
                LabelStep(self._visit, project, self._labels),
                TrainStep(self._visit, project, self._look),
                ResultStep(),
                TakeStep(),
            )
        if self._visit.by.may(Role.TRAINER, project):
            wishes_of(self._visit, self._now.project, self._look)
        self._people = ProjectPeople(self._visit, self._now.project) if self._visit.platform.settings.team else None
        with box("details", "fold"):
            words("Everything that was made and done", "summary")
            with box(classes="stack wide"):
                self._models = box(classes="stack")
                self._jobs = JobList([], "No job has run for this project yet.", self._visit.by)
        self._known: tuple[str, ...] | None = None
        await self._show()
        if self._people:
            await self._people.show()

    async def follow(self, events: Sequence[Event]) -> None:
        """Look again where something of this project has happened, or goes on."""
        if self._people:
            await self._people.follow(events)
        if self.moving or any(event.project in ("", self._now.project.id) for event in events):
            await self._look()

    async def _look(self) -> None:
        async with self._looking:  # else an older answer could come after a newer one, and stay
            self._now = await self._visit.ask(self._visit.platform.ways.of, self._now.project.id)
            await self._show()

    async def _show(self) -> None:
        self._tell(answer(self._now))
        for step in self._steps:
            await step.show(self._now)
        self._jobs.show(newest_first(self._now.jobs)[:_SHOWN_JOBS])
        await self._show_models()

    async def _show_models(self) -> None:
        models = await self._find("model", _MODELS)
        reports = await self._find("report", _REPORTS)
        known = tuple(one.uuid for one in (*models, *reports))
        if known != self._known:
            self._known = known
            self._models.clear()
            with self._models:
                _models(models, newest_tests(reports))

    async def _find(self, kind: str, most: int) -> list[Bundle]:
        find, project = self._visit.platform.bundles.find, self._now.project.id
        return await self._visit.shared(find, kind=kind, project=project, all_versions=True, limit=most)


class ResultStep:
    """The fourth step of the way."""

    def __init__(self) -> None:
        self._step = Step("Results", "results")

    async def show(self, now: Way) -> None:
        """How good it is, in one sentence, and the way to the rest."""
        if now.right is None:
            await self._step.show("later", "How good it is, and where it is wrong.", None, _nothing)
            return
        said = right_in_words(now.right)
        known = now.result.model.uuid if now.result else ""
        await self._step.show("done", said, known, lambda: self._draw(now))

    async def _draw(self, now: Way) -> None:
        with box(classes="row"):
            link("Look at the results", path("projects", now.project.id, "results"), "button main")
            link("Label where it is unsure", path("projects", now.project.id, "label", show="unsure"), "button")


class TakeStep:
    """The last step of the way."""

    def __init__(self) -> None:
        self._step = Step("Take away", "take-away")

    async def show(self, now: Way) -> None:
        """What can be had."""
        ready = bool(now.result and now.result.download)
        said = "The model and the labels are ready." if ready else "The model, to use anywhere, and your labels."
        when: When = "done" if ready else "later"
        await self._step.show(when, said, (ready, bool(now.labels)), lambda: self._draw(now, ready=ready))

    async def _draw(self, now: Way, *, ready: bool) -> None:
        if ready or now.labels:
            with box(classes="row"):
                kind = "button main" if ready else "button"
                link(
                    "Take it away, or try it" if ready else "Take the labels away",
                    path("projects", now.project.id, "takeaway"),
                    kind,
                )


async def _nothing() -> None:
    pass


def _models(models: Sequence[Bundle], tests: Mapping[str, tuple[str, float]]) -> None:
    if not models:
        return
    with table(["Model", "Tells apart", "Right in its test", "Made"], "stacked"):
        for model in models:
            with box("tr"):
                with box("td"):
                    link(model.name, path("bundles", model.uuid))
                words(", ".join(texts(model, "classes")), "td", "soft")
                with box("td"):
                    if model.uuid in tests:
                        report, right = tests[model.uuid]
                        link(f"{say.percent(right)}, report", path("bundles", report))
                words(say.ago(model.created, time.time()), "td", "soft")
