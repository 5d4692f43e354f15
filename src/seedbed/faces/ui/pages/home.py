"""The first page: what is going on, the projects, and what to do next."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.projects import Project
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.events import Event
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, card, empty, link, path, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.parts.datatile import data_tile
from seedbed.faces.ui.parts.joblist import JobList, newest_first
from seedbed.faces.ui.site import Visit, page
from seedbed.faces.ui.way import stands_in_words
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

_RECENT = 8
_SETS, _SHOWN_SETS = 50, 6  # those that are looked at, and shown: the images of a project stand in its tile
_NEWS = ("project.", "bundle.", "label.", "job.")


@page("/", role=Role.VIEWER)
async def home(visit: Visit) -> None:
    """Projects, data sets and recent jobs."""
    with frame(visit, "Home") as lead:
        shown = Home(visit, lead.set_text)
        await shown.build()
    visit.site.live.watch(visit.client, visit.by, shown.refresh, lambda: shown.moving)


class Home:
    """What is on the page, and how it follows what happens."""

    def __init__(self, visit: Visit, answer: Callable[[str], object]) -> None:
        self._visit = visit
        self._answer = answer
        self._jobs: list[Job] = []
        self._projects: list[Project] = []
        self._data: list[Bundle] = []
        self._may_begin = visit.by.may(Role.TRAINER)
        self._drawn: tuple[bool, list[Tile], list[str]] | None = None

    @property
    def moving(self) -> bool:
        """Whether a job that is listed goes on."""
        return any(job.state.active for job in self._jobs)

    async def build(self) -> None:
        """Everything, once."""
        self._things = box(classes="stack wide")
        with card("Recent jobs") as self._recent:
            self._list = JobList([], "No job has run yet.", self._visit.by)
            with box(classes="row"):
                link("Everything in the queue", "/queue")
        await self._look()
        await self._show_jobs()

    async def refresh(self, events: Sequence[Event]) -> None:
        """Bring the page up to date."""
        if any(event.kind.startswith(_NEWS) for event in events):
            await self._look()
        await self._show_jobs()

    async def _show_jobs(self) -> None:
        self._jobs = await self._visit.shared(self._visit.platform.jobs.list, limit=_RECENT)
        self._list.show(newest_first(self._jobs))
        self._recent.set_visibility(bool(self._jobs))
        self._answer(self._lead())

    async def _look(self) -> None:
        """Draw projects and data sets anew, where they have changed."""
        platform = self._visit.platform
        projects = await self._visit.shared(platform.projects.list)
        listed = await self._visit.shared(platform.data.list, limit=_SETS)
        in_tiles = {project.data for project in projects}
        data = [bundle for bundle in listed if bundle.uuid not in in_tiles][:_SHOWN_SETS]
        tiles = await self._visit.ask(lambda *, by: [_tile(platform, project, by) for project in projects])
        self._may_begin = (await self._visit.person()).may(Role.TRAINER)
        drawn = (self._may_begin, tiles, [bundle.uuid for bundle in data])
        if drawn == self._drawn:
            return
        self._drawn, self._projects, self._data = drawn, projects, data
        self._things.clear()
        with self._things:
            if tiles:
                _shown_projects(tiles, may_begin=self._may_begin)
            else:
                _begin() if self._may_begin else _wait_for_somebody()
            if data:
                _shown_data(data)

    def _lead(self) -> str:
        if self._jobs or self._projects or self._data:
            return _going_on(self._jobs, self._projects, self._data)
        if self._may_begin:
            return "Nothing is here yet. Bring a folder of images, label a few, and let Seedbed train with the rest."
        return "Nothing is here for you yet."


def _going_on(jobs: Sequence[Job], projects: Sequence[Project], data: Sequence[Bundle]) -> str:
    active = sum(State(job.state).active for job in jobs)
    waiting = sum(job.state == State.WAITING for job in jobs)
    going = [say.plural(active, "job is", "jobs are") + " running"] if active else []
    going += [say.plural(waiting, "waits", "wait")] if waiting else []
    have = [say.plural(len(projects), "project")] if projects else []
    have += [say.plural(len(data), "data set")] if data else []
    now = " and ".join(going) if going else "Nothing is running now"
    return f"{now}; you have {' and '.join(have)}." if have else f"{now}."


def _begin() -> None:
    with empty("sprout", "Begin with a folder of images", "Drop it on the page, say what can be seen, label a few."):
        link("Begin a project", "/new", "button main big")
        words("Or look around first with leaves that are drawn, labelled, trained and tested by themselves:", "p")
        words("seedbed demo", "code")


def _wait_for_somebody() -> None:
    text = "Ask somebody who runs a project to let you in. It appears here by itself then, and you are told."
    empty("people", "You are in no project yet", text)


@dataclass(frozen=True)
class Tile:
    """A project in short."""

    id: str
    name: str
    data: str
    under: str


def _tile(platform: Platform, project: Project, by: Identity) -> Tile:
    labels = sum(platform.projects.counts(project.id, by=by).values())
    classes = platform.projects.classes(project.id, by=by)
    result = platform.results.of(project.id, by=by)
    stands = stands_in_words(platform.trainings.of(project.id, by=by).stage, result.right if result else None)
    under = f"{say.plural(labels, 'label')} in {say.plural(len(classes), 'class', 'classes')}"
    if not project.data and not labels:
        under = "no images yet"
    return Tile(project.id, project.name, project.data, f"{under} · {stands}" if stands else under)


def _shown_projects(tiles: Sequence[Tile], *, may_begin: bool) -> None:
    with box("section", "stack"):
        with box(classes="row"):
            words("Projects", "h2")
            if may_begin:
                link("New project", "/new", "button")
        with box(classes="tiles"):
            for tile in tiles:
                with box("a", "card tile", href=path("projects", tile.id)):
                    if tile.data:
                        thumbs.strip(tile.data, 4)
                    words(tile.name, "h3")
                    words(tile.under, "p", "soft")


def _shown_data(data: Sequence[Bundle]) -> None:
    with box("section", "stack"):
        words("Data sets", "h2")
        with box(classes="tiles"):
            for bundle in data:
                data_tile(bundle)
