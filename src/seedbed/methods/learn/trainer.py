"""Training: images and a few labels in, a model out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.base.run import RunContext
from seedbed.methods.learn.model import Model
from seedbed.methods.learn.pixels import Images
from seedbed.methods.learn.settings import TrainSettings


@dataclass(frozen=True)
class Trained:
    """The model that training kept, and how it came about."""

    model: Model
    step: int  # at which the kept weights were
    steps: int  # that were done in all
    criterion: str  # what the kept weights were chosen by
    metrics: dict[str, float]


def train(images: Images, labels: NDArray[np.integer], settings: TrainSettings, run: RunContext) -> Trained:
    """Train a model on uint8 images (number, height, width, 3) and their labels; -1 marks an unlabelled image."""
    raise NotImplementedError
