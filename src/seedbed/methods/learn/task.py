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
    weights in the loss of given labels (none: all alike). `borders` are there for ordered classes: what it costs to put
    an image on the wrong side of each border between neighbouring classes, beside not naming its class.
    State that an algorithm keeps lives on `device`. `held_out` of the images are never in a batch. `labels_per_class`
    is how many labels a class has, as a mean; 0: not known.
    """

    classes: int
    images: int = 0
    device: torch.device = CPU
    weights: Tensor | None = None
    borders: Tensor | None = None
    held_out: int = 0
    labels_per_class: float = 0.0

    def loss_each(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of every image for a class number each."""
        each = functional.cross_entropy(logits, labels, reduction="none")
        if self.borders is None:
            return each
        beyond = torch.arange(self.classes - 1, device=labels.device) >= labels[:, None]
        return each + self._off(logits, beyond.to(logits.dtype), self.borders)

    def loss_toward(self, logits: Tensor, answers: Tensor) -> Tensor:
        """The loss of every image for a share of each class."""
        each = functional.cross_entropy(logits, answers, reduction="none")
        if self.borders is None:
            return each
        return each + self._off(logits, answers.cumsum(dim=1)[:, :-1], self.borders)

    @staticmethod
    def _off(logits: Tensor, below: Tensor, borders: Tensor) -> Tensor:
        """The ranked probability score: how far the probability of lying below each border is from the truth."""
        said = logits.softmax(dim=1).cumsum(dim=1)[:, :-1]
        return ((said - below).square() * borders).sum(dim=1)

    def loss_given(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The mean loss on labels that people gave, with the classes' weights."""
        each = self.loss_each(logits, labels)
        return (each if self.weights is None else each * self.weights[labels]).mean()


def borders_of(values: Sequence[float], weight: float) -> Tensor:
    """What the borders between ordered classes cost: the gap between their values, with a mean of `weight`.

    Answers far from the truth cross many borders and wide ones. The score is proper, so that a model is still asked
    to be sure of what is clear, as confidence thresholds need.
    """
    gaps = torch.tensor(values, dtype=torch.float32).diff()
    return weight * gaps / gaps.mean()


def balancing_weights(counts: Sequence[int]) -> Tensor:
    """Weights that let every class count alike: inverse to its number of labels, with mean 1 over all labels."""
    given = torch.tensor(counts, dtype=torch.float32)
    return given.sum() / (len(counts) * given)


def make_task(labels: NDArray[np.integer], settings: TrainSettings, device: torch.device, *, held_out: int = 0) -> Task:
    """The task that the settings describe, for these labels."""
    counts = np.bincount(labels[labels >= 0], minlength=len(settings.classes))
    uneven = settings.balance == "auto" and counts.max() > _UNEVEN * counts.min()
    weights = balancing_weights(counts.tolist()).to(device) if uneven or settings.balance == "weights" else None
    borders = borders_of(settings.values, settings.nearness).to(device) if settings.values else None
    each = float(counts.mean())
    return Task(len(settings.classes), len(labels), device, weights, borders, held_out, labels_per_class=each)
