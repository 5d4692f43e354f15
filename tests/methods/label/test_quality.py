import numpy as np
import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.label.quality import (
    agreement,
    choose_honeypots,
    doubted,
    fold_of,
    likely_mistakes,
    mix_in,
    out_of_fold,
    score,
)
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


def test_krippendorffs_own_example_with_missing_opinions():
    # Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, part C: 4 observers, 12 units, nominal 0.743
    _ = -1
    said = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
    found = agreement(np.array(said).T)
    assert found.alpha == pytest.approx(0.743, abs=5e-4)
    assert found.images == 11 and len(found.pairs) == 6


def test_cohens_kappa_by_hand():
    # 20 yes-yes, 15 no-no, 5 and 10 apart: observed 0.7, by chance 0.5
    one = [1] * 20 + [1] * 5 + [0] * 10 + [0] * 15
    other = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    (pair,) = agreement(np.array([one, other]).T).pairs
    assert pair.kappa == pytest.approx(0.4) and pair.images == 50


def test_agreement_of_one_mind_and_of_nobody():
    same = agreement(np.full((5, 3), 2))
    assert same.alpha == 1 and same.agreed == 1 and all(pair.kappa == 1 for pair in same.pairs)
    alone = agreement(np.array([[0, -1], [-1, 1]]))
    assert alone.images == 0 and alone.pairs == ()
    with pytest.raises(InvalidInput, match="people"):
        agreement(np.array([1, 2]))


def test_honeypots_take_every_class_in_turn_and_none_twice():
    golden = np.repeat([0, 1, 2, -1], [50, 5, 2, 40])
    rows = choose_honeypots(golden, 9, seed=3)
    assert len(set(rows.tolist())) == 9 and np.bincount(golden[rows]).tolist() == [4, 3, 2]
    again = choose_honeypots(golden, 100, seen=rows)
    assert not np.isin(again, rows).any() and len(again) == 48


def test_honeypots_are_mixed_in_at_places_that_cannot_be_foreseen():
    order, honey = np.arange(100), np.arange(100, 105)
    mixed = mix_in(order, honey, every=20, seed=0)
    places = np.flatnonzero(mixed >= 100)
    assert sorted(mixed.tolist()) == list(range(105)) and mixed[mixed < 100].tolist() == list(range(100))
    assert (places // 20).tolist() == [0, 1, 2, 3, 4] and len(set(places % 20)) > 1
    assert mix_in(order[:0], honey).tolist() == []


def test_a_score_knows_how_little_a_few_answers_say():
    golden, said = np.array([0, 1, 2, 2, -1, 1]), np.array([0, 1, 0, 2, 1, -1])
    found = score(golden, said)
    assert (found.asked, found.right, found.share) == (4, 3, 0.75)
    assert found.low < 0.4 and found.high > 0.95
    nothing = score(golden, np.full(6, -1))
    assert (nothing.asked, nothing.share, nothing.low, nothing.high) == (0, 0, 0, 1)
