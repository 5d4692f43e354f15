"""What every policy must satisfy, as functions that take a policy and a snapshot of a queue.

`CHECKS` lists those for one snapshot, `simulate` runs a policy over a whole load; `random_snapshot` draws snapshots for
people without a property-testing library.
"""

import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from seedbed.base.resources import Resources
from seedbed.runtime.executors.protocol import Node
from seedbed.runtime.jobs.policy import Decision, Policy, Running, Waiting
from seedbed.runtime.jobs.spec import JobClass


@dataclass(frozen=True)
class Snapshot:
    """What a policy is asked about."""

    queue: list[Waiting] = field(default_factory=list)
    running: list[Running] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    now: float = 0.0

    def decide(self, policy: Policy) -> Decision:
        """The policy's answer."""
        return policy.decide(self.now, self.queue, self.running, self.nodes)


def free_of(snapshot: Snapshot) -> dict[str, Resources]:
    """What each node has left beside what runs on it."""
    free = {node.name: node.capacity for node in snapshot.nodes}
    for job in snapshot.running:
        free[job.node] = free[job.node] - job.demand
    return free


def random_snapshot(draw: random.Random) -> Snapshot:
    """Nodes, running jobs that fit on them, and a queue."""
    nodes = [
        Node(f"n{number}", Resources(float(draw.randint(1, 8)), draw.randint(1, 16) << 30, draw.randint(0, 4)))
        for number in range(draw.randint(1, 4))
    ]
    free = {node.name: node.capacity for node in nodes}
    running = []
    for number in range(draw.randint(0, 8)):
        node, demand = draw.choice(nodes).name, _demand(draw)
        if demand.fits_in(free[node]):
            free[node] = free[node] - demand
            running.append(_running(draw, f"r{number}", node, demand))
    queue = [
        Waiting(f"w{number}", draw.choice(list(JobClass)), _demand(draw), position=draw.randint(-3, 20))
        for number in range(draw.randint(0, 12))
    ]
    return Snapshot(queue, running, nodes)


def _demand(draw: random.Random) -> Resources:
    return Resources(draw.randint(0, 8) / 2, draw.randint(0, 6) << 30, draw.choice([0, 0, 1, 2]))


def _running(draw: random.Random, name: str, node: str, demand: Resources) -> Running:
    stopping = draw.random() < 0.2
    cls = draw.choice(list(JobClass))
    return Running(name, cls, demand, node, draw.choice([0.0, 5.0, 60.0]), draw.random(), draw.randint(0, 2), stopping)


def check_it_is_pure(policy: Policy, snapshot: Snapshot) -> None:
    """The same snapshot, in any order, gives the same decision, and is not changed."""
    before = copy.deepcopy(snapshot)
    decision = snapshot.decide(policy)
    assert snapshot == before
    assert snapshot.decide(policy) == decision
    turned = replace(snapshot, queue=snapshot.queue[::-1], running=snapshot.running[::-1])
    again = turned.decide(policy)
    assert (again.start, sorted(again.preempt)) == (decision.start, sorted(decision.preempt))


def check_it_never_starts_more_than_fits(policy: Policy, snapshot: Snapshot) -> None:
    """What starts fits, all together, into what is free now, each job once."""
    decision = snapshot.decide(policy)
    demands = {job.id: job.demand for job in snapshot.queue}
    free = free_of(snapshot)
    assert len({placement.id for placement in decision.start}) == len(decision.start)
    for placement in decision.start:
        assert demands[placement.id].fits_in(free[placement.node]), placement
        free[placement.node] = free[placement.node] - demands[placement.id]


def check_it_preempts_only_whom_it_may(policy: Policy, snapshot: Snapshot) -> None:
    """Never a trial-and-error job, never one that is stopping, never beyond the limit, never one twice."""
    decision = snapshot.decide(policy)
    running = {job.id: job for job in snapshot.running}
    assert len(set(decision.preempt)) == len(decision.preempt)
    for name in decision.preempt:
        job = running[name]
        assert job.cls is JobClass.BE and not job.stopping, job
        assert job.preemptions < policy.preemption_limit, job


def check_it_preempts_only_for_a_job_that_then_fits(policy: Policy, snapshot: Snapshot) -> None:
    """Room is made only on a node where a waiting trial-and-error job fits once it is made."""
    decision = snapshot.decide(policy)
    started = {placement.id for placement in decision.start}
    rooms = free_of(snapshot)
    for job in snapshot.running:
        if job.stopping or job.id in decision.preempt:
            rooms[job.node] = rooms[job.node] + job.demand
    newcomers = [job for job in snapshot.queue if job.cls is JobClass.TE and job.id not in started]
    for node in {job.node for job in snapshot.running if job.id in decision.preempt}:
        assert any(job.demand.fits_in(rooms[node]) for job in newcomers), node


def check_every_job_that_waits_is_told_why(policy: Policy, snapshot: Snapshot) -> None:
    """Each job either starts or has a reason in words, and never both."""
    decision = snapshot.decide(policy)
    started = {placement.id for placement in decision.start}
    assert started.isdisjoint(decision.reasons)
    assert started | set(decision.reasons) == {job.id for job in snapshot.queue}
    assert all(reason and reason[0].isupper() for reason in decision.reasons.values())


def check_it_is_not_idle(policy: Policy, snapshot: Snapshot) -> None:
    """With nothing running, something starts if anything could."""
    idle = replace(snapshot, running=[])
    could = [job for job in snapshot.queue if any(job.demand.fits_in(node.capacity) for node in snapshot.nodes)]
    assert bool(idle.decide(policy).start) == bool(could)


CHECKS: list[Callable[[Policy, Snapshot], None]] = [
    check_it_is_pure,
    check_it_never_starts_more_than_fits,
    check_it_preempts_only_whom_it_may,
    check_it_preempts_only_for_a_job_that_then_fits,
    check_every_job_that_waits_is_told_why,
    check_it_is_not_idle,
]


@dataclass
class Work:
    """A job of a simulated load: it comes at a time and needs some seconds of running."""

    id: str
    cls: JobClass
    demand: Resources
    comes: float
    needs: float
    grace: float = 0.0
    preemptions: int = 0
    position: int = 0
    finished: float | None = None


def simulate(policy: Policy, load: Sequence[Work], nodes: Sequence[Node], *, limit: float = 1e6) -> None:
    """Run a load of jobs that each fit on some node, second by second, until all are finished; that is: nobody starves.

    A preempted job stops after its grace period, keeps what it has done, and returns to the head of its queue.
    """
    waiting: dict[str, Work] = {}
    running: dict[str, tuple[Work, Running]] = {}
    stops: dict[str, float] = {}
    coming = sorted(load, key=lambda work: work.comes)
    for number, work in enumerate(coming):
        work.position = number
    head, now = 0, 0.0
    while coming or waiting or running:
        assert now < limit, f"never finished: {sorted(waiting)} wait, {sorted(running)} run"
        while coming and coming[0].comes <= now:
            work = coming.pop(0)
            waiting[work.id] = work
        for name, (work, _) in list(running.items()):
            work.needs -= 1
            if work.needs <= 0:
                work.finished = now
                del running[name]
                stops.pop(name, None)
            elif stops.get(name, now + 1) <= now:
                head -= 1
                work.preemptions, work.position = work.preemptions + 1, head
                waiting[name] = work
                del running[name], stops[name]
        decision = Snapshot(
            [Waiting(w.id, w.cls, w.demand, w.comes, w.grace, w.preemptions, w.position) for w in waiting.values()],
            [replace(job, stopping=name in stops) for name, (_, job) in running.items()],
            list(nodes),
            now,
        ).decide(policy)
        for name in decision.preempt:
            stops[name] = now + running[name][0].grace
        for placement in decision.start:
            work = waiting.pop(placement.id)
            job = Running(work.id, work.cls, work.demand, placement.node, work.grace, now, work.preemptions)
            running[work.id] = (work, job)
        now += 1
