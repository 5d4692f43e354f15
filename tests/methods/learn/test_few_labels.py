"""The claim of the demo: with 8 labels per class, the unlabelled rest is worth at least 5 points."""

from functools import lru_cache

import numpy as np
import pytest
import torch

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.base.run import MemoryRun
from seedbed.methods.learn.predict import predict
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import train

SEEDS, PER_CLASS, LABELS, HIDDEN = (10, 11, 12), 175, 8, 75


@lru_cache
def leaves(seed: int):
    return draw_leaves(PER_CLASS + HIDDEN, seed=seed, size=96)


def accuracy(seed: int, folder, **changes) -> float:
    """On hidden images, of a model trained with a few labels of a set of its own."""
    images, truth, classes = leaves(seed)
    seen = PER_CLASS * len(classes)
    labels, rng = np.full(seen, -1), np.random.default_rng(seed)
    for number in range(len(classes)):
        labels[rng.permutation(np.flatnonzero(truth[:seen] == number))[:LABELS]] = number
    trained = train(images[:seen], labels, TrainSettings(classes=classes, **changes), MemoryRun(folder, seed=seed))
    return float((predict(trained.model, images[seen:]).argmax(axis=1) == truth[seen:]).mean())


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_unlabelled_images_are_worth_five_points_over_the_labels_alone(tmp_path):
    """Against the labels alone with the same network, augmentation and rate, in twice the steps: it has converged."""
    torch.set_num_threads(2)
    ours = [accuracy(seed, tmp_path / f"ours-{seed}") for seed in SEEDS]
    alone = [
        accuracy(seed, tmp_path / f"alone-{seed}", algorithm="supervised", steps=2 * TrainSettings().steps, patience=0)
        for seed in SEEDS
    ]
    gain = 100 * (np.mean(ours) - np.mean(alone))
    assert gain >= 5, f"{gain:.1f} points: {ours} with unlabelled images, {alone} with labels alone"
