"""Steady: FixMatch made safe for very few labels.

At a few labels per class the model is wrong often and sure of it for a while, and FixMatch learns its mistakes. Here
the pseudo-labels come from the running average of the model, which changes slowly and is better than the model at every
step. Where labels are scarce, classes that it names more often than others are held back (distribution alignment, as in
ReMixMatch); with more of them it knows better than that how often each class occurs.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from seedbed.methods.learn.algorithm import Batch, Forward, Keeping, Outcome, Views, mean_of, outcome_of
from seedbed.methods.learn.algorithms.parts import where_sure
from seedbed.methods.learn.task import Task


@dataclass
class Steady(Keeping):
    """Cross-entropy on the labels, and on what the averaged model is sure of in the unlabelled images."""

    task: Task
    threshold: float = 0.9
    weight: float = 1.0
    align: float = 1.0  # where labels are scarce; 0: take the classes as they come; 1: name all equally often
    scarce: float = 10.0  # labels a class, as a mean, under which they are
    memory: float = 0.9  # of the shares of the classes, from step to step
    shares: Tensor = field(init=False)
    kept: ClassVar[tuple[str, ...]] = ("shares",)

    def __post_init__(self) -> None:
        self.shares = torch.full((self.task.classes,), 1.0 / self.task.classes, device=self.task.device)

    @property
    def views(self) -> Views:
        return Views()

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        weak, strong = batch.unlabelled
        guess, mask = self.told(batch, weak)
        given, found = where_sure(model, batch.labelled[0], strong, mask, spares=batch.spares)
        labelled = self.task.loss_given(given, batch.labels)
        unlabelled = mean_of(self.task.loss_each(found, guess) * mask)
        return outcome_of(labelled, unlabelled, self.weight, confident=mean_of(mask))

    def told(self, batch: Batch, images: Tensor) -> tuple[Tensor, Tensor]:
        """The classes that the averaged model names, and 1 where it is sure enough."""
        with torch.no_grad():
            confidence, guess = self._targets(batch.teacher(images).softmax(dim=1), batch).max(dim=1)
            return guess, (confidence >= self.threshold).to(confidence.dtype)

    def _targets(self, probabilities: Tensor, batch: Batch) -> Tensor:
        """The averaged model's word, with often-named classes held back."""
        if not self.align or self.task.labels_per_class >= self.scarce or not len(probabilities):
            return probabilities
        self.shares.lerp_(batch.group.mean(probabilities.mean(dim=0)), 1 - self.memory)
        held_back = probabilities / (self.task.classes * self.shares) ** self.align
        return held_back / held_back.sum(dim=1, keepdim=True)
