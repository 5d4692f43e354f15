"""The queue: what runs, what waits and why, what ended lately."""

from collections.abc import Sequence
from dataclasses import dataclass

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.store.events import Event
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, card, link
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts.joblist import JobList
from seedbed.faces.ui.site import Visit, page
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

_MOST, _LATELY = 200, 15


@dataclass(frozen=True)
class Standing:
    """The queue at one moment."""

    running: list[Job]
    waiting: list[Job]
    ended: list[Job]

    @property
    def sentence(self) -> str:
        """The answer at the top."""
        if not self.running and not self.waiting:
            return "Nothing runs and nothing waits."
        running = say.plural(len(self.running), "job is running", "jobs are running")
        waiting = say.plural(len(self.waiting), "waits", "wait") if self.waiting else "none waits"
        return f"{running}, {waiting}."


def standing(platform: Platform, by: Identity) -> Standing:
    """Ask for all of it at once."""
    active = [job for state in State if state.active for job in platform.jobs.list(by=by, state=state, limit=_MOST)]
    waiting = platform.jobs.list(by=by, state=State.WAITING, limit=_MOST)
    lately = [
        job for job in platform.jobs.list(by=by, limit=_LATELY + len(active) + len(waiting)) if State(job.state).ended
    ]
    return Standing(
        running=sorted(active, key=lambda job: job.started, reverse=True),
        waiting=sorted(waiting, key=lambda job: job.position),
        ended=lately[:_LATELY],
    )


@page("/queue", role=Role.VIEWER)
async def queue(visit: Visit) -> None:
    """Live, without reloading."""

    async def now() -> Standing:
        found: Standing = await visit.site.live.shared(
            (visit.by.id, "queue"), lambda: standing(visit.platform, visit.by)
        )
        return found

    first = await now()
    with frame(visit, "Queue") as lead:
        with card("Running"):
            running = JobList(first.running, "Nothing is running.", visit.by)
        with card("Waiting", aside="in the order in which they start"):
            waiting = JobList(
                first.waiting, "Nothing waits: a new job starts at once if it fits.", visit.by, first.running
            )
        with card("Ended lately"):
            ended = JobList(first.ended, "Nothing has run yet: trainings and other work appear here.", visit.by)
            with box(classes="row") as compare:
                link("Compare learning curves", "/compare")
            compare.set_visibility(bool(first.ended))
        lead.set_text(first.sentence)

    async def refresh(_: Sequence[Event]) -> None:
        found = await now()
        moving[0] = bool(found.running)
        lead.set_text(found.sentence)
        running.show(found.running)
        waiting.show(found.waiting, found.running)
        ended.show(found.ended)
        compare.set_visibility(bool(found.ended))

    moving = [bool(first.running)]
    visit.site.live.watch(visit.client, visit.by, refresh, lambda: moving[0])
