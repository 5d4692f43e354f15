"""A list of jobs that moves: state, progress, why it waits. Rows change in place, so that nobody loses their focus."""

import time
from collections.abc import Sequence

from nicegui.element import Element

from seedbed.assets.access.roles import Identity
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import Progress, box, link, path, words
from seedbed.flows.naming import step_in_words
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State


class StateBadge:
    """The state as a coloured word."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._element = words(state, "span", f"state {state}")

    def show(self, state: str) -> None:
        """Another state."""
        if state != self._state:
            self._element.classes(remove=self._state, add=state)
            self._element.set_text(state)
            self._state = state


class JobRow:
    """One job in a list."""

    def __init__(self, job: Job, now: float, by: Identity) -> None:
        with box("li", "job"):
            with box():
                link(say.title_of(job), path("jobs", job.id), "name")
                words(_under(job, by), classes="under")
            self._badge = StateBadge(say.state_of(job))
            with box(classes="going"):
                self._bar = Progress(0.0, f"Progress of {say.title_of(job)}")
                self._line = words("", classes="under")
            self._when = words("", classes="when")
        self.show(job, now)

    def show(self, job: Job, now: float) -> None:
        """Bring it up to date."""
        self._badge.show(say.state_of(job))
        moving = State(job.state).active
        self._bar.element.set_visibility(moving)
        if moving:
            self._bar.move(say.share_of(job))
        self._line.set_text(say.progress_of(job, now))
        self._when.set_text(say.ago(job.ended or job.submitted, now))


class JobList:
    """Jobs below each other."""

    def __init__(self, jobs: Sequence[Job], nothing: str, by: Identity, beside: Sequence[Job] = ()) -> None:
        self._nothing = nothing
        self._by = by
        self._place: Element = box("ul", "jobs")
        self._rows: dict[str, JobRow] = {}
        self._drawn: list[str] | None = None
        self.show(jobs, beside)

    def show(self, jobs: Sequence[Job], beside: Sequence[Job] = ()) -> None:
        """Bring the list up to date; jobs `beside` it may be named in reasons."""
        now, ids = time.time(), [job.id for job in jobs]
        names = say.names_of((*beside, *jobs))
        jobs = [say.with_names(job, names) for job in jobs]
        if ids == self._drawn:
            for job in jobs:
                self._rows[job.id].show(job, now)
            return
        self._drawn = ids
        self._place.clear()
        with self._place:
            self._rows = {job.id: JobRow(job, now, self._by) for job in jobs}
            if not jobs:
                words(self._nothing, "li", "soft")


def newest_first(jobs: Sequence[Job]) -> list[Job]:
    """The jobs of a flow are submitted in the same moment: of those the ones that come last in it are the newest."""
    return sorted(jobs, key=lambda job: (-job.submitted, -job.position))


def _under(job: Job, by: Identity) -> str:
    kind = "trial and error" if job.cls == "te" else "best effort"
    does = step_in_words(job.step) if say.title_of(job) == job.name else ""  # else its title says that
    return " · ".join(part for part in (does, kind, say.owner_of(job, by)) if part)
