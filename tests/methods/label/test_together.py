"""The head's word and a model's as one, by hand."""

import numpy as np
import pytest

from seedbed.methods.label.together import in_classes, together

NAN = np.nan


def table(*rows: list[float]) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


def test_both_count_alike_as_a_geometric_mean() -> None:
    # sqrt(0.64 * 0.36) = 0.48 and sqrt(0.36 * 0.64) = 0.48; sqrt(0.9 * 0.4) = 0.6 and sqrt(0.1 * 0.6) = 0.2449
    found = together(table([0.64, 0.36], [0.9, 0.1]), table([0.36, 0.64], [0.4, 0.6]), part=0.5)
    assert found.dtype == np.float32
    assert found == pytest.approx(table([0.5, 0.5], [0.6 / 0.8449, 0.2449 / 0.8449]), abs=1e-4)


def test_a_part_of_one_is_the_head_and_of_none_the_model() -> None:
    head, model = table([0.7, 0.2, 0.1]), table([0.1, 0.3, 0.6])
    assert together(head, model, part=1.0) == pytest.approx(head, abs=1e-6)
    assert together(head, model, part=0.0) == pytest.approx(model, abs=1e-6)


def test_what_the_model_does_not_know_is_the_heads_alone() -> None:
    # of the first two the head gives 0.4 and 0.1, the model 0.2 and 0.8: sqrt(0.08) each, so that they halve 0.5
    found = together(table([0.4, 0.1, 0.5], [0.2, 0.3, 0.5]), table([0.2, 0.8, NAN], [NAN, NAN, NAN]), part=0.5)
    assert found == pytest.approx(table([0.25, 0.25, 0.5], [0.2, 0.3, 0.5]), abs=1e-6)


def test_a_class_without_a_label_stays_out_and_a_model_that_is_all_for_it_rules_nothing_out() -> None:
    # the model leaves one in a million to the others, to both alike
    found = together(table([0.8, 0.2, 0.0]), table([0.0, 0.0, 1.0]), part=0.5)
    assert found == pytest.approx(table([2 / 3, 1 / 3, 0.0]), abs=1e-6)
    unlabelled = together(table([1.0, 0.0, 0.0]), table([NAN, 0.5, 0.5]), part=0.5)
    assert unlabelled == pytest.approx(table([1.0, 0.0, 0.0]))


def test_chances_stay_chances_whatever_is_said() -> None:
    draws = np.random.default_rng(0)
    head, model = (draws.dirichlet(np.full(5, 0.1), 200).astype(np.float32) for _ in range(2))
    model[draws.random(model.shape) < 0.3] = NAN
    head[:, 4] = 0
    head /= np.maximum(head.sum(axis=1, keepdims=True), 1e-9)
    found = together(head, model)
    assert np.isfinite(found).all() and (found >= 0).all()
    assert np.allclose(found.sum(axis=1), head.sum(axis=1), atol=1e-5)


def test_answers_move_with_their_classes() -> None:
    answers = table([0.5, 0.3, 0.2])
    moved = in_classes(answers, np.array([2, 0, 1]), 3)
    assert moved == pytest.approx(table([0.3, 0.2, 0.5]))
    merged = in_classes(answers, np.array([0, 0, 1]), 3)
    assert merged == pytest.approx(table([0.8, 0.2, NAN]), nan_ok=True)
    gone = in_classes(answers, np.array([-1, 1, 0]), 2)
    assert gone == pytest.approx(table([0.2, 0.3]))
