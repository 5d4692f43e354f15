"""How a learner takes its steps: which images it may spare, and which convolutions go our way on a CPU."""

import pytest
import torch
from torch import nn

from seedbed.assets.zoo.builder import build_backbone
from seedbed.methods.learn import learner
from seedbed.methods.learn.algorithms.fixmatch import FixMatch
from seedbed.methods.learn.feed import Rows
from seedbed.methods.learn.group import ALONE
from seedbed.methods.learn.learner import Learner
from seedbed.methods.learn.settings import Strength, TrainSettings
from seedbed.methods.learn.task import Task

CPU, SIDE, IMAGES = torch.device("cpu"), 32, 6


class Told(FixMatch):
    """FixMatch that remembers whether its batches may spare images."""

    def loss(self, model, batch):
        self.spares = batch.spares
        return super().loss(model, batch)


def learner_of(algorithm, network="test_efficientnet", **settings):
    made = TrainSettings(classes=("a", "b"), size=SIDE, augment=Strength(turn=0.0), **settings)
    backbone = build_backbone(network, 2, weights="none", size=SIDE)
    return Learner(
        backbone, algorithm, torch.arange(IMAGES) % 2, made, steps=4, rate=1e-3, seed=0, device=CPU, group=ALONE
    )


def spares_in_a_step(**settings):
    told = Told(Task(classes=2, images=IMAGES))
    numbers, pixels = torch.arange(IMAGES), torch.zeros(IMAGES, 3, SIDE, SIDE, dtype=torch.uint8)
    learner_of(told, **settings).advance(Rows(numbers[:2], pixels[:2], numbers, pixels), 0)
    return told.spares


@pytest.mark.parametrize(
    ("settings", "spares"),
    [
        ({}, True),
        ({"record": "never"}, True),
        ({"weights": "none", "batch_norm": "frozen"}, True),
        ({"weights": "none"}, False),  # its statistics are learnt, from every image of the batch
        ({"batch_norm": "learn"}, False),
        ({"record": "always"}, False),
        ({"network": "test_convnext", "weights": "none"}, True),  # no BatchNorm, so nothing of it is learnt
    ],
    ids=str,
)
def test_on_a_cpu_images_are_spared_unless_statistics_are_learnt_or_steps_recorded(settings, spares):
    assert spares_in_a_step(**settings) is spares


def test_a_compiled_step_spares_no_images(monkeypatch):
    monkeypatch.setattr(learner, "compiled", lambda network: lambda images: network(images))
    assert spares_in_a_step(compile="always") is False


@pytest.mark.parametrize("network", ["test_convnext", "test_efficientnet"])
def test_depthwise_convolutions_go_our_way_in_the_network_and_in_its_average(network):
    made = learner_of(Told(Task(classes=2, images=IMAGES)), network, weights="none")
    for part in (made.network, made.average.network):
        depthwise = [conv for conv in part.modules() if isinstance(conv, nn.Conv2d) and conv.groups > 1]
        assert depthwise and all("forward" in conv.__dict__ for conv in depthwise)
