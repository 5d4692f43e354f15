"""FixMatch (Sohn et al., 2020): what the weak view says with confidence, the strong view must say too."""

from dataclasses import dataclass

import torch

from seedbed.methods.learn.algorithm import Batch, Forward, Keeping, Outcome, Views, mean_of, outcome_of
from seedbed.methods.learn.algorithms.parts import where_sure
from seedbed.methods.learn.task import Task


@dataclass
class FixMatch(Keeping):
    """Cross-entropy on the labels, and on confident pseudo-labels of the unlabelled images."""

    task: Task
    threshold: float = 0.95  # the paper's tau
    weight: float = 1.0  # the paper's lambda_u

    @property
    def views(self) -> Views:
        return Views()

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        weak, strong = batch.unlabelled
        with torch.no_grad():
            confidence, guess = model(weak).softmax(dim=1).max(dim=1)
            mask = (confidence >= self.threshold).to(confidence.dtype)
        given, found = where_sure(model, batch.labelled[0], strong, mask, spares=batch.spares)
        labelled = self.task.loss_given(given, batch.labels)
        unlabelled = mean_of(self.task.loss_each(found, guess) * mask)
        return outcome_of(labelled, unlabelled, self.weight, confident=mean_of(mask))
