import numpy as np
import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.evaluate import evaluate, expected_calibration_error


def test_scores_of_a_case_counted_by_hand():
    called = [0, 0, 1, 1, 1, 2]
    truth = np.array([0, 1, 1, 1, 2, 2])
    found = evaluate(np.eye(3)[called], truth, ("a", "b", "c"))
    assert found.confusion == ((1, 0, 0), (1, 2, 0), (0, 1, 1))
    assert found.accuracy == pytest.approx(4 / 6)
    a, b, c = found.classes
    assert (a.precision, a.recall, a.f1, a.count) == pytest.approx((1 / 2, 1, 2 / 3, 1))
    assert (b.precision, b.recall, b.f1, b.count) == pytest.approx((2 / 3, 2 / 3, 2 / 3, 3))
    assert (c.precision, c.recall, c.f1, c.count) == pytest.approx((1, 1 / 2, 2 / 3, 2))
    assert found.recall == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)
    assert found.f1 == pytest.approx(2 / 3)


def test_a_class_without_images_does_not_count_in_the_means():
    found = evaluate(np.eye(3)[[0, 1]], np.array([0, 1]), ("a", "b", "none"))
    assert (found.precision, found.recall, found.f1) == (1, 1, 1)
    assert found.classes[2].count == 0


def test_calibration_error_counted_by_hand():
    confidence = np.array([0.95, 0.95, 0.55, 0.55])
    correct = np.array([True, False, True, True])
    # the upper bin is 0.45 too sure, the lower one 0.45 too modest; each holds half of the images
    assert expected_calibration_error(confidence, correct, bins=10) == pytest.approx(0.45)


def test_a_perfectly_sure_and_right_model_has_no_calibration_error():
    assert evaluate(np.eye(2)[[0, 1]], np.array([0, 1]), ("a", "b")).ece == 0


def test_every_mistake_in_the_input_is_named_at_once():
    with pytest.raises(InvalidInput) as caught:
        evaluate(np.zeros((3, 2)), np.array([0, 1]), ("a", "b", "c"))
    assert len(caught.value.problems) == 2
    with pytest.raises(InvalidInput, match="spans -1"):
        evaluate(np.ones((2, 2)), np.array([-1, 0]), ("a", "b"))
    with pytest.raises(InvalidInput, match="no images"):
        evaluate(np.ones((0, 2)), np.array([], dtype=int), ("a", "b"))
