import math

import torch

from seedbed.methods.learn.algorithms.adamatch import AdaMatch, ramp
from seedbed.methods.learn.task import Task
from tests.methods.learn.cases import identity, logits_of, mixed

TWO = Task(classes=2, images=10)
LABELLED = (logits_of([0.9, 0.1], [0.5, 0.5]), logits_of([0.6, 0.4], [0.3, 0.7]))  # weak and strong, of class 0 and 1
WEAK = logits_of([0.9, 0.1], [0.7, 0.3])
STRONG = logits_of([0.5, 0.5], [0.2, 0.8])


def test_both_views_of_the_labelled_images_count_whole():
    outcome = AdaMatch(TWO).loss(identity, mixed(LABELLED, [0, 1], WEAK, STRONG))
    expected = (-math.log(0.9) - math.log(0.5)) / 2 + (-math.log(0.6) - math.log(0.7)) / 2
    assert math.isclose(outcome.metrics["loss_labelled"], expected, rel_tol=1e-6)


def test_guesses_are_aligned_with_the_answers_on_labelled_images():
    algorithm = AdaMatch(TWO, memory=0.0, threshold=0.0)
    outcome = algorithm.loss(identity, mixed(LABELLED, [0, 1], WEAK, STRONG, progress=1.0))
    torch.testing.assert_close(algorithm.given, torch.tensor([0.7, 0.3]))
    torch.testing.assert_close(algorithm.found, torch.tensor([0.8, 0.2]))
    # 0.9 * 7/8 : 0.1 * 3/2 = 0.84 : 0.16 stays class 0; 0.7 * 7/8 : 0.3 * 3/2 = 0.58 : 0.42 too
    assert math.isclose(outcome.metrics["loss_unlabelled"], (-math.log(0.5) - math.log(0.2)) / 2, rel_tol=1e-6)


def test_alignment_can_change_the_guess():
    labelled = (logits_of([0.3, 0.7]), logits_of([0.5, 0.5]))
    outcome = AdaMatch(TWO, memory=0.0, threshold=0.0).loss(identity, mixed(labelled, [1], WEAK, STRONG))
    # 0.9 * 3/8 : 0.1 * 7/2 and 0.7 * 3/8 : 0.3 * 7/2 are both of class 1
    assert math.isclose(outcome.metrics["loss_unlabelled"], (-math.log(0.5) - math.log(0.8)) / 2, rel_tol=1e-6)


def test_class_shares_are_remembered():
    algorithm = AdaMatch(TWO, memory=0.5)
    algorithm.loss(identity, mixed(LABELLED, [0, 1], WEAK, STRONG))
    torch.testing.assert_close(algorithm.given, torch.tensor([0.6, 0.4]))
    torch.testing.assert_close(algorithm.found, torch.tensor([0.65, 0.35]))


def test_the_threshold_is_relative_to_the_confidence_on_weak_labelled_images():
    weak = logits_of([0.65, 0.35], [0.35, 0.65], [0.6, 0.4], [0.4, 0.6])
    outcome = AdaMatch(TWO, threshold=0.9).loss(identity, mixed(LABELLED, [0, 1], weak, weak))
    assert math.isclose(outcome.metrics["threshold"], 0.9 * (0.9 + 0.5) / 2, rel_tol=1e-6)  # 0.63
    assert outcome.metrics["confident"] == 0.5


def test_labelled_logits_lie_at_random_between_those_with_and_without_the_unlabelled_images():
    labelled = (torch.full((2, 2), 4.0), torch.full((2, 2), 4.0))
    calls = []

    def model(images):  # says 4 of labelled images alone and 0 of all together, as BatchNorm might
        calls.append(images)
        return images if len(images) == 4 else 0 * images

    batch = mixed(labelled, [0, 1], WEAK, STRONG)
    loss = AdaMatch(TWO).loss(model, batch).metrics["loss_labelled"]
    shares = batch.labelled_key.uniform("adamatch", 4)
    assert len(shares.unique()) == 8  # one draw for each logit of each view
    between = [4 * (1 - part) for part in shares.chunk(2, dim=1)]
    expected = sum(torch.nn.functional.cross_entropy(logits, batch.labels) for logits in between)
    torch.testing.assert_close(loss, expected)
    assert sorted(len(images) for images in calls) == [4, 8]


def test_the_weight_of_unlabelled_images_rises_over_the_first_half():
    values = ramp(torch.tensor([0.0, 0.125, 0.25, 0.5, 0.75, 1.0]))
    torch.testing.assert_close(values, torch.tensor([0.0, 0.5 - math.sqrt(0.5) / 2, 0.5, 1.0, 1.0, 1.0]))
    outcome = AdaMatch(TWO, weight=3.0, threshold=0.0).loss(
        identity, mixed(LABELLED, [0, 1], WEAK, STRONG, progress=0.25)
    )
    parts = outcome.metrics["loss_labelled"] + 1.5 * outcome.metrics["loss_unlabelled"]
    torch.testing.assert_close(outcome.loss, parts)
