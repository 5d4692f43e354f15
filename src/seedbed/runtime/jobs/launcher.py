"""What turns a job into a command: the seam between the processes and what they compute."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from seedbed.assets.store.bundle import Draft
from seedbed.runtime.jobs.records import Job


@dataclass(frozen=True)
class Prepared:
    """The attempt's folder is ready; run this in it."""

    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    key: str = ""


@dataclass(frozen=True)
class Answered:
    """Nothing needs to run: these bundles are the answer (output name: uuid).

    `copies` are drafts of outputs that the store knows in another place or under another name; they are published
    with the end of the job, in one commit.
    """

    outputs: Mapping[str, str]
    key: str = ""
    copies: Mapping[str, Draft] = field(default_factory=dict)


class Launcher(Protocol):
    """Resolves a job's inputs and lays out the folder of an attempt.

    Called by the scheduler, in its thread, once per attempt; `folder` exists, is empty but for `resume/` where an
    earlier attempt left a checkpoint, and belongs to this attempt alone. What it raises from the family in base.errors
    is told to the job's owner; only Unavailable, DiskFull and TooOften are tried again.
    """

    def prepare(self, job: Job, fence: int, folder: Path) -> Prepared | Answered:
        """Check out the inputs and write attempt.json, or answer from the store."""
        ...
