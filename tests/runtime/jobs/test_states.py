"""The table of states, walked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.base.errors import Conflict
from seedbed.runtime.jobs.states import TRANSITIONS, State, check


def reachable(start: State) -> set[State]:
    seen, todo = {start}, [start]
    while todo:
        for state in TRANSITIONS[todo.pop()] - seen:
            seen.add(state)
            todo.append(state)
    return seen


def test_every_state_is_in_the_table_and_can_be_reached() -> None:
    assert set(TRANSITIONS) == set(State)
    assert reachable(State.WAITING) == set(State)


def test_from_every_state_an_end_can_be_reached() -> None:
    assert all(any(end.ended for end in reachable(state)) for state in State)


def test_the_ends_are_done_failed_and_cancelled_and_nothing_follows_them() -> None:
    assert {state for state in State if state.ended} == {State.DONE, State.FAILED, State.CANCELLED}


@given(st.lists(st.sampled_from(State), max_size=30))
def test_a_walk_is_allowed_exactly_when_each_of_its_steps_is_in_the_table(wishes: list[State]) -> None:
    state = State.WAITING
    for wish in wishes:
        if wish in TRANSITIONS[state]:
            check(state, wish)
            state = wish
        else:
            with pytest.raises(Conflict, match=f"{state} cannot become {wish}"):
                check(state, wish)


def test_only_a_job_that_was_starting_can_run_and_only_one_that_waited_can_start() -> None:
    assert [old for old in State if State.RUNNING in TRANSITIONS[old]] == [State.STARTING]
    assert [old for old in State if State.STARTING in TRANSITIONS[old]] == [State.WAITING]
