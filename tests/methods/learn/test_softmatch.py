import math

import torch

from seedbed.methods.learn.algorithms.softmatch import SoftMatch
from seedbed.methods.learn.task import Task
from tests.methods.learn.cases import identity, logits_of, mixed

TWO = Task(classes=2, images=10)
LABELLED = logits_of([0.8, 0.2])
WEAK = logits_of([0.9, 0.1], [0.6, 0.4])  # mean confidence 0.75, variance 0.045 (unbiased), mean answer 0.75 and 0.25


def test_mean_and_unbiased_variance_of_the_confidence_are_followed():
    algorithm = SoftMatch(TWO, memory=0.5)
    assert (algorithm.mean, algorithm.variance) == (0.5, 1.0)
    algorithm.loss(identity, mixed(LABELLED, [0], WEAK, WEAK))
    torch.testing.assert_close(algorithm.mean, torch.tensor(0.625))
    torch.testing.assert_close(algorithm.variance, torch.tensor((1 + 0.045) / 2))
    torch.testing.assert_close(algorithm.shares, torch.tensor([0.625, 0.375]))


def test_weights_are_1_above_the_mean_and_a_gaussian_of_the_aligned_confidence_below():
    strong = logits_of([0.5, 0.5], [0.3, 0.7])
    outcome = SoftMatch(TWO, memory=0.0, weight=3.0).loss(identity, mixed(LABELLED, [0], WEAK, strong))
    # aligned: 0.9/0.75 : 0.1/0.25 = 3/4 : 1/4 and 0.6/0.75 : 0.4/0.25 = 1/3 : 2/3, so 1/12 below the mean of 3/4
    weight = math.exp(-((2 * (1 / 12)) ** 2) / (2 * 0.045))  # two deviations count as one
    # what is learnt is the model's own guess, class 0 both times; alignment changes the weights alone
    unlabelled = (-math.log(0.5) - weight * math.log(0.3)) / 2
    assert math.isclose(outcome.metrics["confident"], (1 + weight) / 2, rel_tol=1e-5)
    assert math.isclose(outcome.metrics["loss_unlabelled"], unlabelled, rel_tol=1e-5)
    assert math.isclose(outcome.loss, -math.log(0.8) + 3 * unlabelled, rel_tol=1e-5)


def test_more_sigmas_make_the_weights_fall_off_faster():
    near, far = (
        SoftMatch(TWO, memory=0.0, n_sigma=sigmas).loss(identity, mixed(LABELLED, [0], WEAK, WEAK)).metrics["confident"]
        for sigmas in (1.0, 2.0)
    )
    # exp(-x) becomes exp(-4 x)
    assert math.isclose((2 * near - 1) ** 4, 2 * far - 1, rel_tol=1e-4)


def test_equal_confidences_have_full_weight_although_their_variance_is_0():
    weak = logits_of([0.9, 0.1], [0.1, 0.9])
    outcome = SoftMatch(TWO, memory=0.0).loss(identity, mixed(LABELLED, [0], weak, weak))
    assert outcome.metrics["confident"] > 0.999


def test_one_unlabelled_image_has_a_finite_variance():
    algorithm = SoftMatch(TWO, memory=0.0)
    outcome = algorithm.loss(identity, mixed(LABELLED, [0], WEAK[:1], WEAK[:1]))
    assert algorithm.variance == 0
    assert math.isfinite(outcome.loss)
