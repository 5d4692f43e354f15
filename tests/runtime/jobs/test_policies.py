"""Both policies against the shipped suite, and FitGpp against numbers worked out by hand from the paper."""

import gc
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedbed.base.resources import Resources
from seedbed.runtime.executors.protocol import Node
from seedbed.runtime.jobs.fifo import Fifo
from seedbed.runtime.jobs.fitgpp import FitGpp, relative_sizes
from seedbed.runtime.jobs.policies import POLICIES
from seedbed.runtime.jobs.policy import Placement, Policy, Running, Waiting
from seedbed.runtime.jobs.spec import JobClass
from seedbed.testing import policies
from seedbed.testing.policies import Snapshot, Work

GIB = 1 << 30
TE, BE = JobClass.TE, JobClass.BE
amounts = st.builds(
    lambda cpus, memory, gpus: Resources(cpus / 2, memory * GIB, gpus),
    st.integers(0, 16),
    st.integers(0, 12),
    st.integers(0, 3),
)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    capacities = st.builds(Resources, st.integers(1, 8).map(float), st.integers(1, 12).map(lambda n: n * GIB))
    nodes = [Node(f"n{i}", draw(capacities) + Resources(0, 0, draw(st.integers(0, 3)))) for i in range(draw(_few()))]
    free = {node.name: node.capacity for node in nodes}
    running = []
    for i in range(draw(st.integers(0, 8))):
        node, demand = draw(st.sampled_from(nodes)).name, draw(amounts)
        if demand.fits_in(free[node]):
            free[node] = free[node] - demand
            rest = draw(st.tuples(st.sampled_from([0.0, 5, 60]), st.integers(0, 3), st.integers(0, 2), st.booleans()))
            grace, started, preemptions, stopping = rest
            cls = draw(st.sampled_from(JobClass))
            running.append(Running(f"r{i}", cls, demand, node, grace, float(started), preemptions, stopping))
    queue = [
        Waiting(f"w{i}", draw(st.sampled_from(JobClass)), draw(amounts), position=draw(st.integers(-3, 9)))
        for i in range(draw(st.integers(0, 10)))
    ]
    return Snapshot(queue, running, nodes)


def _few() -> st.SearchStrategy[int]:
    return st.integers(1, 4)


@pytest.fixture(
    params=[Fifo(), FitGpp(), FitGpp(max_preemptions=3)], ids=["fifo", "fitgpp", "fitgpp-P3"], scope="module"
)
def policy(request: pytest.FixtureRequest) -> Policy:
    found: Policy = request.param
    return found


@pytest.mark.parametrize("check", policies.CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_conformance(policy: Policy, check: Callable[[Policy, Snapshot], None]) -> None:
    @settings(max_examples=60, deadline=None)
    @given(snapshots())
    def holds(snapshot: Snapshot) -> None:
        check(policy, snapshot)

    holds()


@pytest.mark.parametrize("seed", range(6))
def test_nobody_starves_under_a_mixed_load(policy: Policy, seed: int) -> None:
    draw = random.Random(seed)
    nodes = [Node(f"n{i}", Resources(4.0, 8 * GIB, i % 2)) for i in range(3)]
    load = [
        Work(
            f"j{i:03d}",
            TE if draw.random() < 0.3 else BE,
            Resources(float(draw.randint(1, 4)), draw.randint(1, 8) * GIB, draw.choice([0, 0, 1])),
            comes=draw.uniform(0, 60),
            needs=draw.randint(1, 20),
            grace=draw.choice([0.0, 2.0, 5.0]),
        )
        for i in range(80)
    ]
    policies.simulate(policy, load, nodes, limit=3000)
    assert all(work.finished is not None for work in load)
    assert all(work.preemptions <= policy.preemption_limit for work in load)
    assert all(work.preemptions == 0 for work in load if work.cls is TE)


def test_fitgpp_starts_trial_and_error_jobs_sooner_than_fifo() -> None:
    """The paper's point, on a small overload of the same jobs under both."""
    waits = {}
    for name in ("fifo", "fitgpp"):
        draw = random.Random(1)
        load = [
            Work(f"j{i:03d}", TE if draw.random() < 0.3 else BE, Resources(float(draw.randint(1, 2)), GIB), i / 2, 12)
            for i in range(60)
        ]
        needs = {work.id: work.needs for work in load}
        policies.simulate(POLICIES.get(name)(), load, [Node("n", Resources(4.0, 64 * GIB))])
        slowdowns = [(w.finished or 0) - w.comes - needs[w.id] for w in load if w.cls is TE]
        waits[name] = sorted(slowdowns)[int(0.95 * len(slowdowns))]
    assert waits["fitgpp"] < 0.5 * waits["fifo"], waits


def test_ten_thousand_waiting_jobs_are_decided_in_fifty_milliseconds(policy: Policy) -> None:
    """CPU time, the best of 7: on one machine and on the paper's 84 nodes, full of jobs that were preempted before;
    and of jobs that were not, hundreds of which make room at once, which may take twice as long."""
    draw = random.Random(0)
    queue = [
        Waiting(f"job-{i:05d}", TE if draw.random() < 0.3 else BE, Resources(float(draw.randint(1, 32)), 4 * GIB), i)
        for i in range(10_000)
    ]
    for count, preempted, limit in ((1, 3, 0.05), (84, 3, 0.05), (84, 0, 0.1)):
        nodes = [Node(f"n{i}", Resources(32.0, 256 * GIB, 8)) for i in range(count)]
        running = [
            Running(
                f"r{i}-{j}", BE, Resources(8.0, 64 * GIB, 2), f"n{i}", draw.choice((30.0, 60.0, 180.0)), 0.0, preempted
            )
            for i in range(count)
            for j in range(4)
        ]
        best = _cpu_seconds(partial(policy.decide, 0.0, queue, running, nodes), limit)
        assert best < limit, f"{count} nodes, {preempted} preemptions: {1000 * best:.1f} ms"


def _cpu_seconds(call: Callable[[], Any], enough: float) -> float:
    """The best of 7, or the first that is good enough; as timeit has it: what other tests left for the garbage
    collector is not this call's."""
    gc.collect()
    gc.disable()
    best = float("inf")
    try:
        for _ in range(7):
            began = time.process_time()
            call()
            best = min(best, time.process_time() - began)
            if best < enough:
                break
    finally:
        gc.enable()
    return best


def test_an_order_that_is_asked_for_by_name_is_found() -> None:
    assert list(POLICIES) == ["fifo", "fitgpp"]
    assert isinstance(POLICIES.get("fitgpp")(), FitGpp)


# FIFO


def wait(name: str, cpus: float, position: int = 0, cls: JobClass = BE, gpus: int = 0, gib: int = 1) -> Waiting:
    return Waiting(name, cls, Resources(cpus, gib * GIB, gpus), position=position)


def run(name: str, cpus: float, node: str = "n", cls: JobClass = BE, **more: Any) -> Running:
    return Running(name, cls, Resources(cpus, more.pop("gib", 1) * GIB, more.pop("gpus", 0)), node, **more)


N4 = [Node("n", Resources(4.0, 16 * GIB, 0))]


def test_fifo_goes_by_position_and_a_small_job_does_not_pass_a_large_one() -> None:
    decision = Fifo().decide(0, [wait("small", 1, 3), wait("large", 4, 2), wait("first", 2, 1)], [], N4)
    assert decision.start == [Placement("first", "n")]
    assert decision.reasons == {"large": "Needs 4 cpus, 2 are free", "small": "Behind 1 job"}


def test_a_job_that_waits_does_not_hold_machines_that_it_could_never_use() -> None:
    nodes = [Node("gpu", Resources(4.0, 16 * GIB, 1)), Node("plain", Resources(4.0, 16 * GIB, 0))]
    running = [run("r", 1, "gpu", gpus=1)]
    decision = Fifo().decide(0, [wait("g", 1, 1, gpus=1), wait("c", 1, 2), wait("g2", 1, 3, gpus=1)], running, nodes)
    assert decision.start == [Placement("c", "plain")]
    assert decision.reasons == {"g": "Needs 1 gpu, 0 are free", "g2": "Behind 1 job"}


def test_a_job_that_no_machine_can_hold_says_so_and_holds_nobody_up() -> None:
    decision = Fifo().decide(0, [wait("huge", 1, 1, gpus=2), wait("fine", 1, 2), wait("fat", 1, 3, gib=99)], [], N4)
    assert decision.start == [Placement("fine", "n")]
    assert decision.reasons == {
        "huge": "Needs 2 gpus, no machine here has them",
        "fat": "Needs 99.0 GiB of memory, no machine here has it",
    }


def test_the_words_for_several_shortages_and_machines() -> None:
    nodes = [Node("a", Resources(4.0, 8 * GIB, 0)), Node("b", Resources(4.0, 8 * GIB, 0))]
    running = [run("r", 3, "a", gib=6), run("s", 4, "b", gib=7)]
    decision = Fifo().decide(0, [wait("w", 2, gib=4)], running, nodes)
    assert decision.reasons["w"] == (
        "Needs 2 cpus and 4.0 GiB of memory, 1 cpu and 2.0 GiB of memory are free on one machine"
    )
    assert Fifo().decide(0, [wait("w", 2)], [], []).reasons["w"] == "No machine is here to run it"


def test_a_job_goes_where_it_fits_most_tightly_and_leaves_gpus_to_those_who_ask() -> None:
    nodes = [Node("gpu", Resources(4.0, 16 * GIB, 2)), Node("big", Resources(8.0, 16 * GIB, 0)), *N4]
    assert Fifo().decide(0, [wait("w", 2)], [], nodes).start == [Placement("w", "n")]


# FitGpp: capacity 32 cpus, 256 GiB, 8 gpus, as in the paper's evaluation

PAPER = [Node("n", Resources(32.0, 256 * GIB, 8))]


def paper_jobs() -> list[Running]:
    return [
        Running("a", BE, Resources(8.0, 64 * GIB, 2), "n", grace=60.0),  # (1/4, 1/4, 1/4): |D| = sqrt(3)/4
        Running("b", BE, Resources(16.0, 128 * GIB, 4), "n", grace=30.0),  # (1/2, 1/2, 1/2): |D| = sqrt(3)/2
        Running("c", BE, Resources(8.0, 0, 0), "n", grace=180.0),  # (1/4, 0, 0): |D| = 1/4
    ]


def test_scores_are_those_of_equation_1() -> None:
    """Largest |D| is b's, longest grace period is c's: 180 s."""
    jobs = paper_jobs()
    score = FitGpp().scores(jobs, relative_sizes(jobs, PAPER))
    assert score["a"] == pytest.approx(1 / 2 + 4 * 60 / 180)  # 1.8333
    assert score["b"] == pytest.approx(1 + 4 * 30 / 180)  # 1.6667
    assert score["c"] == pytest.approx(1 / (2 * 3**0.5) + 4)  # 4.2887
    lighter = FitGpp(weight=0.5).scores(jobs, relative_sizes(jobs, PAPER))
    assert lighter["a"] == pytest.approx(1 / 2 + 0.5 / 3)  # 0.6667: with a small s, size decides
    assert lighter["b"] == pytest.approx(1 + 0.5 / 6)


@pytest.mark.parametrize(
    ("weight", "demand", "victim"),
    [
        (4.0, Resources(8.0, 64 * GIB, 2), "b"),  # all but c free enough memory; b has the least score
        (0.5, Resources(8.0, 64 * GIB, 2), "a"),  # size counts for more: a
        (0.5, Resources(16.0, 64 * GIB, 2), "b"),  # a frees 8 cpus and none is free: only b is eligible
    ],
)
def test_the_victim_is_that_of_equation_2(weight: float, demand: Resources, victim: str) -> None:
    decision = FitGpp(weight=weight).decide(0, [Waiting("t", TE, demand)], paper_jobs(), PAPER)
    assert decision.preempt == [victim] and decision.start == []


def test_the_free_room_of_the_node_counts_towards_eligibility() -> None:
    """D_TE <= D_j + N: 3 cpus fit into the 1 that is free and the 2 of b; a's node has nothing free."""
    nodes = [Node("x", Resources(4.0, 16 * GIB)), Node("y", Resources(4.0, 16 * GIB))]
    running = [run("a", 2, "x"), run("t1", 2, "x", TE), run("b", 2, "y"), run("t2", 1, "y", TE)]
    assert FitGpp().decide(0, [wait("t", 3, cls=TE)], running, nodes).preempt == ["b"]


def test_a_job_that_was_preempted_p_times_is_spared() -> None:
    running = [run("a", 4, preemptions=1)]
    te = [wait("t", 4, cls=TE)]
    assert FitGpp().decide(0, te, running, N4).preempt == []
    assert FitGpp().decide(0, te, running, N4).reasons == {"t": "Needs 4 cpus, 0 are free"}
    assert FitGpp(max_preemptions=2).decide(0, te, running, N4).preempt == ["a"]


def test_a_largest_grace_period_of_zero_leaves_the_size_to_decide() -> None:
    running = [run("large", 3, grace=0.0), run("small", 1, grace=0.0)]
    assert FitGpp().decide(0, [wait("t", 1, cls=TE)], running, N4).preempt == ["small"]


def test_a_largest_demand_of_zero_gives_no_size_term() -> None:
    jobs = [Running(name, BE, Resources(0.0, 0, 0), "n", grace) for name, grace in (("a", 10.0), ("b", 5.0))]
    score = FitGpp().scores(jobs, relative_sizes(jobs, N4))
    assert score == {"a": 4.0, "b": 2.0}


def test_of_equal_scores_the_one_that_started_last_goes() -> None:
    running = [run("a", 2, started=5.0), run("b", 2, started=9.0)]
    assert FitGpp().decide(0, [wait("t", 2, cls=TE)], running, N4).preempt == ["b"]


def test_where_no_single_job_is_enough_the_fewest_of_one_node_go() -> None:
    """x: three jobs of 1 cpu are needed; y: two of 2."""
    nodes = [Node("x", Resources(3.0, 16 * GIB)), Node("y", Resources(4.0, 16 * GIB))]
    running = [*(run(f"x{i}", 1, "x", grace=0.0) for i in range(3)), run("y0", 2, "y"), run("y1", 2, "y")]
    decision = FitGpp().decide(0, [wait("t", 3, cls=TE)], running, nodes)
    assert sorted(decision.preempt) == ["y0", "y1"]
    assert decision.reasons["t"] == "Room is being made: y1 and y0 stop within 30 s"


def test_a_job_whose_room_turns_out_not_to_be_needed_is_spared() -> None:
    """Scores go up with size: a (1 cpu), b (2), c (3); t needs 5: a + b + c makes 6, and b + c is enough."""
    nodes = [Node("n", Resources(6.0, 16 * GIB))]
    running = [run("a", 1), run("b", 2), run("c", 3)]
    assert sorted(FitGpp().decide(0, [wait("t", 5, cls=TE)], running, nodes).preempt) == ["b", "c"]


def test_where_even_all_together_are_not_enough_nobody_is_stopped() -> None:
    running = [run("a", 1), run("other", 3, cls=TE)]
    assert FitGpp().decide(0, [wait("t", 2, cls=TE)], running, N4).preempt == []


def test_room_that_is_coming_takes_no_second_victim() -> None:
    running = [run("a", 2, stopping=True, grace=20.0), run("b", 2)]
    decision = FitGpp().decide(0, [wait("t", 2, cls=TE)], running, N4)
    assert decision.preempt == []
    assert decision.reasons == {"t": "Room is being made: a stops within 20 s"}


def test_two_newcomers_at_once_take_a_victim_each() -> None:
    running = [run("a", 2, started=1.0), run("b", 2)]
    decision = FitGpp().decide(0, [wait("t", 2, cls=TE), wait("u", 2, 1, cls=TE), wait("v", 2, 2, cls=TE)], running, N4)
    assert decision.preempt == ["a", "b"]
    assert decision.reasons["v"] == "Needs 2 cpus, 0 are free"


def test_room_made_for_a_newcomer_is_not_taken_by_the_head_of_the_best_effort_queue() -> None:
    """b wants the 2 cpus that are free now; t was promised them together with those of a."""
    running = [run("a", 2, stopping=True)]
    decision = FitGpp().decide(0, [wait("t", 4, 5, cls=TE), wait("b", 2, -1)], running, N4)
    assert decision.start == []
    assert decision.reasons["b"] == "Behind 1 job"


def test_best_effort_jobs_never_make_room_for_each_other_nor_trial_jobs_for_anyone() -> None:
    assert FitGpp().decide(0, [wait("b", 4)], [run("a", 4)], N4).preempt == []
    assert FitGpp().decide(0, [wait("t", 4, cls=TE)], [run("a", 4, cls=TE)], N4).preempt == []


def test_trial_and_error_jobs_stand_before_best_effort_ones() -> None:
    decision = FitGpp().decide(0, [wait("b", 4, 1), wait("t", 4, 2, cls=TE)], [], N4)
    assert decision.start == [Placement("t", "n")]
    assert decision.reasons == {"b": "Needs 4 cpus, 0 are free"}
