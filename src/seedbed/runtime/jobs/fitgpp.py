"""FitGpp: Fitting Grace Period Preemption (Yabuuchi, Taniwaki and Omura, OpML'19, p. 27)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seedbed.base.clock import Instant
from seedbed.base.resources import Resources
from seedbed.runtime.executors.protocol import Node
from seedbed.runtime.jobs.policy import Decision, Running, Waiting
from seedbed.runtime.jobs.room import Room, walk
from seedbed.runtime.jobs.spec import JobClass

_NOTHING = Resources(0.0, 0, 0)


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
        return walk(order, running, nodes, _Choice(self, running, nodes).make_room)

    def scores(self, peers: Sequence[Running], sizes: Mapping[str, float]) -> dict[str, float]:
        """Equation 1 over the running BE jobs, given each one's |D|."""
        largest = max((sizes[job.id] for job in peers), default=0.0) or math.inf
        longest = max((job.grace for job in peers), default=0.0) or math.inf
        return {job.id: sizes[job.id] / largest + self.weight * job.grace / longest for job in peers}


class _Choice:
    """Chooses victims during one decision; knows who was chosen already."""

    def __init__(self, policy: FitGpp, running: Sequence[Running], nodes: Sequence[Node]) -> None:
        self.policy = policy
        self.sizes = relative_sizes(running, nodes)
        latest_first = sorted(running, key=lambda job: (job.started, job.id), reverse=True)
        self.peers = {job.id: job for job in latest_first if job.cls is JobClass.BE and not job.stopping}
        self.costs: dict[str, tuple[float, int]] = {}  # the score of each peer, and its place among equals
        self.candidates: dict[str, list[Running]] = {node.name: [] for node in nodes}
        self.all_of: dict[str, Resources] = {node.name: _NOTHING for node in nodes}  # what all candidates would free
        for job in self.peers.values():
            if job.preemptions < policy.max_preemptions and job.node in self.candidates:
                self.candidates[job.node].append(job)
                self.all_of[job.node] = self.all_of[job.node] + job.demand

    def make_room(self, newcomer: Waiting, rooms: Sequence[Room]) -> tuple[Room, list[Running]] | None:
        """Which jobs stop, on which node."""
        if newcomer.cls is not JobClass.TE:
            return None
        missing = [(room, newcomer.demand - room.later) for room in rooms]
        missing = [(room, amount) for room, amount in missing if amount.fits_in(self.all_of[room.node.name])]
        if not missing:
            return None
        if not self.costs:
            scores = self.policy.scores(list(self.peers.values()), self.sizes)
            self.costs = {name: (score, place) for place, (name, score) in enumerate(scores.items())}
        room, victims = self.one(missing) or self.several(missing)
        for job in victims:
            del self.peers[job.id]
            self.candidates[job.node].remove(job)
            self.all_of[job.node] = self.all_of[job.node] - job.demand
        self.costs = {}  # the maxima may have changed
        return room, victims

    def one(self, missing: Sequence[tuple[Room, Resources]]) -> tuple[Room, list[Running]] | None:
        """Equation 2: D_TE - N is what is missing."""
        eligible = [
            (self.costs[job.id], room, job)
            for room, amount in missing
            for job in self.candidates[room.node.name]
            if amount.fits_in(job.demand)
        ]
        if not eligible:
            return None
        _, room, victim = min(eligible, key=lambda option: option[0])
        return room, [victim]

    def several(self, missing: Sequence[tuple[Room, Resources]]) -> tuple[Room, list[Running]]:
        """The fewest jobs of one node, where no single one is enough."""
        options = [(room, self.enough(amount, self.candidates[room.node.name])) for room, amount in missing]
        return min(
            options,
            key=lambda option: (len(option[1]), sum(self.costs[job.id][0] for job in option[1]), option[0].node.name),
        )

    def enough(self, amount: Resources, candidates: Sequence[Running]) -> list[Running]:
        """From the lowest score up until it is enough, without those that are then not needed."""
        victims: list[Running] = []
        made = _NOTHING
        for job in sorted(candidates, key=lambda job: self.costs[job.id]):
            if amount.fits_in(made):
                break
            victims.append(job)
            made = made + job.demand
        for job in reversed(victims[:-1]):
            if amount.fits_in(made - job.demand):
                victims.remove(job)
                made = made - job.demand
        return victims


def relative_sizes(running: Sequence[Running], nodes: Sequence[Node]) -> dict[str, float]:
    """|D_j| of every running job: the norm of its demand relative to the capacity of its node."""
    capacities = {node.name: node.capacity for node in nodes}
    return {
        job.id: math.hypot(*job.demand.relative_to(capacities[job.node])) if job.node in capacities else 0.0
        for job in running
    }
