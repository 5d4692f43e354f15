"""FreeMatch (Wang et al., 2023): thresholds that follow the model's own confidence, and fairness to all classes."""

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from seedbed.methods.learn.algorithm import Batch, Forward, Keeping, Outcome, Views, mean_of, outcome_of
from seedbed.methods.learn.algorithms.parts import class_means, named, shared_equally, to_sum_1, where_sure
from seedbed.methods.learn.group import Group
from seedbed.methods.learn.task import Task


@dataclass
class FreeMatch(Keeping):
    """Cross-entropy on the labels, and on pseudo-labels that are confident by the standard the model has reached."""

    task: Task
    weight: float = 1.0  # of the unlabelled images, the paper's w_u
    fairness: float = 0.001  # weight of the fairness term, the paper's w_f
    memory: float = 0.999  # of the running averages, the paper's lambda
    confidence: Tensor = field(init=False)  # running mean of the confidence: the global threshold, tau_t
    shares: Tensor = field(init=False)  # running mean of the probabilities, p~_t
    counted: Tensor = field(init=False)  # running histogram of the pseudo-labels, h~_t
    kept: ClassVar[tuple[str, ...]] = ("confidence", "shares", "counted")

    def __post_init__(self) -> None:
        self.confidence = torch.full((), 1.0 / self.task.classes, device=self.task.device)
        self.shares = shared_equally(self.task)
        self.counted = shared_equally(self.task)

    @property
    def views(self) -> Views:
        return Views()

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        weak, strong = batch.unlabelled
        with torch.no_grad():
            probabilities = model(weak).softmax(dim=1)
            self._follow(probabilities, batch.group)
            confidence, guess = probabilities.max(dim=1)
            mask = (confidence >= self.thresholds()[guess]).to(confidence.dtype)
        given, found = where_sure(model, batch.labelled[0], strong, mask, spares=batch.spares)
        labelled = self.task.loss_given(given, batch.labels)
        unlabelled = mean_of(self.task.loss_each(found, guess) * mask)
        unfair = self._unfairness(found.softmax(dim=1), mask, batch.group)
        logged = {"confident": mean_of(mask), "threshold": self.confidence, "unfairness": unfair}
        outcome = outcome_of(labelled, unlabelled, self.weight, **logged)
        return Outcome(outcome.loss + self.fairness * unfair, outcome.metrics)

    def thresholds(self) -> Tensor:
        """One per class: the global threshold, scaled down for classes that are expected less often than the first."""
        return self.confidence * self.shares / self.shares.max()

    def _follow(self, probabilities: Tensor, group: Group) -> None:
        """Move the running averages towards this batch."""
        if not len(probabilities):
            return
        confidence, guess = probabilities.max(dim=1)
        counted = named(guess, self.task.classes)
        seen = group.mean(class_means(torch.cat([confidence[:, None], probabilities, counted], dim=1)))
        self.confidence.lerp_(seen[0], 1 - self.memory)
        self.shares.lerp_(seen[1 : self.task.classes + 1], 1 - self.memory)
        self.counted.lerp_(seen[self.task.classes + 1 :], 1 - self.memory)

    def _unfairness(self, answers: Tensor, mask: Tensor, group: Group) -> Tensor:
        """How far the strong views' probabilities are from those expected, each relative to how often it is named.

        The negative cross-entropy of the paper. Over the images in the mask; a class that none of them is named
        has no histogram to be divided by, and takes no part.
        """
        counts = named(answers.argmax(dim=1), self.task.classes)
        both = torch.stack([answers, counts], dim=1) * mask[:, None, None]
        found, counted = group.mean(class_means(both))
        present = counted > 0
        found = to_sum_1(torch.where(present, found / torch.where(present, counted, 1.0), 0.0))
        expected = to_sum_1(self.shares / self.counted.clamp_min(1e-6))
        return (expected * torch.where(present, found, 1.0).log()).sum()
