import math
from dataclasses import replace

import pytest
import torch

from seedbed.methods.learn.algorithms.fixmatch import FixMatch
from seedbed.methods.learn.algorithms.steady import Steady
from seedbed.methods.learn.algorithms.supervised import Supervised
from seedbed.methods.learn.task import Task
from tests.methods.learn.cases import identity, logits_of, mixed

TWO = Task(classes=2, images=10)


def test_the_loss_is_that_of_the_labels_plus_that_of_confident_guesses_over_all_unlabelled_images():
    weak = logits_of([0.96, 0.04], [0.90, 0.10], [0.02, 0.98])
    strong = logits_of([0.50, 0.50], [0.10, 0.90], [0.25, 0.75])
    outcome = FixMatch(TWO, threshold=0.95, weight=2.0).loss(identity, mixed(logits_of([0.8, 0.2]), [0], weak, strong))
    labelled, unlabelled = -math.log(0.8), (-math.log(0.5) - math.log(0.75)) / 3  # the second is not confident
    assert math.isclose(outcome.metrics["loss_labelled"], labelled, rel_tol=1e-6)
    assert math.isclose(outcome.metrics["loss_unlabelled"], unlabelled, rel_tol=1e-6)
    assert math.isclose(outcome.metrics["confident"], 2 / 3, rel_tol=1e-6)
    assert math.isclose(outcome.loss, labelled + 2 * unlabelled, rel_tol=1e-6)


def test_a_guess_at_the_threshold_counts_and_one_below_does_not():
    weak = torch.tensor([[math.log(3.0), 0.0]])  # 0.75 and 0.25
    at = FixMatch(TWO, threshold=0.75 - 1e-6).loss(identity, mixed(weak, [0], weak, weak))
    below = FixMatch(TWO, threshold=0.75 + 1e-6).loss(identity, mixed(weak, [0], weak, weak))
    assert (at.metrics["confident"], below.metrics["confident"]) == (1, 0)


def test_no_gradient_flows_through_the_weak_view():
    weak = logits_of([0.99, 0.01]).requires_grad_()
    strong = logits_of([0.6, 0.4]).requires_grad_()
    FixMatch(TWO).loss(identity, mixed(logits_of([0.5, 0.5]), [1], weak, strong)).loss.backward()
    assert weak.grad is None
    torch.testing.assert_close(strong.grad, torch.tensor([[0.6 - 1, 0.4]]))  # softmax less the guess


def test_steady_takes_its_guesses_from_the_averaged_model():
    unsure = logits_of([0.5, 0.5])
    teacher = lambda images: logits_of([0.05, 0.95])  # noqa: E731
    outcome = Steady(TWO, threshold=0.9).loss(
        identity, mixed(logits_of([0.5, 0.5]), [0], unsure, logits_of([0.2, 0.8]), teacher=teacher)
    )
    assert math.isclose(outcome.metrics["loss_unlabelled"], -math.log(0.8), rel_tol=1e-6)


def test_alignment_holds_back_the_class_that_is_named_too_often():
    algorithm = Steady(TWO, threshold=0.0, align=1.0, memory=0.0)
    weak = logits_of([0.9, 0.1], [0.7, 0.3])  # shares 0.8 and 0.2
    outcome = algorithm.loss(identity, mixed(weak[:1], [0], weak, logits_of([0.5, 0.5], [0.1, 0.9])))
    torch.testing.assert_close(algorithm.state()["shares"], torch.tensor([0.8, 0.2]))
    # 0.7/0.8 : 0.3/0.2 = 0.37 : 0.63, so the second image is now of class 1; 0.9/0.8 : 0.1/0.2 = 0.69 : 0.31 is not
    assert math.isclose(outcome.metrics["loss_unlabelled"], (-math.log(0.5) - math.log(0.9)) / 2, rel_tol=1e-6)


@pytest.mark.parametrize(("labels", "guesses"), [(0.0, [0, 1]), (9.9, [0, 1]), (10.0, [0, 0])])
def test_with_enough_labels_no_class_is_held_back(labels, guesses):
    algorithm = Steady(replace(TWO, labels_per_class=labels), align=1.0, memory=0.0)
    weak = logits_of([0.9, 0.1], [0.7, 0.3])
    assert algorithm.told(mixed(weak[:1], [0], weak, weak), weak)[0].tolist() == guesses


def test_supervised_is_the_cross_entropy_of_the_labels():
    some = logits_of([0.8, 0.2], [0.4, 0.6])
    outcome = Supervised(TWO).loss(identity, mixed(some, [0, 1], some[:0], some[:0]))
    assert math.isclose(outcome.loss, (-math.log(0.8) - math.log(0.6)) / 2, rel_tol=1e-6)
