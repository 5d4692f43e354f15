"""FlexMatch (Zhang et al., 2021): FixMatch with a threshold per class, lower where learning is slow."""

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from seedbed.methods.learn.algorithm import Batch, Forward, Keeping, Outcome, Views, mean_of, outcome_of
from seedbed.methods.learn.algorithms.parts import where_sure
from seedbed.methods.learn.task import Task

_NOT_YET = -1


@dataclass
class FlexMatch(Keeping):
    """Cross-entropy on the labels, and on pseudo-labels that are confident for how well their class is learnt."""

    task: Task
    threshold: float = 0.95  # the paper's tau: the highest that a class's threshold becomes
    weight: float = 1.0  # of the unlabelled images, the paper's lambda
    learnt: Tensor = field(init=False)  # per image: the class that it was last named with a confidence above tau
    kept: ClassVar[tuple[str, ...]] = ("learnt",)

    def __post_init__(self) -> None:
        self.learnt = torch.full((self.task.images,), _NOT_YET, dtype=torch.int64, device=self.task.device)

    @property
    def views(self) -> Views:
        return Views()

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        weak, strong = batch.unlabelled
        with torch.no_grad():
            confidence, guess = model(weak).softmax(dim=1).max(dim=1)
            thresholds = self.thresholds()
            mask = (confidence > thresholds[guess]).to(confidence.dtype)
            self._remember(batch, confidence, guess)
        given, found = where_sure(model, batch.labelled[0], strong, mask, spares=batch.spares)
        labelled = self.task.loss_given(given, batch.labels)
        unlabelled = mean_of(self.task.loss_each(found, guess) * mask)
        return outcome_of(labelled, unlabelled, self.weight, confident=mean_of(mask), threshold=thresholds.mean())

    def thresholds(self) -> Tensor:
        """One per class: tau times beta / (2 - beta), where beta is how well the class is learnt.

        That is the number of images that were last named so, relative to that of the class with most of them; as long
        as more images have no name yet, relative to their number (the paper's warm-up).
        """
        counts = torch.zeros(self.task.classes + 1, dtype=torch.int64, device=self.task.device)
        counts.scatter_add_(0, self.learnt - _NOT_YET, torch.ones_like(self.learnt))
        counts[0] -= self.task.held_out  # the first count is that of images without a name
        learnt = counts[1:] / counts.max().clamp_min(1)
        return self.threshold * learnt / (2 - learnt)

    def _remember(self, batch: Batch, confidence: Tensor, guess: Tensor) -> None:
        sure = torch.where(confidence > self.threshold, guess, _NOT_YET)
        images, names = batch.group.gather(torch.stack([batch.key.images, sure], dim=1)).unbind(dim=1)
        self.learnt.scatter_(0, images, torch.where(names == _NOT_YET, self.learnt[images], names))
