"""SoftMatch (Chen et al., 2023): every pseudo-label counts, by how likely its confidence is."""

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from seedbed.methods.learn.algorithm import Batch, Forward, Keeping, Outcome, Views, mean_of, outcome_of
from seedbed.methods.learn.algorithms.parts import class_means, shared_equally, to_sum_1, together
from seedbed.methods.learn.group import Group
from seedbed.methods.learn.task import Task


@dataclass
class SoftMatch(Keeping):
    """Cross-entropy on the labels, and on all pseudo-labels with weights that fall off below the mean confidence."""

    task: Task
    weight: float = 1.0  # of the unlabelled images
    n_sigma: float = 2.0  # the deviation of the weights' Gaussian is the confidence's, divided by this
    memory: float = 0.999  # of the running averages, the paper's m
    mean: Tensor = field(init=False)  # running mean of the confidence, mu_t
    variance: Tensor = field(init=False)  # and its variance, sigma_t squared
    shares: Tensor = field(init=False)  # running mean of the probabilities
    kept: ClassVar[tuple[str, ...]] = ("mean", "variance", "shares")

    def __post_init__(self) -> None:
        self.mean = torch.full((), 1.0 / self.task.classes, device=self.task.device)
        self.variance = torch.ones((), device=self.task.device)
        self.shares = shared_equally(self.task)

    @property
    def views(self) -> Views:
        return Views()

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        weak, strong = batch.unlabelled
        with torch.no_grad():
            probabilities = model(weak).softmax(dim=1)
            self._follow(probabilities, batch.group)
            trust = self._trust(probabilities)
        given, found = together(model, batch.labelled[0], strong)
        labelled = self.task.loss_given(given, batch.labels)
        unlabelled = mean_of(self.task.loss_each(found, probabilities.argmax(dim=1)) * trust)
        return outcome_of(labelled, unlabelled, self.weight, confident=mean_of(trust), threshold=self.mean)

    def _follow(self, probabilities: Tensor, group: Group) -> None:
        """Move the running averages towards the global batch; its variance is the unbiased one."""
        if not (images := len(probabilities) * group.ranks):
            return
        confidence = probabilities.max(dim=1).values
        seen = group.mean(class_means(torch.cat([confidence[:, None], probabilities], dim=1)))
        variance = group.mean((confidence - seen[0]).square().mean()) * images / max(images - 1, 1)
        self.mean.lerp_(seen[0], 1 - self.memory)
        self.variance.lerp_(variance, 1 - self.memory)
        self.shares.lerp_(seen[1:], 1 - self.memory)

    def _trust(self, probabilities: Tensor) -> Tensor:
        """A weight per image: 1 above the mean confidence, a Gaussian below, with all classes named equally often."""
        even = to_sum_1(probabilities / self.shares.clamp_min(1e-6)).max(dim=1).values
        below = (even - self.mean).clamp_max(0) * self.n_sigma
        return torch.exp(-below.square() / (2 * self.variance.clamp_min(1e-12)))
