from itertools import pairwise

import numpy as np
import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.architecture import prediction_distance
from seedbed.methods.similarity.otdd import Otdd
from seedbed.methods.similarity.units import UnitSettings

CLASSES = ("beetle", "moth", "aphid", "weevil")
HOWS = [Otdd(), Otdd(definition="reference"), Otdd(labels="exact")]


def labelled_insects(seed, count=160, width=12):
    """Images of four classes, their true labels, and for each a wrong one."""
    draws = np.random.default_rng(seed)
    truth = draws.integers(0, 4, count)
    features = draws.normal(size=(count, width)) + 1.5 * draws.normal(size=(4, width))[truth]
    return features, truth, (truth + draws.integers(1, 4, count)) % 4


def noisy(truth, wrong, share, seed):
    """Labels of which such a share is wrong; those wrong at one share are wrong at each larger one too."""
    some = np.random.default_rng(seed).permutation(len(truth))[: round(share * len(truth))]
    said = truth.copy()
    said[some] = wrong[some]
    return said


@pytest.mark.parametrize("how", HOWS, ids=["paper", "reference", "exact labels"])
def test_perfect_predictions_are_at_exactly_0(how):
    features, truth, _ = labelled_insects(0)
    assert prediction_distance(features, truth, truth, CLASSES, how=how) == 0.0
    assert prediction_distance(features, truth, list(truth), CLASSES, how=how, settings=UnitSettings(size=50)) == 0.0


@pytest.mark.parametrize("how", HOWS, ids=["paper", "reference", "exact labels"])
@pytest.mark.parametrize("seed", range(4))
def test_the_distance_grows_with_the_share_of_wrong_labels(how, seed):
    features, truth, wrong = labelled_insects(seed)
    shares = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6)
    far = [prediction_distance(features, truth, noisy(truth, wrong, share, seed), CLASSES, how=how) for share in shares]
    assert all(nearer < further for nearer, further in pairwise(far)), far


def test_it_grows_over_several_units_too_and_one_wrong_label_is_not_missed():
    features, truth, wrong = labelled_insects(5, count=170)
    far = [
        prediction_distance(features, truth, noisy(truth, wrong, share, 5), CLASSES, settings=UnitSettings(size=50))
        for share in (0.006, 0.1, 0.4)
    ]
    assert 0 < far[0] < far[1] < far[2]


def test_classes_that_are_alike_are_the_lesser_mistake():
    draws = np.random.default_rng(0)
    truth = np.arange(120) % 3
    features = draws.normal(size=(120, 6)) + np.array([[0.0] * 6, [1.0] * 6, [5.0] * 6])[truth]
    near, far = truth.copy(), truth.copy()
    near[:30:3], far[:30:3] = 1, 2  # ten of the first class taken for the second, or for the third
    assert prediction_distance(features, truth, near, "abc") < prediction_distance(features, truth, far, "abc")


def test_moving_all_features_changes_nothing():
    features, truth, wrong = labelled_insects(1)
    said = noisy(truth, wrong, 0.2, 0)
    moved = prediction_distance(features + 500.0, truth, said, CLASSES)
    assert moved == pytest.approx(prediction_distance(features, truth, said, CLASSES), rel=1e-3)


def test_pixels_are_compared_as_bytes():
    draws = np.random.default_rng(0)
    truth = np.arange(40) % 2
    pixels = (100 * truth[:, None] + draws.integers(0, 50, size=(40, 27))).astype(np.uint8)
    assert prediction_distance(pixels, truth, truth, "ab") == 0.0
    assert prediction_distance(pixels, truth, np.roll(truth, 1) | truth, "ab") > 0.1


def test_classes_that_were_exchanged_altogether_are_at_0_as_documented():
    features, truth, _ = labelled_insects(2)
    assert prediction_distance(features, truth, (truth + 1) % 4, CLASSES) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    "truth, predicted",
    [([0], [0]), ([0, 0, 0], [1, 1, 1]), ([0, 1, 2], [0, 0, 0]), ([0, 0, 1], [0, 1, 1])],
    ids=["one image", "one class for another", "all one class", "a class of one image"],
)
def test_odd_test_sets_get_a_number(truth, predicted):
    assert np.isfinite(prediction_distance(np.eye(3)[: len(truth)], truth, predicted, CLASSES))


@pytest.mark.parametrize(
    "features, truth, predicted, said",
    [
        (np.eye(3), [0, 1, 2], [0, 1], "3 images, 3 true and 2 predicted"),
        (np.zeros((0, 3)), [], [], "0 images"),
        (np.eye(3), [0, 1, 2], [0, 1, 7], "outside of its 4 classes"),
        (np.full((3, 2), np.nan), [0, 1, 2], [0, 1, 2], "no numbers"),
    ],
)
def test_what_cannot_be_compared_gets_a_sentence(features, truth, predicted, said):
    with pytest.raises(InvalidInput, match=said):
        prediction_distance(features, truth, predicted, CLASSES)
