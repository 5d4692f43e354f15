import math

import torch

from seedbed.methods.learn.algorithms.freematch import FreeMatch
from seedbed.methods.learn.task import Task
from tests.methods.learn.cases import identity, logits_of, mixed

TWO = Task(classes=2, images=10)
LABELLED = logits_of([0.8, 0.2])


def test_the_running_averages_begin_even_and_move_towards_each_batch():
    algorithm = FreeMatch(TWO, memory=0.5)
    assert algorithm.confidence == 0.5
    weak = logits_of([0.9, 0.1], [0.6, 0.4])  # mean confidence 0.75, mean probabilities 0.75 and 0.25, both named 0
    algorithm.loss(identity, mixed(LABELLED, [0], weak, weak))
    torch.testing.assert_close(algorithm.confidence, torch.tensor(0.625))
    torch.testing.assert_close(algorithm.shares, torch.tensor([0.625, 0.375]))
    torch.testing.assert_close(algorithm.counted, torch.tensor([0.75, 0.25]))


def test_a_class_that_is_expected_less_often_has_a_lower_threshold():
    algorithm = FreeMatch(TWO)
    state = {"confidence": torch.tensor(0.8), "shares": torch.tensor([0.6, 0.3]), "counted": torch.tensor([0.5, 0.5])}
    algorithm.load_state(state)
    torch.testing.assert_close(algorithm.thresholds(), torch.tensor([0.8, 0.4]))  # max-normalised shares: 1, 1/2


def test_guesses_count_by_the_thresholds_that_their_own_batch_has_moved():
    algorithm = FreeMatch(TWO, memory=0.5, fairness=0.0, weight=2.0)
    weak = logits_of([0.9, 0.1], [0.6, 0.4])  # thresholds become 0.625 and 0.375
    outcome = algorithm.loss(identity, mixed(LABELLED, [0], weak, logits_of([0.7, 0.3], [0.5, 0.5])))
    unlabelled = -math.log(0.7) / 2
    assert math.isclose(outcome.metrics["loss_unlabelled"], unlabelled, rel_tol=1e-6)
    assert math.isclose(outcome.metrics["threshold"], 0.625, rel_tol=1e-6)
    assert math.isclose(outcome.loss, -math.log(0.8) + 2 * unlabelled, rel_tol=1e-6)


def test_fairness_compares_probabilities_relative_to_the_histograms():
    algorithm = FreeMatch(TWO, memory=0.0, fairness=0.1)
    weak = logits_of([0.9, 0.1], [0.9, 0.1], [0.1, 0.9])  # shares 19/30 and 11/30, histogram 2/3 and 1/3
    algorithm.load_state({name: torch.zeros_like(value) for name, value in algorithm.state().items()})
    strong = logits_of([0.7, 0.3], [0.6, 0.4], [0.1, 0.9])
    outcome = algorithm.loss(identity, mixed(LABELLED, [0], weak, strong))
    assert outcome.metrics["confident"] == 1
    expected = [19 / 30 / (2 / 3), 11 / 30 / (1 / 3)]
    found = [1.4 / 2, 1.6 / 1]  # summed probabilities over how often a class is the most probable
    unfair = sum(one / sum(expected) * math.log(other / sum(found)) for one, other in zip(expected, found, strict=True))
    assert math.isclose(outcome.metrics["unfairness"], unfair, rel_tol=1e-5)
    parts = outcome.metrics["loss_labelled"] + outcome.metrics["loss_unlabelled"]
    assert math.isclose(outcome.loss, parts + 0.1 * unfair, rel_tol=1e-6)


def test_fairness_looks_only_at_what_passed_the_threshold_and_at_classes_that_it_names():
    weak = logits_of([0.95, 0.05], [0.6, 0.4])  # the second does not pass 0.775
    strong = logits_of([0.7, 0.3], [0.2, 0.8]).requires_grad_()
    outcome = FreeMatch(TWO, memory=0.0, fairness=1.0, weight=0.0).loss(identity, mixed(LABELLED, [0], weak, strong))
    assert outcome.metrics["unfairness"] == 0  # only class 0 is named: all that is left is its share of 1
    outcome.loss.backward()
    assert not strong.grad.any()


def test_the_gradient_of_fairness_is_that_of_its_formula():
    weak = logits_of([0.9, 0.1], [0.1, 0.9])
    strong = logits_of([0.7, 0.3], [0.4, 0.6]).requires_grad_()
    FreeMatch(TWO, memory=0.0, fairness=1.0, weight=0.0).loss(
        identity, mixed(LABELLED, [0], weak, strong)
    ).loss.backward()
    again = strong.detach().clone().requires_grad_()
    mean = again.softmax(dim=1).mean(dim=0)  # both pass, each class is named once: the histograms are even
    (torch.tensor([0.5, 0.5]) * mean.log()).sum().backward()
    torch.testing.assert_close(strong.grad, again.grad)
