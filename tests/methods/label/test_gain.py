import numpy as np
import pytest

from seedbed.methods.label.gain import gains, lacks
from seedbed.testing.choosers import choices


@pytest.fixture
def two_alike():
    """Images of four classes, of which 2 and 3 can hardly be told apart, with five labels each."""
    draws = np.random.default_rng(0)
    truth = np.arange(400) % 4
    middles = np.eye(12)[[0, 1, 2, 2]]
    middles[3, 3] = 0.3
    rows = middles[truth] + 0.15 * draws.normal(size=(400, 12))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32), np.where(np.arange(400) < 20, truth, -1)


def test_classes_that_are_hard_to_tell_apart_gain_the_most(two_alike):
    said = gains(*two_alike, 4)
    assert {gain.klass for gain in said[:2]} == {2, 3}
    assert said[1].points > 2 * said[2].points


def test_a_class_without_a_label_comes_first_and_lacks_everything(two_alike):
    rows, labels = two_alike
    said = gains(rows, np.where(labels == 0, -1, labels), 5)
    assert {gain.klass for gain in said[:2]} == {0, 4} and said[0].points == 100
    assert lacks(rows, np.where(labels == 0, -1, labels), 5)[[0, 4]].tolist() == [1, 1]


def test_of_two_classes_alike_the_one_with_fewer_labels_gains_more(two_alike):
    rows, labels = two_alike
    fewer = labels.copy()
    fewer[np.flatnonzero(labels == 2)[1:]] = -1
    assert gains(rows, fewer, 4)[0].klass == 2


def test_every_class_is_told_once_with_a_number_that_a_person_would_say():
    of = choices(labels=60)
    said = gains(of.embeddings, of.labels, 4)
    assert sorted(gain.klass for gain in said) == [0, 1, 2, 3]
    assert {gain.labels for gain in said} == {20}  # 15 labels each
    assert all(0 <= gain.points <= 100 for gain in said)


@pytest.mark.parametrize("labels", [0, 1, 120])
def test_no_label_one_label_and_all_labels_are_fine(labels):
    of = choices(labels=labels)
    assert len(gains(of.embeddings, of.labels, 4)) == 4
