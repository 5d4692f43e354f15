"""Variants of the default algorithm for `benchmarks.ssl_defaults`; one that is better belongs in the algorithm."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from seedbed.methods.learn.algorithm import Batch, Forward, Outcome, Views, mean_of, outcome_of
from seedbed.methods.learn.algorithms.mixmatch import beta_draws
from seedbed.methods.learn.algorithms.parts import named, to_sum_1, where_sure
from seedbed.methods.learn.algorithms.steady import Steady
from seedbed.methods.learn.group import own_slice

_ALPHA = 0.4  # of the Beta distribution that images are mixed by


@dataclass
class EveryImage(Steady):
    """Unsure images are looked at too, though they do not count: what leaving them out saves."""

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        return super().loss(model, replace(batch, spares=False))


@dataclass
class StrongLabels(Steady):
    """The labelled images strongly changed, as the unlabelled ones are that it learns from."""

    @property
    def views(self) -> Views:
        return Views(labelled=("strong",))


@dataclass
class BothLabels(Steady):
    """The labelled images weakly and strongly changed."""

    @property
    def views(self) -> Views:
        return Views(labelled=("weak", "strong"))

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        weak, strong = batch.unlabelled
        guess, mask = self.told(batch, weak)
        given, others = where_sure(model, torch.cat(batch.labelled), strong, mask, spares=batch.spares)
        first, second = given.chunk(2)
        labelled = (self.task.loss_given(first, batch.labels) + self.task.loss_given(second, batch.labels)) / 2
        return outcome_of(labelled, mean_of(self.task.loss_each(others, guess) * mask), self.weight)


@dataclass
class FadingAlignment(Steady):
    """Often-named classes are held back ever less: in the end the average is trusted about how often they occur."""

    def _targets(self, probabilities: Tensor, batch: Batch) -> Tensor:
        held_back = super()._targets(probabilities, batch)
        return to_sum_1(probabilities**batch.progress * held_back ** (1 - batch.progress))


@dataclass
class MixedLabels(Steady):
    """Pairs of labelled images mixed (mixup), as their labels are."""

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        weak, strong = batch.unlabelled
        guess, mask = self.told(batch, weak)
        images, answers = self._mixed(batch)
        seen, others = where_sure(model, images, strong, mask, spares=batch.spares)
        given = self.task.loss_toward(seen, answers)
        weights = torch.ones_like(given) if self.task.weights is None else self.task.weights[batch.labels]
        each = self.task.loss_each(others, guess)
        return outcome_of((given * weights).mean(), mean_of(each * mask), self.weight)

    def _mixed(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Every image with the one as far from the other end of the global batch."""
        images, answers = batch.labelled[0], named(batch.labels, self.task.classes)
        share = beta_draws(batch.labelled_key, "labels mixed", _ALPHA)
        small = torch.minimum(share, 1 - share)
        others = (own_slice(batch.group.gather(part).flip(0), batch.group) for part in (images, answers))
        return (
            torch.lerp(images, next(others), small.view(-1, 1, 1, 1)),
            torch.lerp(answers, next(others), small.view(-1, 1)),
        )


@dataclass
class StrongMixedLabels(MixedLabels):
    """Both: strongly changed, and mixed."""

    @property
    def views(self) -> Views:
        return Views(labelled=("strong",))
