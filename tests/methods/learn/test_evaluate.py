import numpy as np
import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.evaluate import evaluate, expected_calibration_error, mistakes, reliability


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


def test_reliability_bins_counted_by_hand():
    confidence = np.array([0.95, 0.95, 0.55, 0.55])
    low, high = reliability(confidence, np.array([True, False, True, True]), bins=10)
    assert (low.low, low.high, low.count, low.accuracy) == pytest.approx((0.5, 0.6, 2, 1.0))
    assert (high.low, high.high, high.count, high.accuracy, high.confidence) == pytest.approx((0.9, 1, 2, 0.5, 0.95))


def test_errors_of_ordered_classes_are_in_the_unit_of_their_values():
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    found = evaluate(probabilities, np.array([1, 2]), ("none", "some", "all"), values=(0, 10, 100))
    assert found.mean_absolute_error == pytest.approx((10 + 0) / 2)
    assert found.expected_absolute_error == pytest.approx((abs(23 - 10) + abs(72 - 100)) / 2)
    assert evaluate(probabilities, np.array([1, 2]), ("a", "b", "c")).mean_absolute_error is None


def test_two_classes_are_ranked_as_counted_by_hand():
    second = np.array([0.1, 0.4, 0.35, 0.8])
    found = evaluate(np.stack([1 - second, second], axis=1), np.array([0, 0, 1, 1]), ("good", "bad"))
    assert found.roc_auc == pytest.approx(3 / 4)  # of the four pairs one is in the wrong order
    assert found.average_precision == pytest.approx((1 / 1 + 2 / 3) / 2)


def test_a_test_with_one_of_two_classes_says_that_it_cannot_rank():
    found = evaluate(np.eye(2)[[0, 1]], np.array([0, 0]), ("good", "bad"), temperature=1.0)
    assert found.roc_auc is None and "roc_auc" not in found.to_json()
    assert ["one class only" in note for note in found.notes] == [True]


def test_the_surest_mistakes_come_first():
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.01, 0.99]])
    found = mistakes(probabilities, np.array([1, 1, 0, 1]), ("a", "b"), most=2)
    assert [(one.row, one.true, one.called, one.confidence) for one in found] == [
        (0, "b", "a", 0.9),
        (2, "a", "b", 0.8),
    ]


def test_calibration_before_the_temperature_is_that_of_the_undivided_logits():
    logits = np.array([[4.0, 0.0], [0.0, 4.0], [4.0, 0.0]])
    truth = np.array([0, 1, 1])

    def softmax(values):
        return np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)

    found = evaluate(softmax(logits / 3), truth, ("a", "b"), temperature=3.0)
    assert found.ece_before == pytest.approx(evaluate(softmax(logits), truth, ("a", "b")).ece)
    assert found.ece < found.ece_before and not found.notes


def test_without_a_fitted_temperature_the_report_says_so():
    found = evaluate(np.eye(3)[[0, 1, 2]], np.array([0, 1, 2]), ("a", "b", "c"))
    assert found.ece_before is None and not found.reliability_before
    assert "No temperature was fitted" in found.notes[0]


def test_a_model_that_answers_the_same_whatever_it_sees_has_learnt_nothing_and_the_report_says_so():
    collapsed = np.array([[0.5, 0.3, 0.2], [0.502, 0.299, 0.199], [0.499, 0.3, 0.201]])
    found = evaluate(collapsed, np.array([0, 1, 2]), ("a", "b", "c"), temperature=1.0)
    assert ["the same answer" in note and "smaller learning rate" in note for note in found.notes] == [True]
    unsure = np.array([[0.5, 0.3, 0.2], [0.45, 0.35, 0.2], [0.5, 0.25, 0.25]])
    assert not evaluate(unsure, np.array([0, 1, 2]), ("a", "b", "c"), temperature=1.0).notes
    assert not evaluate(collapsed, np.array([0, 0, 0]), ("a", "b", "c"), temperature=1.0).notes  # may be right
    torn = np.array([[0.5, 0.499, 0.001], [0.499, 0.5, 0.001], [0.5, 0.499, 0.001]])  # by a temperature, say
    assert not evaluate(torn, np.array([0, 1, 2]), ("a", "b", "c"), temperature=9.0).notes
