"""What people are told when their work has ended: in a project in the words of its way, else by the job's name."""

from dataclasses import dataclass

from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import path
from seedbed.flows.naming import step_in_words
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

# of a project's work only the ends that mean something to its expert; the rest stands on the project's page
_TOLD = {
    "ingest": ("The images of {} are in.", ""),
    "group": ("Alike images of {} are put together: whole groups can be labelled now.", "label"),
    "evaluate": ("{} has learnt, and was tested.", "results"),
}
_PARTS = dict.fromkeys(("sample-labels", "evaluate", "label-all", "export"), "train")  # of what its expert began
_OF_A_PROJECT = {"ingest", "decode", "embed", "group", "train", *_PARTS}


@dataclass(frozen=True)
class News:
    """A sentence, and where to look."""

    text: str
    href: str


def news_of(job: Job, project: str) -> News | None:
    """What to tell of a job that has ended; `project` is the name of its project. None: nothing that matters."""
    if project and job.step == "signature":
        return None  # a part of something else, which goes on without it where it fails
    if not project or job.step not in _OF_A_PROJECT:
        return News(say.ending_of(job), path("jobs", job.id))
    home = ("projects", job.project)
    if job.state is State.DONE:
        text, page = _TOLD.get(job.step, ("", ""))
        return News(text.format(project), path(*home, *([page] if page else []))) if text else None
    if job.fell_with:
        return None  # the one that it needs was told already
    how = "was ended" if job.state is State.CANCELLED else "did not work out"
    what = step_in_words(_PARTS.get(job.step, job.step), project)
    return News(f"{what} {how}. {say.sentence(job.reason)}".strip(), path(*home))
