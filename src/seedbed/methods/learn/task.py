"""What a model is to learn: its classes and what a wrong answer costs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from seedbed.methods.learn.settings import TrainSettings

_UNEVEN = 2  # times as many labels in one class as in another, from which on classes are weighed
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Task:
    """The classes, the images, and the loss of an answer.

    `images` is how many images there are: their numbers in a batch's key lie below it. `weights` are the classes'
    weights in the loss of given labels (none: all alike). `nearness` holds, per class, the answer that is wanted when
    the truth is that class: None for the class alone; rows that also give neighbours a share for ordered classes.
    State that an algorithm keeps lives on `device`. `held_out` of the images are never in a batch.
    """

    classes: int
    images: int = 0
    device: torch.device = CPU
    weights: Tensor | None = None
    nearness: Tensor | None = None
    held_out: int = 0

    def loss_each(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of every image for a class number each."""
        if self.nearness is None:
            return functional.cross_entropy(logits, labels, reduction="none")
        return functional.cross_entropy(logits, self.nearness[labels], reduction="none")

    def loss_given(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The mean loss on labels that people gave, with the classes' weights."""
        each = self.loss_each(logits, labels)
        return (each if self.weights is None else each * self.weights[labels]).mean()


def nearness_of(values: Sequence[float], width: float) -> Tensor:
    """Wanted answers for ordered classes: shares fall off with the distance between the classes' values.

    Rows are softmax(-distance / width), with distances relative to the mean gap of neighbouring values; as the width
    goes to 0 only the class itself is wanted.
    """
    places = torch.tensor(values, dtype=torch.float32)
    gap = (places.max() - places.min()) / max(len(values) - 1, 1)
    distance = (places[:, None] - places[None]).abs() / gap
    return torch.softmax(-distance / width, dim=1)


def balancing_weights(counts: Sequence[int]) -> Tensor:
    """Weights that let every class count alike: inverse to its number of labels, with mean 1 over all labels."""
    given = torch.tensor(counts, dtype=torch.float32)
    return given.sum() / (len(counts) * given)


def make_task(labels: NDArray[np.integer], settings: TrainSettings, device: torch.device, *, held_out: int = 0) -> Task:
    """The task that the settings describe, for these labels."""
    counts = np.bincount(labels[labels >= 0], minlength=len(settings.classes))
    uneven = settings.balance == "auto" and counts.max() > _UNEVEN * counts.min()
    weights = balancing_weights(counts.tolist()).to(device) if uneven or settings.balance == "weights" else None
    nearness = nearness_of(settings.values, settings.nearness).to(device) if settings.values else None
    return Task(len(settings.classes), len(labels), device, weights, nearness, held_out)
