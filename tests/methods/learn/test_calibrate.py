import math

import numpy as np
import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.calibrate import COLDEST, HOTTEST, fit_temperature, tempered


def sure(margin: float, right: int, wrong: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, always the same margin, so many right and wrong."""
    logits = np.tile([margin, 0.0], (right + wrong, 1))
    return logits, np.array([0] * right + [1] * wrong)


def test_the_temperature_makes_a_constant_confidence_equal_to_the_accuracy():
    # softmax of (6/T, 0) is 3/4 where 6/T = log 3
    assert fit_temperature(*sure(6.0, 300, 100), spread=math.inf) == pytest.approx(6 / math.log(3), rel=1e-3)
    # too modest: 9 of 10 are right, but the margin says 0.73
    assert fit_temperature(*sure(1.0, 900, 100), spread=math.inf) == pytest.approx(1 / math.log(9), rel=1e-3)


def test_many_labels_outweigh_the_belief_that_it_is_near_one():
    assert fit_temperature(*sure(6.0, 3000, 1000)) == pytest.approx(6 / math.log(3), rel=0.01)


def test_a_dozen_right_answers_do_not_make_a_model_infallible():
    logits, labels = sure(2.0, 12, 0)
    assert fit_temperature(logits, labels, spread=math.inf) < 2 * COLDEST
    assert 0.5 < fit_temperature(logits, labels) < 1


def test_answers_that_mean_nothing_are_cooled_to_the_bound_and_no_further():
    assert fit_temperature(*sure(100.0, 50, 50), spread=math.inf) == pytest.approx(HOTTEST, rel=0.01)


def test_tempering_twice_is_tempering_by_the_product_and_keeps_the_order():
    probabilities = np.array([[0.7, 0.2, 0.1], [0.05, 0.05, 0.9]])
    np.testing.assert_allclose(tempered(tempered(probabilities, 2), 1 / 2), probabilities)
    warm = tempered(probabilities, 3.0)
    np.testing.assert_allclose(warm.sum(axis=1), 1)
    assert (warm.argsort(axis=1) == probabilities.argsort(axis=1)).all() and (warm.max(axis=1) < [0.7, 0.9]).all()


def test_no_labels_and_endless_logits_are_refused():
    with pytest.raises(InvalidInput, match="held out of training"):
        fit_temperature(np.empty((0, 2)), np.empty(0, dtype=int))
    with pytest.raises(InvalidInput, match="not finite"):
        fit_temperature(np.array([[np.inf, 0.0]]), np.array([0]))
