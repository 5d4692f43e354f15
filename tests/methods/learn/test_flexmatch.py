import math
from dataclasses import replace

import torch

from seedbed.methods.learn.algorithms.flexmatch import FlexMatch
from seedbed.methods.learn.task import Task
from tests.methods.learn.cases import identity, logits_of, mixed

TASK = Task(classes=3, images=10)
UNSURE = logits_of([0.4, 0.3, 0.3])


def knowing(*learnt: int, threshold: float = 0.9) -> FlexMatch:
    """A FlexMatch that has named these images so."""
    algorithm = FlexMatch(TASK, threshold=threshold)
    algorithm.load_state({"learnt": torch.tensor(learnt)})
    return algorithm


def test_nothing_is_learnt_at_first_so_every_guess_passes():
    algorithm = FlexMatch(TASK)
    assert algorithm.learnt.tolist() == [-1] * 10
    outcome = algorithm.loss(identity, mixed(UNSURE, [0], UNSURE, UNSURE))
    assert algorithm.thresholds().tolist() == [0, 0, 0]
    assert outcome.metrics["confident"] == 1


def test_thresholds_follow_the_counts_relative_to_the_best_learnt_class():
    algorithm = knowing(0, 0, 0, 0, 0, 0, 1, 1, 1, -1)
    # beta is 1, 1/2 and 0; beta / (2 - beta) is 1, 1/3 and 0
    torch.testing.assert_close(algorithm.thresholds(), torch.tensor([0.9, 0.3, 0.0]))


def test_while_most_images_have_no_name_counts_are_relative_to_those():
    algorithm = knowing(0, 0, 1, -1, -1, -1, -1, -1, -1, -1)
    # beta is 2/7, 1/7 and 0; (2/7) / (12/7) is 1/6, (1/7) / (13/7) is 1/13
    torch.testing.assert_close(algorithm.thresholds(), torch.tensor([0.9 / 6, 0.9 / 13, 0.0]))


def test_images_that_are_held_out_do_not_wait_for_a_name():
    algorithm = FlexMatch(replace(TASK, held_out=5), threshold=0.9)
    algorithm.load_state({"learnt": torch.tensor([0, 0, 0, 1, -1, -1, -1, -1, -1, -1])})
    # one image is without a name; beta is 1, 1/3 and 0; (1/3) / (5/3) is 1/5
    torch.testing.assert_close(algorithm.thresholds(), torch.tensor([0.9, 0.18, 0.0]))


def test_only_guesses_above_tau_are_remembered_and_the_last_name_holds():
    algorithm = knowing(0, 0, 1, -1, -1, -1, -1, -1, -1, -1)
    weak = logits_of([0.02, 0.95, 0.03], [0.2, 0.7, 0.1], [0.05, 0.05, 0.9 - 1e-4], [0.01, 0.01, 0.98])
    algorithm.loss(identity, mixed(UNSURE, [0], weak, weak, numbers=[0, 1, 2, 9]))
    assert algorithm.learnt.tolist() == [1, 0, 1, -1, -1, -1, -1, -1, -1, 2]


def test_a_guess_counts_above_the_threshold_of_its_class_as_it_was_before_the_batch():
    algorithm = knowing(0, 0, 0, 0, 0, 0, 1, 1, 1, -1)
    weak = logits_of([0.8, 0.1, 0.1], [0.3, 0.4, 0.3], [0.01, 0.98, 0.01])
    strong = logits_of([0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.1, 0.6, 0.3])
    outcome = algorithm.loss(identity, mixed(UNSURE, [0], weak, strong))
    # 0.8 is under 0.9, the threshold of class 0; 0.4 and 0.98 are above 0.3, that of class 1
    expected = (-math.log(0.3) - math.log(0.6)) / 3
    assert math.isclose(outcome.metrics["loss_unlabelled"], expected, rel_tol=1e-6)
    assert math.isclose(outcome.metrics["threshold"], 0.4, rel_tol=1e-6)
    assert math.isclose(outcome.loss, -math.log(0.4) + expected, rel_tol=1e-6)


def test_an_image_twice_in_a_batch_is_counted_once():
    algorithm = FlexMatch(TASK, threshold=0.9)
    weak = logits_of([0.98, 0.01, 0.01], [0.98, 0.01, 0.01])
    algorithm.loss(identity, mixed(UNSURE, [0], weak, weak, numbers=[4, 4]))
    assert (algorithm.learnt == 0).sum() == 1
