"""What a training started from, and why: on its own page, and in plain words on that of its project."""

from seedbed.base.errors import NotFound
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, card, link, path, words
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.starts import begun_in_words, called
from seedbed.flows.starting import TRAIN
from seedbed.flows.usecases.starts import StartedFrom
from seedbed.runtime.jobs.records import Job


class StartedPart:
    """A card on a job's page; there is none for jobs that are no trainings."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        with card("What it starts from") as self._card:
            self._place = box(classes="stack")

    async def show(self, job: Job) -> None:
        """Draw what is known now."""
        started = await _started(self._visit, job.id) if job.step == TRAIN else None
        self._card.set_visibility(started is not None)
        self._place.clear()
        if started:
            with self._place:
                if started.card:
                    name = "Scratch" if started.card == "scratch" else called(started.card)
                    words(name[:1].upper() + name[1:], "p", "answer")
                words(say.sentence(started.reason), "p", "soft")
                _why(started)


async def started_line(visit: Visit, job_id: str) -> None:
    """A sentence within a step of a project's way."""
    if started := await _started(visit, job_id):
        with box(classes="row started"):
            words(say.sentence(started.reason) if started.unproven else begun_in_words(started), "span", "soft")
            _why(started)


async def _started(visit: Visit, job_id: str) -> StartedFrom | None:
    try:
        return await visit.ask(visit.platform.zoo.start_of, job_id)
    except NotFound:
        return None


def _why(started: StartedFrom) -> None:
    if started.ranking:
        about = "How near it is, with images side by side" if started.told else "Why, with images side by side"
        link(about, path("zoo", "rank", started.ranking))
