"""What follows from events: projects hear of their data and labels, and traces that nobody needs any more go."""

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from seedbed.assets.access.roles import Identity
from seedbed.assets.projects.labels import LabelEvent, Source
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.events import Events
from seedbed.assets.store.store import Store
from seedbed.base.errors import DiskFull, NotFound, SeedbedError, Unavailable
from seedbed.flows.kinds.labels import read_labels
from seedbed.flows.usecases.uploads import Uploads
from seedbed.runtime.jobs.folders import JobFolders, read_json
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State
from seedbed.runtime.jobs.verdict import is_hopeless

_CONSUMER = "projects"
_CLEANER = "cleaner"
_log = logging.getLogger(__name__)

Acting = Callable[[Project], Identity | None]  # in whose name a project's work begins


class Follower(Protocol):
    """Follows the events from its own cursor; called by one thread at a time."""

    def follow(self) -> int:
        """Deal with everything new; how much that was."""
        ...


@dataclass(frozen=True)
class ProjectNews:
    """The projects of which there is news of some kinds since its consumer looked last."""

    events: Events
    projects: KeptProjects
    consumer: str
    kinds: tuple[str, ...]

    def each(self, begin: Callable[[Project], bool], *, refused: str) -> int:
        """Have each of them looked at once; how often work began. `refused` is the warning where it may not begin."""
        events = self.events.after(self.events.cursor(self.consumer), kinds=self.kinds)
        begun = 0
        for project in dict.fromkeys(event.project for event in events if event.project):
            try:
                begun += begin(self.projects.get(project))
            except NotFound:
                continue  # the project is gone
            except (DiskFull, Unavailable):
                raise  # that passes: the events stay before the cursor
            except SeedbedError as error:
                _log.warning("%s (project %s): %s", refused, project, error)
        if events:
            self.events.advance(self.consumer, events[-1].number)
        return begun


class ProjectFollower:
    """Tells projects what their jobs made. Everything that it does can be done twice without harm."""

    def __init__(self, events: Events, queue: Queue, projects: KeptProjects, store: Store) -> None:
        self._events = events
        self._queue = queue
        self._projects = projects
        self._store = store

    def follow(self) -> int:
        """Deal with the jobs that are newly done."""
        events = self._events.after(self._events.cursor(_CONSUMER), kinds=("job.done",))
        for event in events:
            try:
                self._deal_with(self._queue.get(event.subject))
            except (DiskFull, Unavailable):
                raise  # that passes: the event stays before the cursor
            except SeedbedError as error:  # the project or a bundle is gone: nothing is left to tell
                _log.warning("Nothing followed from job %s: %s", event.subject, error)
            self._events.advance(_CONSUMER, event.number)
        return len(events)

    def _deal_with(self, job: Job) -> None:
        if not job.project:
            return
        if job.step == "ingest":
            data = self._store.get(job.outputs["data"])
            self._projects.set_data(job.project, data.uuid)
            self._add_classes(job.project, data)
        if job.step == "sample-labels":
            self._add_labels(job)

    def _add_classes(self, project: str, bundle: Bundle) -> None:
        known = {one.name for one in self._projects.classes(project)}
        new = [str(name) for name in bundle.arrays["classes"].items if name not in known]
        if new:
            self._projects.add_classes(project, new)

    def _add_labels(self, job: Job) -> None:
        """The labels that were taken for an expert's, as label events; those of the project itself are there."""
        truth = self._queue.resolve(job).get("truth")
        if truth and self._store.get(truth).lineage.step == "snapshot-labels":
            return
        labels = self._store.get(job.outputs["labels"])
        self._add_classes(job.project, labels)
        (link,) = labels.arrays["labels"].files
        source = Source.ORACLE if job.spec.params.get("per_class", 8) else Source.IMPORT
        rows = read_labels(self._store.path_of(link.digest))
        said = [LabelEvent(f"{labels.uuid}:{image}", image, klass, job.owner, source) for image, klass in rows.items()]
        self._projects.add_labels(job.project, said)


class Cleaner:
    """Removes what ended jobs and deleted bundles leave behind. Everything that it does can be done twice.

    - The checkpoints of a job that is done or cancelled go. Those of one that failed stay for whoever runs it again,
      until gc finds it older than the grace.
    - An upload goes once its job is done or cancelled, or was refused for what it is. After any other failure it stays
      to be run again, until gc finds it older than the grace.
    - A bundle that was deleted, here or at a remote whose tombstone was pulled, goes from the inputs that failed
      attempts keep.
    """

    def __init__(self, events: Events, queue: Queue, folders: JobFolders, uploads: Uploads) -> None:
        self._events = events
        self._queue = queue
        self._folders = folders
        self._uploads = uploads

    def follow(self) -> int:
        """Deal with the jobs that have newly ended and the bundles that were newly deleted."""
        ended = tuple(f"job.{state}" for state in State if state.ended)
        events = self._events.after(self._events.cursor(_CLEANER), kinds=(*ended, "bundle.deleted"))
        if deleted := {event.subject for event in events if event.kind == "bundle.deleted"}:
            self._folders.forget_inputs(deleted)
        for event in events:
            if event.kind in ended:
                with contextlib.suppress(NotFound):
                    self._clean_up(self._queue.get(event.subject))
        if events:
            self._events.advance(_CLEANER, events[-1].number)
        return len(events)

    def _clean_up(self, job: Job) -> None:
        if job.state is not State.FAILED:
            self._folders.forget_checkpoints(job.id)
        if job.state is not State.FAILED or self._was_refused(job):
            self._uploads.drop(job)

    def _was_refused(self, job: Job) -> bool:
        return is_hopeless(read_json(self._folders.attempt(job.id, job.fence) / "error.json"))
