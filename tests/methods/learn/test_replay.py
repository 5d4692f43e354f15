"""A step can be recorded: it never looks at a value on the host and never brings one from there."""

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from seedbed.base.run import MemoryRun
from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.group import ALONE
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import TrainingRun


class FromTheHost(TorchDispatchMode):
    """Notes every operation that a recording could not hold: values read on the host or brought from there."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = str(function)
        if "lift_fresh" in name or "_local_scalar_dense" in name or "nonzero" in name:
            self.seen.add(name)
        return function(*args, **(kwargs or {}))


TINY = {"start": "test_efficientnet", "weights": "none"}
CASES = [pytest.param(name, TINY, id=name) for name in ALGORITHMS] + [pytest.param("steady", {}, id="pretrained")]


@pytest.mark.parametrize(("name", "start"), CASES)
def test_a_step_neither_reads_values_on_the_host_nor_brings_any(name, start, tmp_path):
    images = np.random.default_rng(0).integers(0, 255, (24, 32, 32, 3), dtype=np.uint8)
    labels = np.full(24, -1)
    labels[:6] = np.arange(6) % 2
    small = {"size": 32, "labelled_batch": 4, "unlabelled_batch": 6, "device": "cpu", "record": "always"}
    made = TrainSettings(classes=("a", "b"), algorithm=name, **small, **start)
    run = TrainingRun(images, labels, made, MemoryRun(tmp_path), ALONE)
    run.begin()
    learner, feed = run.learner, run.feed
    learner.advance(feed.at(0), 0)
    rows, now = feed.at(1), torch.tensor([1.0, 1e-3, 0.1, 0.1], dtype=torch.float64)
    with FromTheHost() as mode:
        learner.step(rows.labelled, rows.labelled_pixels, rows.unlabelled, rows.unlabelled_pixels, now)
    assert not mode.seen
