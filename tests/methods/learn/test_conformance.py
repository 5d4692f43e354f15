"""Every algorithm of ours passes what a stranger's must, and the checks catch one that does not."""

import pytest
import torch

from seedbed.base.errors import InvalidInput, NotFound
from seedbed.methods.learn.algorithm import ALGORITHMS, make_algorithm
from seedbed.methods.learn.fixmatch import FixMatch
from seedbed.methods.learn.steady import Steady
from seedbed.testing import algorithms


@pytest.mark.parametrize("check", algorithms.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_ours_conform(name, check):
    check(lambda classes: make_algorithm(name, classes, {}))


def test_aligned_guesses_conform():
    algorithms.check_algorithm(lambda classes: Steady(classes, align=1.0, threshold=0.5))


class Leaky(FixMatch):
    def loss(self, model, batch):
        outcome = super().loss(model, batch)
        return type(outcome)(outcome.loss + model(batch.views[0]).softmax(dim=1).max(), outcome.metrics)


class Forgetful(FixMatch):
    steps = 0

    def loss(self, model, batch):
        self.steps += 1
        outcome = super().loss(model, batch)
        return type(outcome)(outcome.loss * self.steps, outcome.metrics)


class Dicing(FixMatch):
    def loss(self, model, batch):
        outcome = super().loss(model, batch)
        return type(outcome)(outcome.loss * torch.rand(()), outcome.metrics)


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (Leaky, algorithms.check_targets_carry_no_gradient),
        (Forgetful, algorithms.check_state_brings_it_back),
        (Dicing, algorithms.check_global_generator_is_untouched),
    ],
)
def test_the_checks_catch_a_bad_algorithm(make, check):
    with pytest.raises(AssertionError):
        check(make)


def test_an_unknown_name_or_option_is_answered_with_the_near_matches():
    with pytest.raises(NotFound, match="fixmatch"):
        make_algorithm("fixmach", 3, {})
    with pytest.raises(InvalidInput, match="threshold"):
        make_algorithm("fixmatch", 3, {"treshold": 0.5})
