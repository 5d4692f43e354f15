"""Checkpoints of jobs that failed, for those who run them again: when they go."""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from seedbed.base.errors import NotFound
from seedbed.flows.usecases.uploads import files_under
from seedbed.runtime.jobs.folders import JobFolders
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.states import State


@dataclass(frozen=True)
class LeftBehind:
    """The checkpoints that failed jobs left behind."""

    folders: JobFolders
    queue: Queue

    def collect(self, *, grace: float, dry_run: bool = False) -> tuple[int, int]:
        """Remove those of jobs that failed longer ago than the grace; how many files and bytes."""
        count = freed = 0
        for folder in self.folders.root.glob("*/checkpoint"):
            files = files_under(folder)[1:]
            if files and self._is_over(folder, time.time() - grace):
                count, freed = count + len(files), freed + sum(path.lstat().st_size for path in files)
                if not dry_run:
                    shutil.rmtree(folder, ignore_errors=True)
        return count, freed

    def _is_over(self, folder: Path, moment: float) -> bool:
        try:
            job = self.queue.get(folder.parent.name)
        except NotFound:  # it was handed on, and a crash kept the new job from being queued
            return folder.stat().st_mtime < moment
        return job.state is State.FAILED and job.ended < moment
