"""Jobs, attempts and metrics as the database has them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seedbed.base.clock import Instant
from seedbed.runtime.jobs.spec import JobClass, JobSpec
from seedbed.runtime.jobs.states import State

PAUSE = "pause"  # the wish of a job that is to put its state away and wait
GO_ON = "go on"  # the wish of one that was let go on while it was still putting its state away
PAUSED: Instant = 1e12  # not before this moment, which nobody lives to see: until somebody lets it go on


@dataclass(frozen=True)
class Job:
    """A job as it stands. `reason` says in words why it waits, or how it ended; times of 0 have not come yet.

    `fell_with`: the job that it needed, and ended only because of. `rerun_as`: the job that repeats it.
    """

    id: str
    name: str
    flow: str
    spec: JobSpec
    state: State
    position: float
    fence: int
    preemptions: int
    failures: int
    not_before: Instant
    reason: str
    wish: str
    step_now: int
    step_total: int
    doing: str
    key: str
    outputs: Mapping[str, str]
    submitted: Instant
    started: Instant
    ended: Instant
    checkpoint: str
    fell_with: str = ""
    rerun_as: str = ""

    @property
    def paused(self) -> bool:
        """Whether it waits until somebody lets it go on."""
        return self.state is State.WAITING and self.not_before >= PAUSED

    @property
    def pausing(self) -> bool:
        """Whether it is still putting its state away, to wait then."""
        return self.state is State.STOPPING and self.wish == PAUSE

    @property
    def ended_badly(self) -> bool:
        """Whether those that need it cannot run."""
        return self.state in (State.FAILED, State.CANCELLED)

    @property
    def step(self) -> str:
        """The step that it runs."""
        return self.spec.step

    @property
    def cls(self) -> JobClass:
        """Trial-and-error or best-effort."""
        return self.spec.cls

    @property
    def owner(self) -> str:
        """Who submitted it."""
        return self.spec.owner

    @property
    def project(self) -> str:
        """The project that it belongs to, or none."""
        return self.spec.project

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> "Job":
        """The job of a row of the table."""
        known = {name: value for name, value in row.items() if name not in ("spec", "step", "cls", "owner", "project")}
        return cls(**{**known, "spec": JobSpec.from_json(row["spec"]), "state": State(row["state"])})


@dataclass(frozen=True)
class Attempt:
    """One try at a job. `handle` is empty until the executor has said that it runs."""

    job: str
    fence: int
    node: str
    gpu_ids: tuple[int, ...]
    handle: Mapping[str, Any]
    started: Instant
    ended: Instant
    outcome: str
    reason: str
    stop_by: Instant
    metrics_offset: int

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> "Attempt":
        """The attempt of a row of the table."""
        return cls(**{**row, "gpu_ids": tuple(row["gpu_ids"])})


@dataclass(frozen=True)
class Metric:
    """One measured number."""

    name: str
    step: int
    value: float
    at: Instant


@dataclass(frozen=True)
class Entry:
    """A job that is about to be queued, with the checkpoint that it begins from, where its folder has one."""

    id: str
    spec: JobSpec
    flow: str = ""
    checkpoint: str = ""


@dataclass(frozen=True)
class Waiter:
    """What the scheduler must know of a waiting job at every turn."""

    id: str
    spec: JobSpec
    position: float
    preemptions: int
    submitted: Instant
    not_before: Instant
    reason: str
