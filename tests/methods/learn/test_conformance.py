"""Every algorithm of ours passes what a stranger's must, and the checks catch one that does not."""

from dataclasses import dataclass

import pytest
import torch

from seedbed.base.errors import InvalidInput, NotFound
from seedbed.methods.learn.algorithm import ALGORITHMS, make_algorithm
from seedbed.methods.learn.algorithms.fixmatch import FixMatch
from seedbed.methods.learn.algorithms.steady import Steady
from seedbed.methods.learn.task import Task
from seedbed.testing import algorithms

TASK = Task(classes=3, images=20)


@pytest.mark.parametrize("check", algorithms.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_ours_conform(name, check):
    check(lambda task: make_algorithm(name, task, {}))


def test_aligned_guesses_conform():
    algorithms.check_algorithm(lambda task: Steady(task, align=1.0, threshold=0.5))


class Changed(FixMatch):
    """FixMatch whose loss something is done to."""

    def loss(self, model, batch):
        outcome = super().loss(model, batch)
        return type(outcome)(self.changed(outcome.loss, model, batch), outcome.metrics)


class Leaky(Changed):
    def changed(self, loss, model, batch):
        return loss + model(batch.unlabelled[0]).softmax(dim=1).max()


class Forgetful(Changed):
    steps = 0

    def changed(self, loss, model, batch):
        self.steps += 1
        return loss * self.steps


class Dicing(Changed):
    def changed(self, loss, model, batch):
        return loss * torch.rand(())


class Looking(Changed):
    def changed(self, loss, model, batch):
        return loss if loss > 1 else 2 * loss


class Literal(Changed):
    def changed(self, loss, model, batch):
        return loss * torch.tensor([1.0, 2.0], device=loss.device).sum()


class Bringing(Changed):
    def changed(self, loss, model, batch):
        return loss * torch.arange(3).to(loss.device).sum()


@dataclass
class Counting(Changed):
    """Counts its steps, by a new tensor for each number."""

    kept = ("steps",)

    def __post_init__(self):
        self.steps = torch.zeros((), device=self.task.device)

    def changed(self, loss, model, batch):
        self.steps = self.steps + 1
        return loss


@dataclass
class AtHome(Counting):
    """Keeps its state on the CPU, whatever the task's device."""

    def __post_init__(self):
        self.steps = torch.zeros(())


class PlainSteps(Changed):
    def changed(self, loss, model, batch):
        return loss * (2 if isinstance(batch.key.step, torch.Tensor) else 1)


class PlainSeeds(Changed):
    def changed(self, loss, model, batch):
        return loss * (2 if isinstance(batch.labelled_key.seed, torch.Tensor) else 1)


class Choosing(Changed):
    """Looks at the seed, as a generator of its own would."""

    def changed(self, loss, model, batch):
        return loss * (1 + int(batch.key.seed) % 2)


class Lonely(Changed):
    """Divides by a mean of its own slice."""

    def changed(self, loss, model, batch):
        return loss / model(batch.labelled[0]).softmax(dim=1).square().mean()


class Stingy(Changed):
    """Leaves out what counts, where it may leave out what does not."""

    def changed(self, loss, model, batch):
        return loss / 2 if batch.spares else loss


class Astray(Changed):
    """Only one rank asks for the mean."""

    def changed(self, loss, model, batch):
        return batch.group.mean(loss) if batch.group.rank == 0 and batch.group.ranks > 1 else loss


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (Leaky, algorithms.check_targets_carry_no_gradient),
        (Forgetful, algorithms.check_state_brings_it_back),
        (Dicing, algorithms.check_global_generator_is_untouched),
        (Looking, algorithms.check_step_can_be_recorded),
        (Literal, algorithms.check_step_can_be_recorded),
        (Bringing, algorithms.check_step_can_be_recorded),
        (Counting, algorithms.check_state_is_changed_in_place),
        (AtHome, algorithms.check_step_can_be_recorded),
        (PlainSteps, algorithms.check_seed_and_step_may_be_tensors),
        (PlainSeeds, algorithms.check_seed_and_step_may_be_tensors),
        (Choosing, algorithms.check_step_can_be_recorded),
        (Lonely, algorithms.check_ranks_do_what_one_does),
        (Stingy, algorithms.check_sparing_changes_nothing),
    ],
)
def test_the_checks_catch_a_bad_algorithm(make, check):
    with pytest.raises(AssertionError):
        check(make)


class Watched:
    """An algorithm, and how many images each of its steps looks at to learn from, by whether some may be spared."""

    def __init__(self, algorithm, seen):
        self.algorithm, self.seen = algorithm, seen

    def __getattr__(self, name):
        return getattr(self.algorithm, name)

    def loss(self, model, batch):
        looked = []

        def watched(images):
            looked.extend(images if torch.is_grad_enabled() else [])
            return model(images)

        outcome = self.algorithm.loss(watched, batch)
        self.seen[batch.spares].append(len(looked))
        return outcome


@pytest.mark.parametrize("name", ["fixmatch", "flexmatch", "freematch", "steady"])
def test_the_check_of_sparing_has_those_spare_that_can(name):
    seen = {True: [], False: []}
    algorithms.check_sparing_changes_nothing(lambda task: Watched(make_algorithm(name, task, {}), seen))
    assert seen[True] == [10, 8, 6, 4] and seen[False][-4:] == [10] * 4, "4 labelled, of 6 others 6, 3, 1 and 0 count"


def test_ranks_that_do_not_call_the_group_alike_are_caught(monkeypatch):
    monkeypatch.setattr(algorithms, "_PATIENCE", 0.2)
    with pytest.raises(AssertionError, match="alike"):
        algorithms.check_ranks_do_what_one_does(Astray)


def test_an_unknown_name_or_option_is_answered_with_the_near_matches():
    with pytest.raises(NotFound, match="fixmatch"):
        make_algorithm("fixmach", TASK, {})
    with pytest.raises(InvalidInput, match="threshold"):
        make_algorithm("fixmatch", TASK, {"treshold": 0.5})
