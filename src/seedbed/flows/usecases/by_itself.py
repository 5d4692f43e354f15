"""Training that begins by itself, in the projects that want it, once their labels are enough."""

import math
from collections.abc import Mapping, Sequence

from seedbed.assets.projects.classes import Class
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.events import Events
from seedbed.flows.usecases.followers import Acting, ProjectNews
from seedbed.flows.usecases.trainings import Trainings

_CONSUMER = "training by itself"
_WAKES = ("label.added", "project.", "job.done", "job.failed", "job.cancelled")
_MORE, _LEAST_MORE = 1.25, 10  # labels after which it is worth training again


class ByItself:
    """A follower of events. What it begins twice is refused the second time: one training of a project at a time."""

    def __init__(self, events: Events, projects: KeptProjects, trainings: Trainings, acting: Acting) -> None:
        self._news = ProjectNews(events, projects, _CONSUMER, _WAKES)
        self._projects = projects
        self._trainings = trainings
        self._acting = acting

    def follow(self) -> int:
        """Look at every project of which there is news; how many trainings began."""
        return self._news.each(self._consider, refused="No training began by itself")

    def _consider(self, project: Project) -> bool:
        if not project.settings.train_by_itself or not project.data:
            return False
        counts = self._projects.counts(project.id)
        used = self._trainings.labels_used(project.id)
        if not is_enough(self._projects.classes(project.id), counts, project.settings.goal, used):
            return False
        by = self._acting(project)
        if by is None or self._trainings.of(project.id, by=by).open:
            return False
        self._trainings.start(project.id, by=by)
        return True


def is_enough(classes: Sequence[Class], counts: Mapping[str, int], goal: int, used: int) -> bool:
    """Whether the labels are worth a training: every class has its number; after the first, a quarter more are there.

    The class for everything else need not be full. `used`: the labels of the training before.
    """
    proper = [one.name for one in classes if not one.other]
    if len(proper) < 2 or any(counts.get(name, 0) < goal for name in proper):
        return False
    return not used or sum(counts.values()) >= next_at(used)


def next_at(used: int) -> int:
    """The number of labels at which it is worth training again, after a training with so many."""
    return math.ceil(max(_MORE * used, used + _LEAST_MORE))
