import math

import numpy as np
import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.evidence import Evidence, Outcome
from seedbed.methods.similarity.predictor import Predictor
from seedbed.methods.similarity.validation import cross_validated
from tests.methods.similarity.planted import outcomes


def test_a_known_law_is_found_on_unseen_data_sets():
    found = cross_validated(outcomes(8, noise=0.03))
    assert found.r > 0.95 and found.regret < 0.05 < found.baseline_regret
    assert found.worse == 0 and found.targets == 8 and found.covered > 0.7


def test_where_nothing_can_be_foretold_the_advice_is_the_baseline():
    found = cross_validated(outcomes(10, noise=0.3, power=0.0, worth=0.0, lift=0.2))
    assert found.worse <= 1 and abs(found.r) < 0.5
    assert found.regret <= found.baseline_regret + 0.05


def test_what_was_measured_of_a_data_set_in_either_role_does_not_foretell_it():
    names = ["tomato", "cifar10", "plantvillage", "steel"]
    draws = np.random.default_rng(0)
    pairs = [(target, source) for target in names for source in names if target != source]
    known = [Outcome(Evidence(*pair, draws.uniform(0.5, 2)), draws.uniform(0.5, 2)) for pair in pairs]
    changed = [Outcome(one.evidence, 9.0) if one.evidence.source == "tomato" else one for one in known]
    mine = [place for place, (target, _) in enumerate(pairs) if target == "tomato"]
    one, other = cross_validated(known), cross_validated(changed)
    assert [one.expected[place] for place in mine] == [other.expected[place] for place in mine]
    assert one.expected != other.expected


def test_regret_by_hand():
    """With one target nothing else was measured, so the prior speaks: only the very near source is sure."""
    near, far = Evidence("tomato", "near", 0.0), Evidence("tomato", "far", 1.0)
    assert Predictor.fit([]).expect(near).epoch_ratio == pytest.approx(math.sqrt(1 / 20))
    found = cross_validated([Outcome(near, 0.8), Outcome(far, 0.5)], level=0.2)
    assert found.regret == pytest.approx(0.8 / 0.5 - 1) and found.baseline_regret == pytest.approx(1.0)
    assert cross_validated([Outcome(near, 1.5), Outcome(far, 1.2)], level=0.2).worse == 1


def test_repeated_measures_of_a_start_are_averaged_and_architectures_kept_apart():
    evidence = Evidence("tomato", "far", 1.0)
    runs = [Outcome(evidence, 0.6), Outcome(evidence, 1.0), Outcome(evidence, 2.0, architecture="other")]
    found = cross_validated(runs)
    assert found.targets == 2 and found.baseline_regret == pytest.approx(2 / 1.8 - 1)
    assert found.r == 0.0  # one evidence, one expectation


def test_no_outcome_is_a_sentence():
    with pytest.raises(InvalidInput, match="no outcome"):
        cross_validated([])
