"""Where the arithmetic happens, and what it takes."""

import numpy as np
import psutil
import pytest
import torch
from torch._dynamo.utils import counters

from seedbed.assets.zoo.builder import build_backbone
from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.devices import choose_device, compiled, go_on_uncompiled, memory_used


def test_the_most_memory_that_was_held_is_told_in_gib() -> None:
    block = np.ones(64 << 20, dtype=np.uint8)
    held = psutil.Process().memory_info().rss / 2**30
    del block
    told = memory_used(torch.device("cpu"))
    assert set(told) == {"memory_gib"}
    assert 0.99 * held <= told["memory_gib"] < psutil.virtual_memory().total / 2**30


def test_devices_that_are_not_there_are_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("cuda:1").index == 1 and choose_device("cuda").type == "cuda"
    with pytest.raises(InvalidInput, match="'cuda:9' was asked for, but torch sees only cuda:0, cuda:1 here"):
        choose_device("cuda:9")
    with pytest.raises(InvalidInput, match="'gpu' is not a device"):
        choose_device("gpu")
    with pytest.raises(InvalidInput, match="'xpu' was asked for, but torch cannot use it here"):
        choose_device("xpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InvalidInput, match="torch sees no GPU"):
        choose_device("cuda:1")


def test_what_cannot_be_compiled_runs_as_it_is_where_nobody_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(graph: object, inputs: object) -> None:
        raise RuntimeError("This machine compiles nothing.")

    monkeypatch.setattr(torch._dynamo.config, "suppress_errors", False)
    double = torch.compile(lambda images: 2 * images, backend=refuse)
    with pytest.raises(Exception, match="compiles nothing"):
        double(torch.ones(2))
    go_on_uncompiled()
    assert double(torch.ones(2)).tolist() == [2, 2]


@pytest.mark.slow
def test_a_network_is_compiled_once_for_any_number_of_classes() -> None:
    images, before = torch.randn(2, 3, 64, 64), counters["stats"]["unique_graphs"]
    made = []
    for classes in (3, 5):
        network = build_backbone("test_vit3", classes, weights="none", seed=classes, size=64).network.eval()
        torch.testing.assert_close(compiled(network)(images), network(images), rtol=1e-4, atol=1e-5)
        made.append(counters["stats"]["unique_graphs"] - before)
    assert made[0] == made[1] > 0
