"""AdaMatch (Berthelot et al., 2022): pseudo-labels aligned with the labelled images, as sure as the model is there."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from seedbed.methods.learn.algorithm import Batch, Forward, Keeping, Outcome, Views, mean_of, outcome_of
from seedbed.methods.learn.algorithms.parts import class_means, shared_equally, to_sum_1, together
from seedbed.methods.learn.group import Group
from seedbed.methods.learn.task import Task


@dataclass
class AdaMatch(Keeping):
    """Cross-entropy on two views of the labels, and on pseudo-labels about as confident as those of labelled images."""

    task: Task
    threshold: float = 0.95  # relative to the mean confidence on labelled images, the paper's tau
    weight: float = 1.0  # of the unlabelled images, once half of the run is over
    memory: float = 0.999  # of the classes' shares; 0: those of the batch alone
    given: Tensor = field(init=False)  # running mean of the probabilities of labelled images
    found: Tensor = field(init=False)  # and of unlabelled ones
    kept: ClassVar[tuple[str, ...]] = ("given", "found")

    def __post_init__(self) -> None:
        self.given = shared_equally(self.task)
        self.found = shared_equally(self.task)

    @property
    def views(self) -> Views:
        return Views(labelled=("weak", "strong"), unlabelled=("weak", "strong"))

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        *joint, weak, strong = together(model, *batch.labelled, *batch.unlabelled)
        shares = batch.labelled_key.uniform("adamatch", 2 * self.task.classes).chunk(2, dim=1)
        alone = together(model, *batch.labelled)
        given = [torch.lerp(one, other, share) for one, other, share in zip(alone, joint, shares, strict=True)]
        with torch.no_grad():
            targets, threshold = self._targets(given[0].softmax(dim=1), weak.softmax(dim=1), batch.group)
            confidence, guess = targets.max(dim=1)
            mask = (confidence >= threshold).to(confidence.dtype)
        labelled = self.task.loss_given(given[0], batch.labels) + self.task.loss_given(given[1], batch.labels)
        unlabelled = mean_of(self.task.loss_each(strong, guess) * mask)
        weight = self.weight * ramp(batch.progress)
        return outcome_of(labelled, unlabelled, weight, confident=mean_of(mask), threshold=threshold)

    def _targets(self, labelled: Tensor, unlabelled: Tensor, group: Group) -> tuple[Tensor, Tensor]:
        """Probabilities of the unlabelled images with the labelled ones' class shares, and the threshold for them."""
        confidence = labelled.max(dim=1, keepdim=True).values
        seen = group.mean(class_means(torch.cat([confidence, labelled], dim=1)))
        if len(unlabelled):
            self.given.lerp_(seen[1:], 1 - self.memory)
            self.found.lerp_(group.mean(class_means(unlabelled)), 1 - self.memory)
        aligned = unlabelled * (self.given + 1e-6) / (self.found + 1e-6)
        return to_sum_1(aligned), self.threshold * seen[0]


def ramp(progress: Tensor) -> Tensor:
    """From 0 to 1 along a cosine over the first half of the run, then 1; the paper's mu(t)."""
    return 0.5 - torch.cos((2 * math.pi * progress).clamp_max(math.pi)) / 2
