"""Where the arithmetic happens, and what it takes."""

import numpy as np
import psutil
import torch

from seedbed.methods.learn.devices import memory_used


def test_the_most_memory_that_was_held_is_told_in_gib() -> None:
    block = np.ones(64 << 20, dtype=np.uint8)
    held = psutil.Process().memory_info().rss / 2**30
    del block
    told = memory_used(torch.device("cpu"))
    assert set(told) == {"memory_gib"}
    assert 0.99 * held <= told["memory_gib"] < psutil.virtual_memory().total / 2**30
