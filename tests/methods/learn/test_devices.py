"""Where the arithmetic happens, and what it takes."""

import numpy as np
import psutil
import pytest
import torch
from torch._dynamo.utils import counters

from seedbed.assets.zoo.builder import build_backbone
from seedbed.methods.learn.devices import compiled, memory_used


def test_the_most_memory_that_was_held_is_told_in_gib() -> None:
    block = np.ones(64 << 20, dtype=np.uint8)
    held = psutil.Process().memory_info().rss / 2**30
    del block
    told = memory_used(torch.device("cpu"))
    assert set(told) == {"memory_gib"}
    assert 0.99 * held <= told["memory_gib"] < psutil.virtual_memory().total / 2**30


@pytest.mark.slow
def test_a_network_is_compiled_once_for_any_number_of_classes() -> None:
    images = torch.randn(2, 3, 64, 64)
    made = []
    for classes in (3, 5):
        network = build_backbone("test_vit3", classes, weights="none", seed=classes, size=64).network.eval()
        torch.testing.assert_close(compiled(network)(images), network(images), rtol=1e-4, atol=1e-5)
        made.append(counters["stats"]["unique_graphs"])
    assert made[0] == made[1] > 0
