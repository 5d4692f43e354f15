"""The first page: what is going on, the projects, and what to do next."""

from collections.abc import Sequence

from seedbed.assets.access.roles import Role
from seedbed.assets.projects.projects import Project
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.events import Event
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, card, empty, link, path, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.parts.datatile import data_tile
from seedbed.faces.ui.parts.joblist import JobList
from seedbed.faces.ui.site import Visit, page
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

_RECENT = 8


@page("/", role=Role.VIEWER)
async def home(visit: Visit) -> None:
    """Projects, data sets and recent jobs."""
    jobs = await visit.shared(visit.platform.jobs.list, limit=_RECENT)
    projects = await visit.ask(visit.platform.projects.list)
    data = await visit.ask(visit.platform.data.list, limit=6)
    with frame(visit, "Home") as lead:
        lead.set_text(_lead(jobs, projects, data))
        if not jobs and not projects and not data:
            _begin()
        if projects:
            await _projects(visit, projects)
        if data:
            _data(data)
        with card("Recent jobs") as recent:
            listed = JobList(jobs, "No job has run yet.", visit.by)
            with box(classes="row"):
                link("Everything in the queue", "/queue")
        recent.set_visibility(bool(jobs or projects or data))

    async def refresh(_: Sequence[Event]) -> None:
        found = await visit.shared(visit.platform.jobs.list, limit=_RECENT)
        moving[:] = [job for job in found if State(job.state).active]
        lead.set_text(_lead(found, projects, data))
        listed.show(found)
        recent.set_visibility(bool(found or projects or data))

    moving: list[Job] = [job for job in jobs if State(job.state).active]
    visit.site.live.watch(visit.client, visit.by, refresh, lambda: bool(moving))


def _lead(jobs: Sequence[Job], projects: Sequence[Project], data: Sequence[Bundle]) -> str:
    if not jobs and not projects and not data:
        return "Nothing is here yet. Bring a folder of images, label a few, and let Seedbed train with the rest."
    active = sum(State(job.state).active for job in jobs)
    waiting = sum(job.state == State.WAITING for job in jobs)
    going = [say.plural(active, "job is", "jobs are") + " running"] if active else []
    going += [say.plural(waiting, "waits", "wait")] if waiting else []
    have = [say.plural(len(projects), "project")] if projects else []
    have += [say.plural(len(data), "data set")] if data else []
    now = " and ".join(going) if going else "Nothing is running now"
    return f"{now}; you have {' and '.join(have)}." if have else f"{now}."


def _begin() -> None:
    with empty("sprout", "Begin with a folder of images", "On the command line, in any folder of images:"):
        words("seedbed data add IMAGES --name my-images", "code")
        words(
            "Or look around first with a small data set of crop leaves, which is labelled, trained and evaluated:", "p"
        )
        words("seedbed demo", "code")


async def _projects(visit: Visit, projects: Sequence[Project]) -> None:
    words("Projects", "h2")
    with box(classes="tiles"):
        for project in projects:
            labels = await visit.ask(visit.platform.projects.labels, project.id)
            classes = await visit.ask(visit.platform.projects.classes, project.id)
            with box("a", "card tile", href=path("projects", project.id)):
                if project.data:
                    thumbs.strip(project.data, 4)
                words(project.name, "h3")
                words(
                    f"{say.plural(len(labels), 'label')} in {say.plural(len(classes), 'class', 'classes')}", "p", "soft"
                )


def _data(data: Sequence[Bundle]) -> None:
    words("Data sets", "h2")
    with box(classes="tiles"):
        for bundle in data:
            data_tile(bundle)
