"""FitGpp: Fitting Grace Period Preemption (Yabuuchi, Taniwaki and Omura, OpML'19, p. 27)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from seedbed.base.clock import Instant
from seedbed.runtime.executors.protocol import Node
from seedbed.runtime.jobs.policy import Decision, Running, Waiting
from seedbed.runtime.jobs.room import Room, walk
from seedbed.runtime.jobs.spec import JobClass

Score = Callable[[Running], float]


@dataclass(frozen=True)
class FitGpp:
    """Preempts the best-effort job that is cheap to lose: small, and quick to put away.

    When a trial-and-error (TE) job finds no room, the best-effort (BE) job j is stopped that has the least

        Score(j) = |D_j| / max |D| + s * GP_j / max GP                                       (1)

    among those whose end makes enough room on their node and that were preempted fewer than P times:

        D_TE <= D_j + N  and  PC_j < P                                                       (2)

    D_j is the demand of j, each amount relative to the capacity of its node; GP_j its grace period; N what is free on
    the node; the maxima are over all running BE jobs. What the paper leaves open is decided here:

    - |D| is the Euclidean norm. A largest demand, or a largest grace period, of 0 makes its term 0 for every job.
    - A job that is already stopping is no candidate and not among those that the maxima are over; its room is room to
      come: it counts as free in N, and a newcomer that fits into it takes no second victim. Room that is promised to
      one newcomer does not count for the next.
    - Of equal scores, the job that started last is stopped (it loses the least), then the one with the larger id.
    - No single job makes enough room: several of one node are stopped ("one or more BE jobs are suspended"). On each
      node the eligible jobs are taken from the lowest score up until the newcomer fits, then those are spared that
      turn out not to be needed, the highest score first. The node with the fewest victims is chosen, then the lowest
      sum of scores. If no node can be made to fit, nobody is stopped and the newcomer waits.
    - TE jobs stand before BE jobs, each class in its own order: the room that is made for a TE job must not go to the
      preempted job at the head of the BE queue. TE jobs are never preempted.
    - A TE job that must wait for room holds the nodes that it could run on, as any job does in `room`.
    """

    weight: float = 4.0  # of the grace period against the size; the paper's s
    max_preemptions: int = 1  # of one job; the paper's P

    @property
    def preemption_limit(self) -> int:
        """The paper's P."""
        return self.max_preemptions

    def decide(
        self, now: Instant, queue: Sequence[Waiting], running: Sequence[Running], nodes: Sequence[Node]
    ) -> Decision:
        """Start what fits, TE jobs first; make room for the TE jobs that do not."""
        order = sorted(queue, key=lambda job: (job.cls is not JobClass.TE, job.position, job.id))
        sizes = relative_sizes(running, nodes)
        asked: set[str] = set()

        def make_room(newcomer: Waiting, rooms: Sequence[Room]) -> tuple[Room, list[Running]] | None:
            if newcomer.cls is not JobClass.TE:
                return None
            score = self.scores([job for job in running if not job.stopping and job.id not in asked], sizes)
            made = self._victim(newcomer, rooms, score) or self._victims(newcomer, rooms, score)
            asked.update(job.id for job in (made[1] if made else ()))
            return made

        return walk(order, running, nodes, make_room)

    def scores(self, running: Sequence[Running], sizes: dict[str, float]) -> Score:
        """Equation 1 over the running BE jobs, given each job's |D|."""
        peers = [job for job in running if job.cls is JobClass.BE]
        largest = max((sizes[job.id] for job in peers), default=0.0)
        longest = max((job.grace for job in peers), default=0.0)

        def score(job: Running) -> float:
            size = sizes[job.id] / largest if largest else 0.0
            return size + (self.weight * job.grace / longest if longest else 0.0)

        return score

    def _victim(self, newcomer: Waiting, rooms: Sequence[Room], score: Score) -> tuple[Room, list[Running]] | None:
        """Equation 2."""
        candidates = [
            (room, job)
            for room in rooms
            for job in room.jobs
            if self._may_preempt(job) and newcomer.demand.fits_in(room.later + job.demand)
        ]
        if not candidates:
            return None
        room, victim = min(candidates, key=lambda pair: _order(pair[1], score))
        return room, [victim]

    def _victims(self, newcomer: Waiting, rooms: Sequence[Room], score: Score) -> tuple[Room, list[Running]] | None:
        """Several jobs of one node, where no single one is enough."""
        options = [(room, victims) for room in rooms if (victims := self._enough(newcomer, room, score))]
        return min(
            options,
            key=lambda option: (len(option[1]), sum(score(job) for job in option[1]), option[0].node.name),
            default=None,
        )

    def _enough(self, newcomer: Waiting, room: Room, score: Score) -> list[Running]:
        victims: list[Running] = []
        made = room.later
        for job in sorted(filter(self._may_preempt, room.jobs), key=lambda job: _order(job, score)):
            victims.append(job)
            made = made + job.demand
            if newcomer.demand.fits_in(made):
                break
        else:
            return []
        for job in reversed(victims[:-1]):
            if newcomer.demand.fits_in(made - job.demand):
                victims.remove(job)
                made = made - job.demand
        return victims

    def _may_preempt(self, job: Running) -> bool:
        return job.cls is JobClass.BE and job.preemptions < self.max_preemptions


def relative_sizes(running: Sequence[Running], nodes: Sequence[Node]) -> dict[str, float]:
    """|D_j| of every running job: the norm of its demand relative to the capacity of its node."""
    capacities = {node.name: node.capacity for node in nodes}
    return {
        job.id: math.hypot(*job.demand.relative_to(capacities[job.node])) if job.node in capacities else 0.0
        for job in running
    }


def _order(job: Running, score: Score) -> tuple[float, float, tuple[int, ...]]:
    """Least score first; of equal ones the last started, then the largest id."""
    return score(job), -job.started, tuple(-ord(letter) for letter in job.id)
