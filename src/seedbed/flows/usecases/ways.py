"""Where a project stands on its way from images to a model: all that its expert is told, looked up at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seedbed.assets.access.roles import Identity
from seedbed.assets.projects.classes import Class
from seedbed.assets.projects.projects import Project
from seedbed.assets.store.bundle import Bundle
from seedbed.base.errors import NotFound
from seedbed.flows.usecases.bundles import Bundles
from seedbed.flows.usecases.grouping import Alike
from seedbed.flows.usecases.jobs import Jobs
from seedbed.flows.usecases.labelling import Labelling
from seedbed.flows.usecases.results import Result, Results
from seedbed.flows.usecases.trainings import Training, Trainings
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

_JOBS = 40
_LEAST = 2  # labels of a class: one to learn from, one to test with


@dataclass(frozen=True)
class Way:
    """How far a project is. `coming`: images that are being checked, or were refused."""

    project: Project
    classes: Sequence[Class]
    counts: Mapping[str, int]
    images: int
    data: Bundle | None
    coming: Job | None
    alike: Alike  # how far the grouping of alike images is
    training: Training
    result: Result | None
    jobs: Sequence[Job]  # the newest first

    @property
    def labels(self) -> int:
        """How many images have a label."""
        return sum(self.counts.values())

    @property
    def right(self) -> float | None:
        """The share of its test images that the newest model names rightly."""
        return self.result.right if self.result else None

    @property
    def missing(self) -> dict[str, int]:
        """Class to the labels that it lacks of its number; the class for everything else lacks none."""
        goal = self.project.settings.goal
        short = {one.name: goal - self.counts.get(one.name, 0) for one in self.classes if not one.other}
        return {name: count for name, count in short.items() if count > 0}

    @property
    def too_few_images(self) -> bool:
        """Whether classes lack more labels than there are images without one."""
        return sum(self.missing.values()) > self.images - self.labels

    @property
    def all_labelled(self) -> bool:
        """Whether no image is left without a label."""
        return 0 < self.images <= self.labels

    @property
    def gaps(self) -> list[str]:
        """Classes that have too few labels to train with at all."""
        return [one.name for one in self.classes if not one.other and self.counts.get(one.name, 0) < _LEAST]


class Ways:
    """What people see of a whole project."""

    def __init__(
        self, bundles: Bundles, jobs: Jobs, labelling: Labelling, trainings: Trainings, results: Results
    ) -> None:
        self._bundles = bundles
        self._jobs = jobs
        self._labelling = labelling
        self._trainings = trainings
        self._results = results

    def of(self, ref: str, *, by: Identity) -> Way:
        """Look everything up; as with the board, images that nobody has had grouped yet are grouped from now on."""
        board = self._labelling.board(ref, by=by)
        project = board.project
        data = self._data(project.data, by)
        jobs = self._jobs.list(project=project.id, limit=_JOBS, by=by)
        return Way(
            project=project,
            classes=[one for one, _ in board.classes],
            counts={one.name: count for one, count in board.classes},
            images=board.images,
            data=data,
            coming=coming_of(jobs, data),
            alike=board.alike,
            training=self._trainings.of(project.id, by=by),
            result=self._results.of(project.id, by=by),
            jobs=jobs,
        )

    def _data(self, uuid: str, by: Identity) -> Bundle | None:
        try:
            return self._bundles.show(uuid, by=by) if uuid else None
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
