import json

import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.evidence import (
    Evidence,
    Outcome,
    differences,
    matched_epochs,
    reached_epochs,
)


def test_evidence_and_outcomes_survive_json():
    evidence = Evidence("tomato", "lite0-plantvillage", 0.6, {"knn": 0.1, "h-score": -0.2}, 50_000, 900, "plantvillage")
    outcome = Outcome(evidence, 0.5, 4.7, "efficientnet_lite0")
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_the_data_sets_are_the_target_and_the_one_behind_the_weights():
    assert Evidence("tomato", "card-7", 1.0, trained_on="cifar10").data_sets == {"tomato", "cifar10"}
    assert Evidence("tomato", "cifar10", 1.0).data_sets == {"tomato", "cifar10"}


@pytest.mark.parametrize(
    "ratio, scores, images", [(float("nan"), {}, 1), (-1.0, {}, 1), (1.0, {"knn": float("inf")}, 1), (1, {}, -1)]
)
def test_evidence_that_is_no_number_is_refused(ratio, scores, images):
    with pytest.raises(InvalidInput, match="tomato from cifar10"):
        Evidence("tomato", "cifar10", ratio, scores, images)


@pytest.mark.parametrize("ratio, gain", [(0.0, 0.0), (-1.0, 0.0), (float("inf"), 0.0), (1.0, float("nan"))])
def test_outcomes_that_are_no_number_are_refused(ratio, gain):
    with pytest.raises(InvalidInput, match="it must be"):
        Outcome(Evidence("tomato", "cifar10", 1.0), ratio, gain)


@pytest.mark.parametrize("value", [{}, {"evidence": 3}, {"evidence": {"target": "a", "source": "b", "ratio": "x"}}])
def test_other_json_is_refused_in_a_sentence(value):
    with pytest.raises(InvalidInput, match="This is no"):
        Outcome.from_json(value)


def test_differences_are_of_the_scores_that_both_have():
    assert differences({"knn": 0.75, "probe": 1.0}, {"knn": 0.5, "h-score": 2.0}) == {"knn": 0.25}


def test_equal_peaks_are_compared_by_the_epochs_to_them():
    assert matched_epochs([0.7, 0.9005, 0.8], [0.5, 0.6, 0.7, 0.9]) == (2, 4)


def test_a_higher_peak_counts_where_it_passes_the_baselines():
    assert matched_epochs([0.6, 0.81, 0.9, 0.95], [0.5, 0.6, 0.7, 0.8]) == (2, 4)


def test_a_lower_peak_counts_where_it_is_highest():
    assert matched_epochs([0.5, 0.6, 0.55], [0.7, 0.8]) == (2, 2)


def test_what_comes_after_the_patience_is_not_seen():
    late = [0.5, 0.4, 0.4, 0.4, 0.4, 0.4, 0.9]
    assert matched_epochs(late, [0.5]) == (1, 1)
    assert matched_epochs([0.5], late, patience=6) == (1, 7)


@pytest.mark.parametrize("curve", [[], [0.5, float("nan")]])
def test_a_curve_without_numbers_is_refused(curve):
    with pytest.raises(InvalidInput, match="at least one epoch"):
        matched_epochs(curve, [0.5])


def test_epochs_count_until_the_baselines_peak_is_not_surely_out_of_reach():
    baseline = [0.5, 0.6, 0.785, 0.8, 0.79, 0.799]  # two errors of 10,000 judges are 0.008, of 1,000 judges 0.025
    assert reached_epochs([0.7, 0.793, 0.7], baseline, judges=10_000) == (2, 4)
    assert reached_epochs([0.777, 0.7, 0.7], baseline, judges=1000) == (1, 3)
    assert reached_epochs([0.7, 0.75, 0.7, 0.7], baseline, judges=10_000)[0] == 4, "what never gets there is not quick"
    assert reached_epochs([0.795, 0.8], baseline, judges=0) == (2, 4), "where judges are unknown, within 0.1 %"


def test_all_right_on_a_few_images_is_no_certainty():
    assert reached_epochs([0.9, 1.0], [0.7, 0.9, 1.0], judges=20) == (1, 2)
    assert reached_epochs([0.9, 1.0], [0.7, 0.9, 1.0], judges=2000) == (2, 3)
    with pytest.raises(InvalidInput, match="at least one epoch"):
        reached_epochs([], [0.5], judges=10)
