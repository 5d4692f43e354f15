"""Uploads: where they lie, which jobs read them, and when they go."""

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from seedbed.base.errors import SeedbedError
from seedbed.flows.steps import STEPS
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

_LIVE = [state for state in State if not state.ended]
_PAGE = 1000


@dataclass(frozen=True)
class Uploads:
    """The folders `uploads/<id>` of a home. One that a live job reads is never removed."""

    root: Path
    queue: Queue

    def of(self, job: Job) -> set[Path]:
        """The uploads that a job reads."""
        if job.step not in STEPS:
            return set()
        step = STEPS.get(job.step)
        try:
            paths = step.paths(step.check_params(job.spec.params)) if step.paths else ()
        except SeedbedError:  # parameters of an older version of the step
            return set()
        root = self.root.resolve()
        inner = [Path(path).resolve() for path in paths if "\0" not in str(path)]
        return {root / path.relative_to(root).parts[0] for path in inner if root in path.parents}

    def drop(self, job: Job) -> None:
        """Remove what a job that has ended read, unless another job still needs it."""
        if mine := self.of(job):
            for folder in mine - self._needed():
                shutil.rmtree(folder, ignore_errors=True)

    def collect(self, *, grace: float, dry_run: bool = False) -> tuple[int, int]:
        """Remove uploads that no live job reads and that nobody has touched for the grace; how many files and bytes.

        Those are uploads that were never used, and those of failed jobs, which stay that long to be run again.
        """
        before, needed = time.time() - grace, self._needed()
        count = freed = 0
        for folder in self.root.resolve().iterdir() if self.root.is_dir() else ():
            states = [path.lstat() for path in files_under(folder)]
            if folder in needed or any(state.st_mtime > before for state in states):
                continue
            count, freed = count + max(1, len(states) - 1), freed + sum(state.st_size for state in states[1:])
            if not dry_run:
                shutil.rmtree(folder, ignore_errors=True)
        return count, freed

    def _needed(self) -> set[Path]:
        found: set[Path] = set()
        for step in (name for name in STEPS if STEPS.get(name).paths):
            offset = 0
            while jobs := self.queue.list(states=_LIVE, step=step, limit=_PAGE, offset=offset):
                found.update(folder for job in jobs for folder in self.of(job))
                offset += len(jobs)
        return found


def files_under(folder: Path) -> list[Path]:
    """A folder and the files in it."""
    return [folder, *(Path(root, name) for root, _, files in os.walk(folder) for name in files)]
