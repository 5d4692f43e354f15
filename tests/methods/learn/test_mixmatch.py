import math
from dataclasses import replace

import pytest
import torch

from seedbed.methods.learn.algorithms.mixmatch import MixMatch, beta_draws
from seedbed.methods.learn.draws import Key
from seedbed.methods.learn.task import Task, borders_of
from tests.methods.learn.cases import identity, logits_of, mixed

TWO = Task(classes=2, images=10)
UNMIXED = 1e-4  # an alpha so small that lambda' is 1
LABELLED = logits_of([0.8, 0.2], [0.3, 0.7])
FIRST, SECOND = logits_of([0.9, 0.1]), logits_of([0.5, 0.5])  # two weak views: 0.7 and 0.3 on average


def test_the_guess_is_the_mean_over_the_views_sharpened():
    outcome = MixMatch(TWO, alpha=UNMIXED).loss(identity, mixed(LABELLED, [0, 1], FIRST, SECOND, progress=1.0))
    guess = 0.7**2 / (0.7**2 + 0.3**2)  # T = 1/2: squares
    assert math.isclose(outcome.metrics["confidence"], guess, rel_tol=1e-6)
    unlabelled = ((guess - 0.9) ** 2 + (guess - 0.5) ** 2) / 2  # per class and view; both classes are equally far
    labelled = (-math.log(0.8) - math.log(0.7)) / 2
    assert math.isclose(outcome.metrics["loss_unlabelled"], unlabelled, rel_tol=1e-4)
    assert math.isclose(outcome.metrics["loss_labelled"], labelled, rel_tol=1e-4)
    assert math.isclose(outcome.loss, labelled + 10 * unlabelled, rel_tol=1e-4)


def test_the_weight_of_unlabelled_images_rises_linearly_over_the_ramp():
    def at(progress: float) -> float:
        outcome = MixMatch(TWO, weight=8.0).loss(identity, mixed(LABELLED, [0, 1], FIRST, SECOND, progress=progress))
        return float((outcome.loss - outcome.metrics["loss_labelled"]) / outcome.metrics["loss_unlabelled"])

    assert [round(at(progress), 4) for progress in (0.0, 0.1, 0.2, 0.4, 1.0)] == [0.0, 2.0, 4.0, 8.0, 8.0]


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.75, 1.0])
def test_draws_are_those_of_the_beta_distribution(alpha):
    draws = beta_draws(Key(3, 1, torch.arange(40_000)), "test", alpha).double()
    assert ((draws >= 0) & (draws <= 1)).all()
    assert abs(draws.mean() - 0.5) < 0.01
    assert abs(draws.var() - 1 / (4 * (2 * alpha + 1))) < 0.003
    if alpha == 0.5:  # the arcsine law: a quarter lies under sin(pi / 8) squared
        assert abs((draws < math.sin(math.pi / 8) ** 2).double().mean() - 0.25) < 0.01


def test_tiny_alphas_give_numbers_too():
    draws = beta_draws(Key(0, 0, torch.arange(1000)), "test", 1e-3)
    assert torch.isfinite(draws).all()
    assert ((draws < 1e-6) | (draws > 1 - 1e-6)).double().mean() > 0.97


def test_every_image_is_mixed_with_a_partner_and_stays_closer_to_itself():
    generator = torch.Generator().manual_seed(1)
    labelled, first, second = (torch.randn((count, 3), generator=generator) for count in (4, 5, 5))
    calls = []

    def model(images):
        calls.append(images)
        return images

    batch = mixed(labelled, [0, 1, 2, 0], first, second, progress=1.0)
    outcome = MixMatch(Task(classes=3, images=10), alpha=0.75).loss(model, batch)
    own, (_, shown) = torch.cat([labelled, first, second]), calls
    keys = (batch.labelled_key, batch.key, batch.key)
    drawn = torch.cat([beta_draws(key, f"mixmatch share {part}", 0.75) for part, key in enumerate(keys)])
    large = torch.maximum(drawn, 1 - drawn)[:, None]  # lambda' = max(lambda, 1 - lambda)
    apart = (shown[:, None] - large[:, None] * own[:, None] - (1 - large[:, None]) * own[None]).norm(dim=2)
    partners = apart.argmin(dim=1)
    assert apart.min(dim=1).values.max() < 1e-5
    assert sorted(partners.tolist()) == list(range(14))  # a permutation of all images, labelled or not
    assert partners.tolist() != list(range(14))

    guess = ((first.softmax(dim=1) + second.softmax(dim=1)) / 2) ** 2
    guess = guess / guess.sum(dim=1, keepdim=True)
    answers = torch.cat([torch.eye(3)[batch.labels], guess, guess])
    answers = large * answers + (1 - large) * answers[partners]  # answers are mixed as the images are
    labelled_loss = -(answers[:4] * shown[:4].log_softmax(dim=1)).sum(dim=1).mean()
    unlabelled_loss = (answers[4:] - shown[4:].softmax(dim=1)).square().mean()
    torch.testing.assert_close(outcome.metrics["loss_labelled"], labelled_loss)
    torch.testing.assert_close(outcome.metrics["loss_unlabelled"], unlabelled_loss)


def test_partners_change_from_step_to_step():
    one, other = (MixMatch(TWO).loss(identity, mixed(LABELLED, [0, 1], FIRST, SECOND, step=step)) for step in (0, 1))
    assert one.loss != other.loss


@pytest.mark.parametrize(
    "task", [replace(TWO, weights=torch.tensor([0.5, 2.0])), replace(TWO, borders=borders_of([0.0, 10.0], 0.5))]
)
def test_labels_that_are_not_mixed_cost_what_the_task_says(task):
    outcome = MixMatch(task, alpha=UNMIXED).loss(identity, mixed(LABELLED, [0, 1], FIRST, SECOND))
    expected = task.loss_given(LABELLED, torch.tensor([0, 1]))
    torch.testing.assert_close(outcome.metrics["loss_labelled"], expected, rtol=1e-4, atol=0)
