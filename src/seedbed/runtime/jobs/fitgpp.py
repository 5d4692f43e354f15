"""FitGpp: Fitting Grace Period Preemption (Yabuuchi, Taniwaki and Omura, OpML'19, p. 27)."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    """Chooses victims during one decision; knows who was chosen already.

    A decision may have hundreds of newcomers and victims: what is computed for one newcomer is kept for the next as far
    as it is still true. Scores change only with the maxima; what a node could give changes only with that node.
    """

    def __init__(self, policy: FitGpp, running: Sequence[Running], nodes: Sequence[Node]) -> None:
        self.policy = policy
        self.sizes = relative_sizes(running, nodes)
        latest_first = sorted(running, key=lambda job: (job.started, job.id), reverse=True)
        self.peers = {job.id: job for job in latest_first if job.cls is JobClass.BE and not job.stopping}
        self.largest = _Maximum(self.sizes[name] for name in self.peers)
        self.longest = _Maximum(job.grace for job in self.peers.values())
        self.costs: dict[str, tuple[float, int]] = {}  # the score of each peer, and its place among equals
        self.offers = {node.name: _Offer() for node in nodes}
        for job in self.peers.values():
            if job.preemptions < policy.max_preemptions and job.node in self.offers:
                self.offers[job.node].add(job)

    def make_room(self, newcomer: Waiting, rooms: Sequence[Room]) -> tuple[Room, list[Running]] | None:
        """Which jobs stop, on which node."""
        if newcomer.cls is not JobClass.TE:
            return None
        self.rank()
        options = [(room, self.offers[room.node.name]) for room in rooms]
        made = self.one(newcomer.demand, options) or self.several(newcomer.demand, options)
        for job in made[1] if made else ():
            del self.peers[job.id]
            self.offers[job.node].remove(job)
            if self.largest.loses(self.sizes[job.id]) | self.longest.loses(job.grace):
                self.costs = {}
        return made

    def rank(self) -> None:
        """Bring the scores up to date, and the candidates of each node into their order."""
        if not self.costs:
            scores = self.policy.scores(list(self.peers.values()), self.sizes)
            self.costs = {name: (score, place) for place, (name, score) in enumerate(scores.items())}
            for offer in self.offers.values():
                offer.order(self.costs)

    def one(self, demand: Resources, options: Sequence["_Option"]) -> tuple[Room, list[Running]] | None:
        """Equation 2: D_TE <= D_j + N, for the job of the least score."""
        least, best = (math.inf, 0), None
        for room, offer in options:
            if not offer.jobs or self.costs[offer.jobs[0].id] >= least or not _holds(room, offer.largest, demand):
                continue  # nobody there is cheaper, or large enough
            victim = next((job for job in offer.jobs if _holds(room, job.demand, demand)), None)
            if victim and self.costs[victim.id] < least:
                least, best = self.costs[victim.id], (room, [victim])
        return best

    def several(self, demand: Resources, options: Sequence["_Option"]) -> tuple[Room, list[Running]] | None:
        """The fewest jobs of one node, where no single one is enough."""
        found = [
            (*offer.enough(demand, room, self.costs), room.node.name, room)
            for room, offer in options
            if offer.jobs and _holds(room, offer.total, demand)
        ]
        if not found:
            return None
        _, _, victims, _, room = min(found, key=lambda option: (option[0], option[1], option[3]))
        return room, list(victims)


class _Maximum:
    """The largest of some values, of which one after the other goes."""

    def __init__(self, values: Iterable[float]) -> None:
        self._left = Counter(values)
        self._largest = max(self._left, default=0.0)

    def loses(self, value: float) -> bool:
        """Take a value away; whether the largest is another one now."""
        self._left[value] -= 1
        if self._left[value]:
            return False
        del self._left[value]
        before, self._largest = self._largest, max(self._left, default=0.0)
        return before != self._largest


class _Offer:
    """What the candidates of one node could give."""

    def __init__(self) -> None:
        self.jobs: list[Running] = []  # the cheapest to lose first, once they are in order
        self.total = _NOTHING  # what all of them would free
        self.largest = _NOTHING  # the most of each amount that one of them would free
        self._enough: dict[tuple[float, int, int], tuple[int, float, tuple[Running, ...]]] = {}  # by what is missing

    def add(self, job: Running) -> None:
        """One more candidate."""
        self.jobs.append(job)
        self.total = self.total + job.demand
        self.largest = _most(self.largest, job.demand)

    def remove(self, job: Running) -> None:
        """One that is asked to stop is no candidate any more."""
        self.jobs.remove(job)
        self.total = self.total - job.demand
        self._enough.clear()
        self.largest = _NOTHING
        for other in self.jobs:
            self.largest = _most(self.largest, other.demand)

    def order(self, costs: Mapping[str, tuple[float, int]]) -> None:
        """Put the cheapest first."""
        self.jobs.sort(key=lambda job: costs[job.id])
        self._enough.clear()

    def enough(
        self, demand: Resources, room: Room, costs: Mapping[str, tuple[float, int]]
    ) -> tuple[int, float, tuple[Running, ...]]:
        """From the lowest score up until it is enough, without those that are then not needed.

        The answer is how many they are, the sum of their scores, and they themselves.
        """
        later = room.later
        amount = demand.cpus - later.cpus, demand.memory - later.memory, demand.gpus - later.gpus
        found = self._enough.get(amount)
        if found is None:
            victims = _enough(amount, self.jobs)
            found = len(victims), sum(costs[job.id][0] for job in victims), tuple(victims)
            self._enough[amount] = found
        return found


def _enough(amount: tuple[float, int, int], candidates: Sequence[Running]) -> list[Running]:
    cpus, memory, gpus = amount  # what is still missing; below 0 is more than enough
    victims: list[Running] = []
    for job in candidates:
        if cpus <= 1e-9 and memory <= 0 and gpus <= 0:
            break
        victims.append(job)
        cpus, memory, gpus = cpus - job.demand.cpus, memory - job.demand.memory, gpus - job.demand.gpus
    for job in reversed(victims[:-1]):
        less = cpus + job.demand.cpus, memory + job.demand.memory, gpus + job.demand.gpus
        if less[0] <= 1e-9 and less[1] <= 0 and less[2] <= 0:
            victims.remove(job)
            cpus, memory, gpus = less
    return victims


_Option = tuple[Room, _Offer]


def _holds(room: Room, given: Resources, demand: Resources) -> bool:
    """Whether a demand fits into a room and what is given to it; without a sum, which would be made too often."""
    later = room.later
    return (
        demand.cpus <= later.cpus + given.cpus + 1e-9
        and demand.memory <= later.memory + given.memory
        and demand.gpus <= later.gpus + given.gpus
    )


def _most(one: Resources, other: Resources) -> Resources:
    return Resources(max(one.cpus, other.cpus), max(one.memory, other.memory), max(one.gpus, other.gpus))


def relative_sizes(running: Sequence[Running], nodes: Sequence[Node]) -> dict[str, float]:
    """|D_j| of every running job: the norm of its demand relative to the capacity of its node."""
    capacities = {node.name: node.capacity for node in nodes}
    return {
        job.id: math.hypot(*job.demand.relative_to(capacities[job.node])) if job.node in capacities else 0.0
        for job in running
    }
