"""Small leaves and short runs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.methods.learn.settings import TrainSettings


@dataclass(frozen=True)
class Task:
    images: NDArray[np.uint8]
    truth: NDArray[np.int64]
    classes: tuple[str, ...]

    def few_labels(self, per_class: int) -> NDArray[np.int64]:
        """The first labels of each class; the rest are unlabelled."""
        labels = np.full(len(self.truth), -1)
        for number in range(len(self.classes)):
            labels[np.flatnonzero(self.truth == number)[:per_class]] = number
        return labels

    def settings(self, **changes: Any) -> TrainSettings:
        """A run of seconds."""
        quick: dict[str, Any] = {
            "classes": self.classes,
            "size": 32,
            "steps": 6,
            "labelled_batch": 4,
            "unlabelled_batch": 6,
            "evaluate_every": 2,
            "report_every": 1,
            "checkpoint_every": 2,
            "options": {"threshold": 0.3},
            "device": "cpu",
        }
        return TrainSettings(**(quick | changes))

    def tiny(self, **changes: Any) -> TrainSettings:
        """A run of a quarter of a second: timm's smallest network from scratch, for what holds of every network."""
        return self.settings(**({"start": "test_efficientnet", "weights": "none"} | changes))


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Small tensors gain nothing from a second thread, and a busy machine loses much by it."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def task() -> Task:
    images, truth, classes = draw_leaves(14, seed=3, size=32)
    return Task(images, truth, classes)
