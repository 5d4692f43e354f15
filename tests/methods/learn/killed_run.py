"""A training run for a test to kill."""

from pathlib import Path

import numpy as np
import torch

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.base.run import FolderRun
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import train

STEPS = 16


def main(folder: Path, resume: Path | None) -> None:
    """Train for a few steps, from a checkpoint where there is one, reporting each, and save the model at the end."""
    torch.set_num_threads(1)
    images, truth, classes = draw_leaves(4, seed=1, size=32)
    labels = np.where(np.arange(len(truth)) < 2 * len(classes), truth, -1)
    settings = TrainSettings(
        classes=classes,
        size=32,
        steps=STEPS,
        labelled_batch=4,
        unlabelled_batch=6,
        evaluate_every=5,
        report_every=1,
        checkpoint_every=4,
        device="cpu",
    )
    train(images, labels, settings, FolderRun(folder, seed=2, resume=resume)).model.save(folder / "model")
