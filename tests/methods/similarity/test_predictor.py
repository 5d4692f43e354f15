import json
import math

import numpy as np
import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.evidence import Evidence, Outcome
from seedbed.methods.similarity.predictor import Expectation, Predictor, advise, pick
from tests.methods.similarity.planted import outcomes


def error(predictor, unseen):
    """Root mean squared, of log(epoch ratio)."""
    return math.sqrt(
        np.mean([math.log(predictor.expect(one.evidence).epoch_ratio / one.epoch_ratio) ** 2 for one in unseen])
    )


def width(predictor):
    said = predictor.expect(Evidence("new", "source-1", 0.8))
    return math.log(said.high / said.low)


def test_before_any_outcome_nearer_is_better_by_the_square_root_and_the_limits_are_wide():
    prior = Predictor.fit([])
    said = [prior.expect(Evidence("new", "any", ratio)) for ratio in (0.25, 0.5, 1.0, 2.0)]
    assert [each.epoch_ratio for each in said] == pytest.approx([0.5, 0.5**0.5, 1.0, 2**0.5])
    assert said[2].low < 0.65 and said[2].high > 1.5
    assert advise(said).start == "ImageNet"


def test_the_error_falls_with_the_number_of_outcomes():
    unseen = outcomes(20, seed=99)
    errors = [
        np.mean([error(Predictor.fit(outcomes(n, seed=seed)), unseen) for seed in range(4)]) for n in (0, 2, 8, 40)
    ]
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 0.11  # the noise is 0.1


def test_the_limits_close_in_as_outcomes_come():
    widths = [width(Predictor.fit(outcomes(targets))) for targets in (0, 2, 8, 40)]
    assert widths == sorted(widths, reverse=True) and widths[3] < 0.4


def test_the_limits_hold_about_the_share_that_they_say():
    inside = []
    for seed in range(10):
        fitted = Predictor.fit(outcomes(6, noise=0.2, seed=seed))
        for one in outcomes(10, noise=0.2, seed=100 + seed):
            said = fitted.expect(one.evidence)
            inside.append(said.low <= one.epoch_ratio <= said.high)
    assert 0.72 < np.mean(inside) < 0.9


def test_where_targets_differ_from_each_other_the_limits_are_stretched():
    draws = np.random.default_rng(0)
    lucky = [
        Outcome(one.evidence, one.epoch_ratio * math.exp(shift))
        for target, shift in enumerate(draws.normal(0, 0.6, size=10))
        for one in outcomes(10, sources=8)[8 * target : 8 * target + 8]
    ]
    assert Predictor.fit(lucky).stretch > 1.02
    assert width(Predictor.fit(lucky)) > width(Predictor.fit(outcomes(10, sources=8)))


def test_with_few_targets_the_slopes_are_those_of_ridge_regression_towards_the_prior():
    known = outcomes(2)
    fitted = Predictor.fit(known)
    rows = np.array([list(fitted.parts(one.evidence).values()) for one in known]) / np.array(fitted.mean)
    values = np.log([one.epoch_ratio for one in known])
    weight = np.sqrt([1.0, 1, 1, 1, 3, 3, 3])
    prior = np.array([0, 0.15, 0, 0, 0, 0, 0])
    augmented = np.vstack([rows, np.diag(weight)]), np.concatenate([values, weight * prior])
    assert fitted.mean == pytest.approx(np.linalg.lstsq(*augmented)[0])


def test_scores_without_meaning_cost_next_to_nothing():
    known, unseen = outcomes(10, worth=0.0), outcomes(20, worth=0.0, seed=99)
    bare = [Outcome(Evidence(**{**vars(one.evidence), "scores": {}}), one.epoch_ratio) for one in known]
    assert error(Predictor.fit(known), unseen) < error(Predictor.fit(bare), unseen) + 0.02


def test_the_order_of_the_outcomes_does_not_matter():
    known = outcomes(5)
    assert Predictor.fit(known) == Predictor.fit(known[::-1])


def test_a_predictor_survives_json_exactly():
    fitted = Predictor.fit(outcomes(5))
    again = Predictor.from_json(json.loads(json.dumps(fitted.to_json())))
    assert again == fitted and fitted.outcomes == 30 and fitted.targets == 5
    assert again.expect(outcomes(1)[0].evidence) == fitted.expect(outcomes(1)[0].evidence)


@pytest.mark.parametrize(
    "change",
    [
        {"mean": [1.0]},
        {"mean": None},
        {"scales": {"knn": 1.0}},
        {"rate": "much"},
        {"rate": math.nan},
        {"precision": [[0.0] * 4] * 4},
    ],
)
def test_other_json_is_refused_in_a_sentence(change):
    with pytest.raises(InvalidInput, match="This is no predictor"):
        Predictor.from_json({**Predictor.fit([]).to_json(), **change})


def test_the_parts_add_up_to_what_is_expected():
    fitted, evidence = Predictor.fit(outcomes(5)), outcomes(1)[0].evidence
    assert sum(fitted.parts(evidence).values()) == pytest.approx(math.log(fitted.expect(evidence).epoch_ratio))


@pytest.mark.parametrize("ratio", [0.0, 1e-30, 1e30])
def test_extreme_evidence_gets_finite_limits(ratio):
    for predictor in (Predictor.fit([]), Predictor.fit(outcomes(5)), Predictor.fit(outcomes(1, sources=1))):
        said = predictor.expect(Evidence("new", "any", ratio, {"knn": 1e30, "unheard of": -1e30}))
        assert 0 < said.low <= said.epoch_ratio <= said.high < math.inf


def test_absurd_scores_do_not_break_a_fit():
    wild = [Outcome(Evidence("new", "any", 1.0, {"knn": 1e300, "odd": 0.0}), 1e300), *outcomes(4)]
    assert math.isfinite(Predictor.fit(wild).expect(outcomes(1)[0].evidence).high)


def test_a_higher_level_has_wider_limits():
    fitted, evidence = Predictor.fit(outcomes(5)), outcomes(1)[0].evidence
    one, other = fitted.expect(evidence, level=0.5), fitted.expect(evidence, level=0.95)
    assert other.low < one.low < one.high < other.high
    with pytest.raises(InvalidInput, match="level is 1"):
        fitted.expect(evidence, level=1)


def test_the_advice_is_the_fastest_of_the_sure_ones():
    fast_but_unsure = Expectation("cifar10", 0.7, 0.4, 0.1, 1.2)
    sure, slower = Expectation("plantvillage", 0.62, 0.55, 0.4, 0.8), Expectation("seedlings", 0.5, 0.7, 0.6, 0.9)
    advice = advise([slower, fast_but_unsure, sure])
    assert advice.start == "plantvillage" and advice.expectation == sure
    assert advice.expected_saving == pytest.approx(0.45)
    assert advice.reason == (
        "plantvillage comes from images 38 % nearer than those of ImageNet, "
        "and is expected to save 45 % of the epochs (20 % to 60 %)."
    )


@pytest.mark.parametrize("images", [6, 100, 3000])
def test_a_few_outcomes_of_one_or_two_data_sets_do_not_speak_for_what_is_unlike_them(images):
    near = [Outcome(Evidence(f"t{n}", "s", 0.8, {"knn": 0.3}, 120, 80), 0.2) for n in range(2)]
    far = [Outcome(Evidence(f"t{n}", "u", 0.9, {"knn": -0.1}, 120, 80), 0.3) for n in range(2)]
    unlike = Evidence("new", "x", 1.02, {"knn": 0.0}, 120, images)
    assert pick([Predictor.fit(near + far).expect(unlike)]) is None
    once = Predictor.fit([Outcome(Evidence("t", "s", 0.4, {}, 1000, 1000), 0.5)])
    assert once.expect(Evidence("new", "x", 0.4, {}, 1000, images)).high > 1, "one start proves nothing"


def test_what_is_further_away_than_the_baseline_is_never_picked():
    sure = {"epoch_ratio": 0.4, "low": 0.3, "high": 0.6}
    assert pick([Expectation("far", 1.01, **sure)]) is None
    told = advise([Expectation("far", 1.25, **sure)]).reason
    assert told.endswith("by the best guess, but comes from images 25 % further away than those of ImageNet.")
    assert pick([Expectation("far", 1.01, **sure), Expectation("near", 1.0, **sure)]).source == "near"


def test_a_start_that_may_be_as_slow_as_the_baseline_is_never_advised():
    assert advise([Expectation("cifar10", 0.1, 0.5, 0.2, 1.0)], baseline="imagenet-lite0").start == "imagenet-lite0"


@pytest.mark.parametrize(
    "expectations, why",
    [
        ([], "there are no other weights to start from."),
        (
            [Expectation("a", 0.9, 0.9, 0.6, 1.3)],
            "a would save 10 % of the epochs by the best guess, but may cost 30 % more.",
        ),
        (
            [Expectation("a", 0.9, 0.9, 0.6, 1.0)],
            "a would save 10 % of the epochs by the best guess, but may save none.",
        ),
        (
            [Expectation("a", 1.0, 0.999, 0.9, 1.1)],
            "no other weights are expected to save epochs; the nearest, a, "
            "comes from images as near as those of ImageNet.",
        ),
        (
            [Expectation("a", 1.5, 1.1, 0.6, 1.3), Expectation("b", 1.2, 1.2, 0.6, 1.3)],
            "no other weights are expected to save epochs; the nearest, b, "
            "comes from images 20 % further away than those of ImageNet.",
        ),
        (
            [Expectation("b", 100.0, 4.0, 2.0, 9.0), Expectation("a", 100.0, 2.0, 1.0, 4.0)],
            "no other weights are expected to save epochs; the nearest, b, "
            "comes from images at least 100 times as far away as those of ImageNet.",
        ),
    ],
)
def test_the_baseline_is_as_good_and_the_sentence_says_why(expectations, why):
    advice = advise(expectations)
    assert (advice.start, advice.reason) == ("ImageNet", f"ImageNet is as good: {why}")
    assert advice.expected_saving == 0 and advice.expectation is None
