from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.cache_choice import Kept, choose, reasons


def total(times, baseline, kept):
    return np.minimum(baseline, times[:, list(kept)].min(axis=1, initial=np.inf)).sum()


def by_force(times, baseline, slots):
    sets = combinations(range(times.shape[1]), min(slots, times.shape[1]))
    return min(total(times, baseline, kept) for kept in sets)


@st.composite
def queues(draw):
    """Jobs with estimates for up to 7 weights, where many are equal and some do not fit, and a number of slots."""
    jobs, weights = draw(st.integers(0, 6)), draw(st.integers(0, 7))
    seconds = st.one_of(st.integers(0, 9).map(float), st.floats(0, 100), st.just(np.inf))
    times = draw(st.lists(seconds, min_size=jobs * weights, max_size=jobs * weights))
    baseline = draw(st.lists(st.floats(0, 100), min_size=jobs, max_size=jobs))
    return np.array(times).reshape(jobs, weights), np.array(baseline), draw(st.integers(0, 8))


@given(queues())
def test_small_cases_are_solved_as_by_trying_every_set(queue):
    times, baseline, slots = queue
    choice = choose(times, baseline, slots)
    assert choice.total == pytest.approx(by_force(times, baseline, slots), rel=1e-7, abs=1e-7)
    assert choice.total == pytest.approx(total(times, baseline, choice.kept))
    assert choice.exact and len(choice.kept) <= slots and choice.without == pytest.approx(baseline.sum())


@given(queues())
def test_greedy_saves_what_it_guarantees_and_its_bound_holds(queue):
    times, baseline, slots = queue
    choice, best = choose(times, baseline, slots, effort=0), by_force(times, baseline, slots)
    assert choice.bound <= best + 1e-6 and choice.total >= best - 1e-6
    assert choice.saved >= (1 - 1 / np.e) * (baseline.sum() - best) - 1e-6


@given(queues())
def test_more_slots_never_cost_time(queue):
    times, baseline, slots = queue
    assert choose(times, baseline, slots + 1).total <= choose(times, baseline, slots).total + 1e-6


@settings(max_examples=60)
@given(queues(), st.data())
def test_what_is_loaded_changes_the_choice_only_between_equals(queue, data):
    times, baseline, slots = np.ceil(queue[0]), np.ceil(queue[1]), min(queue[2], 4)  # whole seconds add up exactly
    loaded = data.draw(st.sets(st.integers(0, max(times.shape[1] - 1, 0)), max_size=times.shape[1]))
    choice = choose(times, baseline, slots, loaded=loaded)
    assert choice.total == by_force(times, baseline, slots)
    sets = [kept for size in range(slots + 1) for kept in combinations(range(times.shape[1]), size)]
    equal = [kept for kept in sets if total(times, baseline, kept) <= choice.total]
    assert len(loaded & set(choice.kept)) == max(len(loaded & set(kept)) for kept in equal)


def test_the_choice_by_hand():
    baseline = np.array([10.0, 10.0, 10.0])
    times = np.array([[4, 1, 10], [4, 10, 1], [5, 10, 10]])  # the first helps all, the others one job each
    assert choose(times, baseline, 0).kept == ()
    assert choose(times, baseline, 1).kept == (0,) and choose(times, baseline, 1).total == 13
    two = choose(times, baseline, 2)
    assert two.total == 10 and two.saved == 20 and two.kept == (0, 1)
    assert choose(times, baseline, 3).total == 7


def test_where_greedy_is_wrong_the_search_finds_better():
    baseline = np.full(4, 10.0)
    times = np.array([[3, 1, 10], [3, 10, 1], [3, 1, 10], [3.0, 10, 1]])  # 28 by the first, 36 by the other two
    assert choose(times, baseline, 2, effort=0).total == 8.0
    assert choose(times, baseline, 2).kept == (1, 2) and choose(times, baseline, 2).total == 4.0


def test_among_equals_what_is_loaded_stays_and_spare_room_keeps_it():
    baseline, times = np.array([10.0]), np.array([[5.0, 5.0, 5.0, 20.0]])
    assert choose(times, baseline, 1).kept == (0,)
    assert choose(times, baseline, 1, loaded=[2]).kept == (2,)
    assert choose(times, baseline, 2, loaded=[2, 3]).kept == (2, 3)
    assert choose(np.zeros((0, 4)), np.zeros(0), 2, loaded=[1, 2, 3]).kept == (1, 2)
    better = np.array([[5.0, 4.0, 5.0, 20.0]])
    assert choose(better, baseline, 1, loaded=[2]).kept == (1,)


def test_what_is_loaded_stays_where_one_alone_is_as_good_as_all_of_it():
    times = np.array([[0.0, 0.0, 2.0], [0.0, 1.0, 0.0]])  # greedy takes the first, which saves all that can be saved
    assert choose(times, np.array([2.0, 2.0]), 2, loaded=[1, 2]).kept == (1, 2)


def test_weights_that_help_no_job_are_not_loaded():
    assert choose(np.full((3, 5), 20.0), np.full(3, 10.0), 4).kept == ()


def test_a_thousand_weights_and_jobs_are_chosen_from_with_a_close_bound():
    draws = np.random.default_rng(0)
    baseline = draws.uniform(1, 100, size=1000)
    choice = choose(baseline[:, None] * draws.uniform(0.3, 1.5, size=(1000, 1000)), baseline, 20, effort=0)
    assert len(choice.kept) == 20 and choice.bound <= choice.total <= 1.25 * choice.bound


def test_room_for_more_than_there_are_jobs_is_solved_and_a_deep_search_is_left():
    draws = np.random.default_rng(1)
    times, baseline = draws.uniform(0, 1, size=(150, 400)), np.ones(150)
    assert choose(times, baseline, 400).total == pytest.approx(times.min(axis=1).sum())
    assert choose(times, baseline, 120).bound <= choose(times, baseline, 120).total


def test_the_reasons_count_every_job_once():
    times, baseline = np.array([[4, 1, 9], [4, 10, 12], [12, 12, 12]]), np.full(3, 10.0)
    assert reasons(times, baseline, (0, 1, 2)) == [Kept(1, 1, 9.0), Kept(0, 1, 6.0), Kept(2, 0, 0.0)]
    assert reasons(times, baseline, ()) == []


@settings(max_examples=30)
@given(queues())
def test_the_reasons_add_up_to_what_is_saved(queue):
    times, baseline, slots = queue
    choice = choose(times, baseline, slots)
    assert sum(one.saved for one in reasons(times, baseline, choice.kept)) == pytest.approx(choice.saved, abs=1e-6)


@pytest.mark.parametrize(
    "times, baseline, slots, loaded, said",
    [
        (np.zeros((2, 3)), np.zeros(3), 1, [], "shape"),
        (np.full((2, 3), np.nan), np.zeros(2), 1, [], "times holds"),
        (np.zeros((2, 3)), np.full(2, np.inf), 1, [], "baseline holds"),
        (np.zeros((2, 3)), np.zeros(2), -1, [], "slots is -1"),
        (np.zeros((2, 3)), np.zeros(2), 1, [3], "3 is not one of the 3 weights"),
    ],
)
def test_what_cannot_be_chosen_from_gets_a_sentence(times, baseline, slots, loaded, said):
    with pytest.raises(InvalidInput, match=said):
        choose(times, baseline, slots, loaded=loaded)
