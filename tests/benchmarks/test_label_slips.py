import numpy as np
import pytest
from benchmarks.label_slips import CLEANLAB, JOINT, OURS, Case, counted, figures, named_by_us, table, with_slips


def test_as_many_labels_slip_as_are_to_and_each_to_another_class() -> None:
    truth = np.arange(60) % 3
    given = with_slips(truth, 3, 7, np.random.default_rng(0))
    assert (given != truth).sum() == 7 and set(given) == {0, 1, 2}
    assert np.array_equal(with_slips(truth, 3, 0, np.random.default_rng(0)), truth)


@pytest.fixture
def case() -> Case:
    chances = np.array([[0.9, 0.1]] * 20 + [[0.1, 0.9]] * 20)
    given = np.repeat([0, 1], 20)
    given[[3, 30]] = 1 - given[[3, 30]]
    return Case({"labels": 20, "wrong": 0.05, "right": 1.0}, given, given != np.repeat([0, 1], 20), chances)


def test_slips_that_a_good_head_sees_are_named_and_nothing_else(case: Case) -> None:
    assert sorted(named_by_us(case)) == [3, 30]


def test_what_was_named_is_counted_as_by_hand(case: Case) -> None:
    assert counted(case, [5, 30, 3]) == {"labels": 40, "slips": 2, "named": 3, "found": 2, "found early": 1}
    assert counted(case, []) == {"labels": 40, "slips": 2, "named": 0, "found": 0, "found early": 0}


def test_figures_tell_ways_apart_and_draws_without_slips_from_those_with(case: Case) -> None:
    clean = Case({**case.about, "wrong": 0.0}, np.repeat([0, 1], 20), np.zeros(40, bool), case.chances)
    ways = {OURS: [[3, 30], []], JOINT: [[3, 5, 6, 7], [1, 2]], CLEANLAB: [[30], [9]]}
    found = figures(table([case, clean], ways))
    assert (found["ours_named_where_none_is_wrong_pct"], found["ours_found_pct"]) == (0, 100)
    assert (found["confident_joint_named_where_none_is_wrong_pct"], found["confident_joint_found_pct"]) == (5, 50)
    assert (found["confident_joint_wrong_of_named_pct"], found["cleanlab_wrong_of_named_pct"]) == (25, 100)
    assert found["confident_joint_found_in_as_many_looks_pct"] == found["cleanlab_found_in_as_many_looks_pct"] == 50
