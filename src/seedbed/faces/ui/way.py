"""Where a project stands on its way from images to a model, and what its expert is told: facts in, sentences out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seedbed.assets.access.roles import Identity
from seedbed.assets.projects.classes import Class
from seedbed.assets.projects.projects import Project
from seedbed.assets.store.bundle import Bundle
from seedbed.base.errors import NotFound
from seedbed.faces.ui.results import images_of, scalar
from seedbed.faces.ui.words import percent, plural, sentence
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.grouping import Alike
from seedbed.flows.usecases.outcomes import Outcome
from seedbed.flows.usecases.trainings import Training
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

_JOBS = 40
LEAST = 2  # labels of a class: one to learn from, one to test with


@dataclass(frozen=True)
class Standing:
    """All that the project's page says, looked up at once. `coming`: images that are being checked, or were refused."""

    project: Project
    classes: Sequence[Class]
    counts: Mapping[str, int]
    data: Bundle | None
    coming: Job | None
    alike: Alike  # how far the grouping of alike images is
    training: Training
    outcome: Outcome | None
    jobs: Sequence[Job]

    @property
    def labels(self) -> int:
        """How many images have a label."""
        return sum(self.counts.values())

    @property
    def images(self) -> int:
        """How many there are."""
        return images_of(self.data) if self.data else 0

    @property
    def right(self) -> float | None:
        """The share of its test images that the newest model names rightly."""
        found = scalar(self.outcome.report, "accuracy") if self.outcome and self.outcome.report else None
        return float(found) if found is not None else None

    @property
    def missing(self) -> dict[str, int]:
        """Class to the labels that it lacks of its number; the class for everything else lacks none."""
        goal = self.project.settings.goal
        short = {one.name: goal - self.counts.get(one.name, 0) for one in self.classes if not one.other}
        return {name: count for name, count in short.items() if count > 0}

    @property
    def gaps(self) -> list[str]:
        """Classes that have too few labels to train with at all."""
        return [one.name for one in self.classes if not one.other and self.counts.get(one.name, 0) < LEAST]


def look(platform: Platform, ref: str, *, by: Identity) -> Standing:
    """Look everything up."""
    project = platform.projects.get(ref, by=by)
    board = platform.labelling.board(project.id, by=by)
    data = _data(platform, project.data, by)
    jobs = platform.jobs.list(project=project.id, limit=_JOBS, by=by)
    return Standing(
        project,
        [one for one, _ in board.classes],
        {one.name: count for one, count in board.classes},
        data,
        coming_of(jobs, data),
        board.alike,
        platform.trainings.of(project.id, by=by),
        platform.outcomes.of(project.id, by=by),
        jobs,
    )


def _data(platform: Platform, uuid: str, by: Identity) -> Bundle | None:
    try:
        return platform.bundles.show(uuid, by=by) if uuid else None
    except NotFound:
        return None


def coming_of(jobs: Sequence[Job], data: Bundle | None) -> Job | None:
    """The newest job that brings images, where it is not over, or was refused since the images came; newest first."""
    newest = next((job for job in jobs if job.step == "ingest"), None)
    if newest is None or newest.state is State.DONE:
        return None
    if newest.state.ended and data is not None and data.created > newest.submitted:
        return None
    return newest


def answer(standing: Standing) -> str:
    """The sentence at the top: what to do next."""
    if standing.coming and not standing.coming.state.ended:
        return "The images are being checked. You can begin to label as soon as they are in."
    if standing.data is None:
        return "It begins with the images: drop a folder of them below."
    if standing.training.open:
        return standing.training.sentence
    if standing.right is not None:
        more = f" {plural(standing.labels, 'label')} so far; one more round helps most where it is unsure."
        return f"It names {percent(round(standing.right, 3))} of the images that it had not seen correctly.{more}"
    if not standing.labels:
        return "The images are in. Now say of a few of them what they show."
    return labels_in_words(standing)


def labels_in_words(standing: Standing) -> str:
    """How many labels there are, and what is missing."""
    have = "has a label" if standing.labels == 1 else "have labels"
    said = f"{standing.labels:,} of {plural(standing.images, 'image')} {have}"
    if len([one for one in standing.classes if not one.other]) < 2:
        return f"{said}. Name at least two classes, so that there is something to tell apart."
    if not (missing := standing.missing):
        return f"{said}; every class has its {standing.project.settings.goal}. It can learn now."
    names = list(missing)
    few = f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"
    could = "" if standing.gaps else " You can train already; it gets better with more."
    return f"{said}. {plural(sum(missing.values()), 'more is wanted', 'more are wanted')}: {few}.{could}"


def images_in_words(standing: Standing) -> str:
    """What is known of the images."""
    job = standing.coming
    if job and not job.state.ended:
        how = f"{job.step_now:,} of {job.step_total:,} so far" if job.step_total > 0 else "they are next"
        return f"They are being read and checked: {how}."
    if job:
        return f"They could not be brought in. {sentence(job.reason)}"
    if standing.data is None:
        return "No images yet."
    findings = int(scalar(standing.data, "findings") or 0)
    look = f"{plural(findings, 'thing')} to look at" if findings else "nothing is wrong with them"
    return f"{plural(standing.images, 'image')} {'is' if standing.images == 1 else 'are'} in; {look}."


def grouping_in_words(standing: Standing) -> str:
    """How far the grouping is; '' where there is nothing to say."""
    match standing.alike.stage:
        case "running" | "waiting":
            return (
                "Alike images are being put together in the background. You can label meanwhile; it gets easier after."
            )
        case "ready":
            return "Alike images are put together: whole groups can be labelled at once."
        case "failed":
            return "Alike images could not be put together; labelling works without."
        case "off":
            return "Alike images are not put together: that is switched off."
        case _:
            return ""
