import numpy as np
import pytest

from seedbed.methods.label.quality import chance_wrong, doubted, fold_of, likely_mistakes, out_of_fold
from seedbed.methods.label.suggest import Suggester
from seedbed.testing.choosers import choices


def test_labels_that_were_turned_are_found_and_few_others():
    of = choices(labels=120)
    turned = np.random.default_rng(1).choice(120, 8, replace=False)
    labels = of.labels.copy()
    labels[turned] = (labels[turned] + 1) % 4
    found = likely_mistakes(of.embeddings, labels, 4)
    assert len({one.row for one in found} & set(turned.tolist())) >= 7
    assert len({one.row for one in found} - set(turned.tolist())) <= 1
    right = [one for one in found if one.row in turned]
    assert all(one.given == labels[one.row] and one.likely == of.labels[one.row] for one in right)
    assert [one.confidence for one in found] == sorted((one.confidence for one in found), reverse=True)


def test_clean_labels_give_next_to_no_mistakes():
    of = choices(labels=120, spread=0.1)
    assert likely_mistakes(of.embeddings, of.labels, 4) == []


@pytest.mark.parametrize("labels", [40, 80, 200])
def test_of_a_weak_head_right_labels_can_be_doubted_and_few_are_named(labels: int):
    of = choices(images=labels, labels=labels, spread=0.6)
    doubts = likely_mistakes(of.embeddings, of.labels, 4, least=0.0)
    assert len(doubts) > labels / 6, "the classes overlap, and confident learning alone would name these"
    assert len(likely_mistakes(of.embeddings, of.labels, 4)) < len(doubts) / 2


def test_of_a_weak_head_what_is_named_is_mostly_wrong_and_the_rest_only_doubted():
    of = choices(images=200, labels=200, spread=0.4)
    turned = np.random.default_rng(2).choice(200, 20, replace=False)
    labels = of.labels.copy()
    labels[turned] = (labels[turned] + 2) % 4
    slips = set(turned.tolist())
    named = {one.row for one in likely_mistakes(of.embeddings, labels, 4)}
    doubts = {one.row for one in likely_mistakes(of.embeddings, labels, 4, least=0.0)}
    assert named < doubts and len(named & slips) >= 10
    assert len(named & slips) / len(named) > 0.5 > len(doubts & slips) / len(doubts)


def test_a_slip_is_as_likely_as_the_heads_word_and_the_share_of_slips_make_it():
    second = np.concatenate([np.linspace(0.9, 0.999, 50), np.linspace(0.001, 0.1, 50)])
    chances = np.stack([1 - second, second], axis=1)
    given = np.repeat([1, 0], 50)
    assert chance_wrong(chances, given).max() < 0.05
    given[47:50] = 0  # where the head is as good as sure of the other class
    wrong = chance_wrong(chances, given)
    assert wrong[47:50].min() > 0.9 and np.delete(wrong, range(47, 50)).max() < 0.1
    guess = np.full((100, 2), 0.5)
    assert chance_wrong(guess, given).max() < 0.1, "who knows nothing doubts nothing"


def test_the_rule_of_confident_learning_on_a_case_by_hand():
    chances = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.3, 0.7], [0.6, 0.4], [0.1, 0.9]])
    given = np.array([0, 0, 0, 1, 1, 1])
    # thresholds: class 0 (0.9 + 0.5 + 0.2) / 3 = 0.533, class 1 (0.7 + 0.4 + 0.9) / 3 = 0.667
    found = doubted(chances, given)
    assert [(place, likely) for place, likely, _ in found] == [(2, 1), (4, 0)]
    assert np.allclose([ahead for _, _, ahead in found], [0.6, 0.2])


def test_nothing_is_said_of_a_class_with_one_label_or_where_there_is_only_one_class():
    of = choices()
    labels = np.where(np.arange(120) < 40, np.arange(120) % 2, -1)
    labels[2] = 3  # looks like class 2, and is the only one of class 3
    assert 2 not in {one.row for one in likely_mistakes(of.embeddings, labels, 4)}
    assert likely_mistakes(of.embeddings, np.where(labels >= 0, 0, -1), 4) == []
    assert likely_mistakes(of.embeddings, of.labels, 4) == []


def test_what_is_said_of_an_image_does_not_depend_on_its_own_label():
    of = choices(labels=40)
    labels, rows = of.labels[:40], of.embeddings[:40]
    fold = fold_of(labels, 4, seed=0)
    other = labels.copy()
    other[fold == 2] = (other[fold == 2] + 1) % 4
    before = out_of_fold(rows, labels, 4, folds=4, seed=0)[fold == 2]
    head = Suggester.fit(rows, np.where(fold == 2, -1, other), 4, strength=10)
    assert np.allclose(before, head.probabilities(rows[fold == 2]))


def test_every_class_is_spread_over_the_folds():
    labels = np.repeat([0, 1, 2], [10, 5, 3])
    fold = fold_of(labels, 5, seed=1)
    assert np.bincount(fold[labels == 0]).tolist() == [2] * 5 and len(set(fold[labels == 2])) == 3
