import numpy as np
import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.label.people import agreement, choose_honeypots, mix_in, score


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
    assert pair.kappa == pytest.approx(0.4) and (pair.images, pair.agreed) == (50, 35)


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
    crowded = mix_in(order[:3], honey, every=3, seed=0)
    assert sorted(crowded.tolist()) == [0, 1, 2, *honey] and crowded[-3:].tolist() == [102, 103, 104]
    assert mix_in(order[:0], honey).tolist() == honey.tolist()


def test_a_score_knows_how_little_a_few_answers_say():
    golden, said = np.array([0, 1, 2, 2, -1, 1]), np.array([0, 1, 0, 2, 1, -1])
    found = score(golden, said)
    assert (found.asked, found.right, found.share) == (4, 3, 0.75)
    assert found.low < 0.4 and found.high > 0.95
    nothing = score(golden, np.full(6, -1))
    assert (nothing.asked, nothing.share, nothing.low, nothing.high) == (0, 0, 0, 1)
