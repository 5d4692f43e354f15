"""What follows when a job has ended: projects hear of their data and labels, and uploads go."""

import logging
import shutil
from pathlib import Path
from typing import Protocol

from seedbed.assets.projects.labels import LabelEvent, Source
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.events import Events
from seedbed.assets.store.store import Store
from seedbed.base.errors import SeedbedError
from seedbed.flows.kinds.labels import read_labels
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Job

_CONSUMER = "projects"
_log = logging.getLogger(__name__)


class Follower(Protocol):
    """Follows the events from its own cursor; called by one thread at a time."""

    def follow(self) -> int:
        """Deal with everything new; how much that was."""
        ...


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
            except SeedbedError as error:  # the project or a bundle is gone: nothing is left to tell
                _log.info("Nothing followed from job %s: %s", event.subject, error)
            self._events.advance(_CONSUMER, event.number)
        return len(events)

    def _deal_with(self, job: Job) -> None:
        if job.step == "ingest":
            self._drop_upload(job)
        if not job.project:
            return
        if job.step == "ingest":
            data = self._store.get(job.outputs["data"])
            self._projects.set_data(job.project, data.uuid)
            self._add_classes(job.project, data)
        if job.step == "sample-labels":
            self._add_labels(job)

    def _drop_upload(self, job: Job) -> None:
        uploads = (self._store.home / "uploads").resolve()
        source = Path(str(job.spec.params.get("source", "") or "/")).resolve()
        if source.is_relative_to(uploads) and source != uploads:
            shutil.rmtree(uploads / source.relative_to(uploads).parts[0], ignore_errors=True)

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
