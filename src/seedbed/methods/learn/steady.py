"""Steady: FixMatch made safe for very few labels.

At a few labels per class the model is wrong often and sure of it for a while, and FixMatch learns its mistakes. Here
the pseudo-labels come from the running average of the model, which changes slowly and is better than the model at every
step, and classes that it names more often than others can be held back (distribution alignment, as in ReMixMatch).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from seedbed.methods.learn.algorithm import Batch, Forward, Outcome
from seedbed.methods.learn.augment import View


@dataclass
class Steady:
    """Cross-entropy on the labels, and on what the averaged model is sure of in the unlabelled images."""

    classes: int
    threshold: float = 0.9
    weight: float = 1.0
    align: float = 0.0  # 0: take the classes as they come; 1: name all equally often
    memory: float = 0.9  # of the shares of the classes, from step to step
    shares: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.shares = torch.full((self.classes,), 1.0 / self.classes)

    @property
    def views(self) -> tuple[View, ...]:
        return ("weak", "strong")

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        weak, strong = batch.views
        count = max(len(weak), 1)
        with torch.no_grad():
            confidence, guess = self._targets(batch.teacher(weak).softmax(dim=1), batch).max(dim=1)
            mask = (confidence >= self.threshold).to(weak.dtype)
        logits = model(torch.cat([batch.labelled, strong]))
        labelled = functional.cross_entropy(logits[: len(batch.labels)], batch.labels)
        each = functional.cross_entropy(logits[len(batch.labels) :], guess, reduction="none")
        unlabelled = (each * mask).sum() / count
        metrics = {"loss_labelled": labelled, "loss_unlabelled": unlabelled, "confident": mask.sum() / count}
        return Outcome(labelled + self.weight * unlabelled, {name: value.detach() for name, value in metrics.items()})

    def _targets(self, probabilities: Tensor, batch: Batch) -> Tensor:
        """The averaged model's word, with often-named classes held back."""
        if not self.align or not len(probabilities):
            return probabilities
        seen = batch.mean(probabilities.mean(dim=0))
        self.shares = self.memory * self.shares.to(seen.device) + (1 - self.memory) * seen
        held_back = probabilities / (self.classes * self.shares) ** self.align
        return held_back / held_back.sum(dim=1, keepdim=True)

    def state(self) -> dict[str, Tensor]:
        return {"shares": self.shares}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        self.shares = state["shares"].clone()
