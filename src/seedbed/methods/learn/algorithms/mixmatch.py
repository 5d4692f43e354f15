"""MixMatch (Berthelot et al., 2019): averaged and sharpened guesses, and every image mixed with another."""

from dataclasses import dataclass

import torch
from torch import Tensor

from seedbed.methods.learn.algorithm import Batch, Forward, Keeping, Outcome, Views, mean_of, outcome_of
from seedbed.methods.learn.algorithms.parts import named, to_sum_1
from seedbed.methods.learn.draws import Key
from seedbed.methods.learn.group import Group, own_slice
from seedbed.methods.learn.task import Task

_TRIES = 24  # of the rejection method: with alpha up to 1, all fail once in more than ten million images


@dataclass
class MixMatch(Keeping):
    """Cross-entropy on mixed labels, and squared distance to mixed guesses of what unlabelled images show."""

    task: Task
    weight: float = 10.0  # of the unlabelled images after the ramp, the paper's lambda_U
    temperature: float = 0.5  # of sharpening, the paper's T
    alpha: float = 0.5  # of the Beta distribution that images are mixed by
    ramp: float = 0.4  # share of the run over which the weight rises from 0

    @property
    def views(self) -> Views:
        return Views(labelled=("weak",), unlabelled=("weak", "weak"))

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        images = (batch.labelled[0], *batch.unlabelled)
        guess = self._guess(model, batch.unlabelled)
        answers = (named(batch.labels, self.task.classes), *(guess for _ in batch.unlabelled))
        mixed_images, mixed_answers = self._mixed(batch, images, answers)
        logits = model(mixed_images)
        count = len(batch.labels)
        labelled = self._labelled(logits[:count], mixed_answers[:count], batch.labels)
        apart = (logits[count:].softmax(dim=1) - mixed_answers[count:]).square().mean(dim=1)
        risen = (batch.progress / self.ramp).clamp_max(1) if self.ramp else torch.ones_like(batch.progress)
        confidence = mean_of(guess.max(dim=1).values)
        return outcome_of(labelled, mean_of(apart), self.weight * risen, confidence=confidence)

    def _guess(self, model: Forward, views: tuple[Tensor, ...]) -> Tensor:
        """What the model says on average of an image's views, sharpened."""
        with torch.no_grad():
            probabilities = model(torch.cat(views)).softmax(dim=1)
        mean = torch.stack(probabilities.chunk(len(views))).mean(dim=0)
        return to_sum_1(mean ** (1 / self.temperature))

    def _mixed(self, batch: Batch, images: tuple[Tensor, ...], answers: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        """Images and answers, each mixed with those of a partner from the global batch."""
        keys = (batch.labelled_key, *(batch.key for _ in batch.unlabelled))
        places = [key.uniform(f"mixmatch partner {part}", 1) for part, key in enumerate(keys)]
        order = _whole(batch.group, places)[:, 0].argsort(stable=True)
        slices = torch.split(order, [len(part) * batch.group.ranks for part in images])
        partners = torch.cat([own_slice(part, batch.group) for part in slices])
        shares = [beta_draws(key, f"mixmatch share {part}", self.alpha) for part, key in enumerate(keys)]
        small = torch.cat([torch.minimum(share, 1 - share) for share in shares])  # the partner's: 1 - lambda'
        return _mix(batch.group, images, partners, small), _mix(batch.group, answers, partners, small)

    def _labelled(self, logits: Tensor, answers: Tensor, labels: Tensor) -> Tensor:
        """As the task's loss of given labels, for mixed ones; an image counts with the weight of its own class."""
        each = self.task.loss_toward(logits, answers)
        return (each if self.task.weights is None else each * self.task.weights[labels]).mean()


def beta_draws(key: Key, purpose: str, alpha: float) -> Tensor:
    """One number from Beta(alpha, alpha) per image.

    Jöhnk's method: u^(1/alpha) / (u^(1/alpha) + v^(1/alpha)) of the first uniform pair whose sum of powers is at most
    1; as logarithms, since powers of small numbers may be 0. A fixed number of tries, so that nothing waits for one.
    """
    uniform = key.uniform(purpose, 2 * _TRIES) + 2.0**-25  # never 0
    one, other = (uniform.log() / alpha).chunk(2, dim=1)
    fits = one.exp() + other.exp() <= 1
    first = fits & (fits.cumsum(dim=1) == 1)
    ratio = torch.sigmoid(one - other)
    return torch.where(fits.any(dim=1), (ratio * first).sum(dim=1), ratio[:, -1])


def _mix(group: Group, parts: tuple[Tensor, ...], partners: Tensor, small: Tensor) -> Tensor:
    own, other = torch.cat(parts), _whole(group, parts)[partners]
    return torch.lerp(own, other, small.view(-1, *(1 for _ in own.shape[1:])))


def _whole(group: Group, parts: tuple[Tensor, ...] | list[Tensor]) -> Tensor:
    """All parts of all ranks: each part whole before the next, so that the order does not tell the number of ranks."""
    sizes = [len(part) for part in parts]
    gathered = group.gather(torch.cat(list(parts)))
    by_rank = gathered.view(group.ranks, sum(sizes), *gathered.shape[1:])
    return torch.cat([part.flatten(0, 1) for part in torch.split(by_rank, sizes, dim=1)])
