"""What becomes of a job whose attempt has ended: every way to end, for every wish."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.base.errors import SeedbedError, family
from seedbed.base.resources import Resources, parse_size
from seedbed.runtime.executors.protocol import Exited, Lost, Node
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import TRANSITIONS, State
from seedbed.runtime.jobs.verdict import judge


def job(wish: str = "", failures: int = 0, retries: int = 2) -> Job:
    state = State.STOPPING if wish else State.RUNNING
    numbers: dict[str, Any] = dict.fromkeys(("position", "fence", "preemptions", "not_before", "step_now"), 0)
    numbers |= dict.fromkeys(("step_total", "submitted", "started", "ended"), 0)
    words = dict.fromkeys(("id", "name", "flow", "reason", "doing", "key", "checkpoint"), "")
    spec = JobSpec("s", retries=retries, timeout=5.0)
    return Job(**numbers, **words, spec=spec, state=state, failures=failures, wish=wish, outputs={})


KILLED = Exited(137, 9, "Too much memory.", memory=5 << 30)
ENDS = [Exited(0), Exited(1), Exited(75), Exited(137, 9), Exited(143, 15), KILLED, Lost("x")]


@given(st.sampled_from(["", "cancel", "preempt", "timeout", "pause"]), st.sampled_from(ENDS), st.integers(0, 3))
def test_every_verdict_is_a_step_that_the_table_of_states_has(wish: str, end: Exited | Lost, failures: int) -> None:
    before = job(wish, failures)
    verdict = judge(before, end, {})
    assert verdict.state in TRANSITIONS[before.state]
    assert verdict.reason or verdict.outcome in ("done", "cancelled")
    assert not (verdict.failure and failures >= 2 and verdict.state is State.WAITING)  # retries end


@pytest.mark.parametrize("end", ENDS)
def test_a_cancelled_job_ends_as_cancelled_however_its_attempt_ended(end: Exited | Lost) -> None:
    assert judge(job("cancel"), end, {}).state is State.CANCELLED


@pytest.mark.parametrize("end", [Exited(75), Exited(137, 9, "Killed after its grace."), Exited(143, 15), Lost("x")])
def test_a_preempted_job_goes_to_the_head_without_a_failure(end: Exited | Lost) -> None:
    verdict = judge(job("preempt"), end, {})
    assert (verdict.state, verdict.head, verdict.preemption, verdict.failure) == (State.WAITING, True, True, False)


@pytest.mark.parametrize("end", [Exited(75), Exited(143, 15), Lost("x")])
def test_a_job_that_was_stopped_for_now_waits_at_the_head_until_somebody_lets_it_go_on(end: Exited | Lost) -> None:
    verdict = judge(job("pause"), end, {})
    assert (verdict.state, verdict.head, verdict.pause, verdict.failure) == (State.WAITING, True, True, False)


def test_a_job_that_fails_while_it_makes_room_has_failed() -> None:
    verdict = judge(job("preempt"), Exited(1), {"message": "No.", "code": "invalid-input"})
    assert (verdict.state, verdict.reason) == (State.FAILED, "No.")


def test_a_job_that_finished_before_it_heard_the_wish_is_done() -> None:
    assert judge(job("preempt"), Exited(0), {}).state is State.DONE
    assert judge(job("timeout"), Exited(0), {}).state is State.DONE
    assert judge(job("pause"), Exited(0), {}).state is State.DONE


@pytest.mark.parametrize(
    ("end", "error", "state"),
    [
        (Exited(1), {}, State.WAITING),
        (Exited(1), {"code": "unavailable", "message": "The hub is away."}, State.WAITING),
        (Exited(1), {"code": "not-found", "message": "No such column."}, State.FAILED),
        (Exited(137, 9), {}, State.WAITING),
        (Exited(137, 9, "It used too much memory."), {}, State.FAILED),
        (Lost("gone"), {}, State.WAITING),
    ],
)
def test_what_may_go_better_next_time_is_tried_again(end: Exited | Lost, error: dict[str, str], state: State) -> None:
    assert judge(job(), end, error).state is state
    assert judge(job(failures=2), end, error).state is State.FAILED


# every member of the family, and what becomes of a job whose first attempt ended with it
AFTER = {
    "invalid-input": State.FAILED,
    "unauthenticated": State.FAILED,
    "forbidden": State.FAILED,
    "not-found": State.FAILED,
    "conflict": State.FAILED,
    "too-large": State.FAILED,  # a zip bomb is one the next time too
    "unsafe": State.FAILED,
    "unavailable": State.WAITING,
    "damaged": State.FAILED,
    "disk-full": State.WAITING,
    "wrong-version": State.FAILED,
    "failed": State.FAILED,
    "too-often": State.WAITING,
}


def test_every_member_of_the_family_of_errors_has_its_verdict() -> None:
    assert [member.code for member in family()] == list(AFTER)
    found = {code: judge(job(), Exited(1), {"code": code, "message": "No."}).state for code in AFTER}
    assert found == AFTER
    assert judge(job(), Exited(1), {"code": SeedbedError.code, "message": "No."}).state is State.WAITING


def told(had: Resources, *machines: Resources) -> str:
    """What a job is told that used 5 GiB."""
    asked = replace(job(), id="j1")
    asked = replace(asked, spec=replace(asked.spec, resources=had))
    verdict = judge(asked, KILLED, {}, [Node(str(number), machine) for number, machine in enumerate(machines)])
    assert verdict.state is State.FAILED and verdict.reason.startswith(KILLED.reason)
    return verdict.reason.removeprefix(f"{KILLED.reason} ")


def give_it(memory: str) -> str:
    return f"Give it more (seedbed jobs rerun j1 --memory {memory}), or make the work smaller."


@pytest.mark.parametrize(("had", "advice"), [(1, "8G"), (2, "8G"), (3, "6G"), (5, "10G")])
def test_who_used_too_much_memory_is_told_how_to_be_given_more_than_that(had: int, advice: str) -> None:
    assert told(Resources(1, had << 30)) == give_it(advice)


@pytest.mark.parametrize(("most", "advice"), [(9.0, "8G"), (8.0, "8G"), (7.0, "7G"), (6.3, "6451M")])
def test_nobody_is_advised_to_ask_for_more_memory_than_a_machine_has(most: float, advice: str) -> None:
    capacity = int(most * (1 << 30))
    assert told(Resources(1, 1 << 30), Resources(4, capacity), Resources(4, 1 << 30)) == give_it(advice)
    assert parse_size(advice) <= capacity


def test_what_needs_more_memory_than_its_machines_have_is_to_be_made_smaller() -> None:
    small, large, gpu = Resources(4, 5 << 30), Resources(4, 64 << 30), Resources(4, 4 << 30, 1)
    smaller = "No machine here has that much to give: make the work smaller."
    assert told(Resources(1, 1 << 30), small) == smaller
    assert told(Resources(1, 1 << 30, 1), gpu, large) == smaller  # the large one has no gpu
    assert told(Resources(1, 1 << 30), gpu, large) == give_it("8G")
