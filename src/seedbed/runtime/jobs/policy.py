"""The Policy: which waiting jobs start, and which running ones make room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from seedbed.base.clock import Instant
from seedbed.base.resources import Resources
from seedbed.runtime.executors.protocol import Node
from seedbed.runtime.jobs.spec import JobClass


@dataclass(frozen=True)
class Waiting:
    """A job in the queue. The queue's order is that of `position`, then `id`; a preempted job gets a position
    before all others. `estimates` are opaque amounts (seconds, bytes) that a policy may read; none of ours does."""

    id: str
    cls: JobClass
    demand: Resources
    submitted: Instant = 0.0
    grace: float = 30.0
    preemptions: int = 0
    position: float = 0.0
    estimates: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Running:
    """A job that holds room on a node. `stopping`: it was asked to end, and its room comes free within `grace`."""

    id: str
    cls: JobClass
    demand: Resources
    node: str
    grace: float = 30.0
    started: Instant = 0.0
    preemptions: int = 0
    stopping: bool = False


@dataclass(frozen=True)
class Placement:
    """Start this job on this node."""

    id: str
    node: str


@dataclass(frozen=True)
class Decision:
    """What to do now, and for every job that still waits, why, in words."""

    start: list[Placement] = field(default_factory=list)
    preempt: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)


class Policy(Protocol):
    """Decides which waiting jobs start and which running ones make room.

    Called by one scheduler at a time, with a snapshot that it may keep but not change; must be fast (10,000 waiting
    jobs in under 50 ms) and pure: the same snapshot gives the same decision, in the live service and in a simulator.
    The queue may come in any order. `seedbed.testing.policies` holds what every policy must satisfy.
    """

    @property
    def preemption_limit(self) -> int:
        """How often one job may be preempted; 0: never."""
        ...

    def decide(
        self, now: Instant, queue: Sequence[Waiting], running: Sequence[Running], nodes: Sequence[Node]
    ) -> Decision:
        """What starts and what makes room."""
        ...
