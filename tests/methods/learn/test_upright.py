import numpy as np
import pytest
import torch

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.assets.zoo.builder import build_backbone
from seedbed.methods.learn.pixels import normalise
from seedbed.methods.learn.start import features_of
from seedbed.methods.learn.upright import SLANTED, TURNED, largest_turn, told_turns

BACKBONE = build_backbone("efficientnet_lite0.imagenet", 2)


@torch.no_grad()
def features(pixels: torch.Tensor) -> torch.Tensor:
    return features_of(BACKBONE.network.eval(), normalise(pixels.float() / 255, BACKBONE.preprocessing))


@pytest.fixture(scope="module")
def leaves() -> torch.Tensor:
    images, _, _ = draw_leaves(16, seed=0, size=48)
    return torch.from_numpy(np.ascontiguousarray(images[np.random.default_rng(0).permutation(len(images))]))


def test_images_turned_at_random_have_no_upright(leaves):
    turns = np.random.default_rng(1).integers(0, 4, len(leaves))
    turned = torch.stack([torch.rot90(leaf, int(turn), (0, 1)) for leaf, turn in zip(leaves, turns, strict=True)])
    told = told_turns(turned.permute(0, 3, 1, 2), features)
    assert told < 0.35 and largest_turn(told) == TURNED


def test_images_that_are_darker_below_have_one(leaves):
    shade = torch.linspace(1, 0.3, leaves.shape[1])[None, :, None, None]
    shaded = (leaves * shade).to(torch.uint8).permute(0, 3, 1, 2)
    told = told_turns(shaded, features)
    assert told > 0.6 and largest_turn(told) == SLANTED


def test_too_few_images_are_not_turned_far(leaves):
    assert largest_turn(told_turns(leaves[:4].permute(0, 3, 1, 2), features)) == SLANTED
