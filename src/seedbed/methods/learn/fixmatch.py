"""FixMatch (Sohn et al., 2020): what the weak view says with confidence, the strong view must say too."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from seedbed.methods.learn.algorithm import Batch, Forward, Outcome
from seedbed.methods.learn.augment import View


@dataclass
class FixMatch:
    """Cross-entropy on the labels, and on confident pseudo-labels of the unlabelled images."""

    classes: int
    threshold: float = 0.95  # the paper's tau
    weight: float = 1.0  # the paper's lambda_u

    @property
    def views(self) -> tuple[View, ...]:
        return ("weak", "strong")

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        weak, strong = batch.views
        with torch.no_grad():
            confidence, guess = model(weak).softmax(dim=1).max(dim=1)
            mask = (confidence >= self.threshold).to(weak.dtype)
        logits = model(torch.cat([batch.labelled, strong]))
        labelled = functional.cross_entropy(logits[: len(batch.labels)], batch.labels)
        each = functional.cross_entropy(logits[len(batch.labels) :], guess, reduction="none")
        unlabelled = (each * mask).sum() / max(len(weak), 1)
        loss = labelled + self.weight * unlabelled
        metrics = {
            "loss_labelled": labelled,
            "loss_unlabelled": unlabelled,
            "confident": mask.sum() / max(len(weak), 1),
        }
        return Outcome(loss, {name: value.detach() for name, value in metrics.items()})

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Nothing is kept from step to step."""
