"""First in, first out."""

from collections.abc import Sequence
from dataclasses import dataclass

from seedbed.base.clock import Instant
from seedbed.runtime.executors.protocol import Node
from seedbed.runtime.jobs.policy import Decision, Running, Waiting
from seedbed.runtime.jobs.room import walk


@dataclass(frozen=True)
class Fifo:
    """Jobs start in the order in which they came, whatever their class; nobody makes room.

    A job that waits for room is not passed on the machines that it could run on (see `room`).
    """

    preemption_limit: int = 0

    def decide(
        self, now: Instant, queue: Sequence[Waiting], running: Sequence[Running], nodes: Sequence[Node]
    ) -> Decision:
        """Start the first jobs of the queue that fit."""
        return walk(sorted(queue, key=lambda job: (job.position, job.id)), running, nodes)
