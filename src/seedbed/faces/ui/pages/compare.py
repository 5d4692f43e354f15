"""Learning curves of several jobs laid over each other."""

from collections.abc import Sequence

from fastapi import Query
from nicegui.elements.mixins.text_element import TextElement

from seedbed.assets.access.roles import Role
from seedbed.assets.store.events import Event
from seedbed.base.errors import NotFound
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, card, empty, link, path, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts.curves import Curves, Metrics, of_several
from seedbed.faces.ui.site import Visit, page
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

_MOST = 8  # as many as there are colours
_CHOICE = 40


@page("/compare", role=Role.VIEWER)
async def compare(visit: Visit, jobs: str = "", pick: list[str] = Query([])) -> None:
    """`?jobs=a,b`, or `?pick=a&pick=b` as the form sends it."""
    wanted = list(dict.fromkeys(part.strip() for part in [*jobs.split(","), *pick] if part.strip()))[:_MOST]
    chosen, missing = await _chosen(visit, wanted)
    recent = await visit.ask(visit.platform.jobs.list, curves=True, limit=_CHOICE)
    offered = [*(job for job in chosen if job.id not in {one.id for one in recent}), *recent]
    with frame(visit, "Compare", crumbs=[("Queue", "/queue")]) as lead:
        lead.set_text(_lead(chosen, offered))
        if missing:
            words(f"Not found, or not yours to see: {', '.join(missing)}.", "p", "note warn")
        with card("Learning curves") as place:
            curves = Curves()
            without = words("", "p", "note")
            with box("ul", "made"):
                for title, one in _titles(chosen):
                    with box("li"):
                        link(title, path("jobs", one.id))
        place.set_visibility(bool(chosen))
        _choose(offered, chosen)
    shown = Comparison(visit, chosen, curves, without)
    await shown.refresh([])
    visit.site.live.watch(visit.client, visit.by, shown.refresh, lambda: shown.moving)


class Comparison:
    """The jobs that are laid over each other, and their curves."""

    def __init__(self, visit: Visit, jobs: Sequence[Job], curves: Curves, without: TextElement) -> None:
        self._visit = visit
        self._jobs = list(jobs)
        self._curves = curves
        self._without = without

    @property
    def moving(self) -> bool:
        """Whether any of them still learns."""
        return any(not State(job.state).ended for job in self._jobs)

    async def refresh(self, _: Sequence[Event]) -> None:
        """Draw what is known now."""
        lines: list[tuple[str, Metrics]] = []
        for title, job in _titles(self._jobs):
            lines.append((title, await self._visit.shared(self._visit.platform.jobs.metrics, job.id)))
        self._curves.show(of_several(lines))
        flat = [title for title, metrics in lines if not any(len(points) > 1 for points in metrics.values())]
        self._without.set_text(f"Without a learning curve so far: {', '.join(flat)}.")
        self._without.set_visibility(bool(flat))
        if self.moving:
            self._jobs = [await self._visit.shared(self._visit.platform.jobs.get, job.id) for job in self._jobs]


async def _chosen(visit: Visit, wanted: Sequence[str]) -> tuple[list[Job], list[str]]:
    found, missing = [], []
    for job_id in wanted:
        try:
            found.append(await visit.ask(visit.platform.jobs.get, job_id))
        except NotFound:
            missing.append(job_id)
    return found, missing


def _titles(jobs: Sequence[Job]) -> list[tuple[str, Job]]:
    """A name for each line; jobs of the same name are told apart by the beginning of their ids' random part."""
    names = [say.title_of(job) for job in jobs]
    return [
        (f"{name} ({job.id[-4:]})" if names.count(name) > 1 else name, job)
        for name, job in zip(names, jobs, strict=True)
    ]


def _lead(jobs: Sequence[Job], offered: Sequence[Job]) -> str:
    if not offered:
        return "There is nothing to compare yet."
    if not jobs:
        return "Choose the jobs whose curves you want to lay over each other."
    return (
        f"{say.plural(len(jobs), 'job')} on the same axes: each measure has its own picture, each job its own colour."
    )


def _choose(offered: Sequence[Job], chosen: Sequence[Job]) -> None:
    if not offered:
        empty("queue", "No job has a learning curve yet", "Trainings draw one while they learn: they appear here then.")
        return
    ids = {job.id for job in chosen}
    with card("Which jobs?"), box("form", "stack", method="get", action="/compare"):
        words("The newest that have learning curves; work that measures nothing on its way is not here.", "p", "soft")
        with box("ul", "stack tight"):
            for job in offered:
                marks = {"checked": ""} if job.id in ids else {}
                with box("li"), box("label", "check tall"):
                    box("input", type="checkbox", name="pick", value=job.id, **marks)
                    with box("span"):
                        words(say.title_of(job), classes="wrap")
                        words(f"{job.step} · {say.state_of(job)} · {say.moment(job.submitted)}", classes="small soft")
        with box(classes="row"):
            words("Lay these over each other", "button", "button main", type="submit")
