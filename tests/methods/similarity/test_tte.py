import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.tte import FLOOR, expected_times, similarities_of, training_time, training_times

shares = st.floats(0, 1)
sizes = st.floats(0.1, 1e7)


@given(shares, shares, sizes, st.floats(0.1, 100))
def test_nearer_weights_never_get_a_larger_estimate(one, other, size, frequency):
    near, far = max(one, other), min(one, other)
    assert training_time(near, size, frequency) <= training_time(far, size, frequency)


@given(sizes, st.floats(0.1, 100))
def test_the_nearest_weights_cost_more_on_a_larger_set_and_never_nothing(size, frequency):
    assert training_time(1.0, size, frequency) == pytest.approx(FLOOR * size * frequency)
    assert training_time(1.0, 2 * size, frequency) > training_time(1.0, size, frequency) > 0


def test_without_a_floor_it_is_equation_5():
    assert training_time(0.75, 2000, 3, floor=0) == pytest.approx((1 - 0.75) * 2000 * 3)


def test_the_furthest_weights_take_every_image_as_often_as_it_comes():
    assert training_time(0.0, 2000, 3) == 6000


def test_many_at_once_are_each_as_one():
    alike, size, frequency = np.array([[0.1, 1.0], [0.5, 0.0]]), np.array([[10.0], [20.0]]), np.array([[1.0], [4.0]])
    by_one = [[training_time(alike[j, w], size[j, 0], frequency[j, 0]) for w in range(2)] for j in range(2)]
    assert training_times(alike, size, frequency).tolist() == by_one


def test_what_is_expected_of_the_epochs_scales_with_size_and_frequency():
    assert expected_times([[0.5, 1.0]], [[100]], [[2]]).tolist() == [[100.0, 200.0]]


def test_the_nearest_is_1_and_the_furthest_0():
    assert similarities_of([0.5, 2.0, 1.25]).tolist() == [1.0, 0.0, 0.5]
    assert similarities_of([[3.0, 3.0], [1.0, 2.0]]).tolist() == [[1.0, 1.0], [1.0, 0.0]]
    assert similarities_of([]).size == 0


@pytest.mark.parametrize("values", [(1.1, 5, 1), (-0.1, 5, 1), (float("nan"), 5, 1), (0.5, -1, 1), (0.5, 5, np.inf)])
def test_what_is_no_similarity_size_or_frequency_is_refused_in_a_sentence(values):
    with pytest.raises(InvalidInput, match="it must be a number"):
        training_time(*values)
