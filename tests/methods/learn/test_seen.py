"""What an algorithm sees of a batch, compiled and not."""

import pytest
import torch
from torch import Tensor
from torch._dynamo.utils import counters

from seedbed.assets.zoo.card import Preprocessing
from seedbed.methods.learn.augment import View
from seedbed.methods.learn.draws import Key, on_device
from seedbed.methods.learn.seen import compiled_seen, seen
from seedbed.methods.learn.settings import Strength

STRENGTH = Strength(turn=20.0)
STILL = Strength(flip=0, shift=0, turn=0, zoom=0, strong_zoom=0, shear=0, operations=0, cutout=0)
PREPROCESSING = Preprocessing(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
BOTH: tuple[View, ...] = ("weak", "strong")


@pytest.fixture
def pixels(task) -> Tensor:
    return torch.from_numpy(task.images[:6]).permute(0, 3, 1, 2)


def keys(seed: int, step: int, count: int) -> tuple[Key, Key]:
    """The same key in numbers and in tensors."""
    numbers = torch.arange(count) * 31
    return Key(seed, step, numbers), Key(on_device(seed, numbers.device), torch.tensor(step), numbers)


def test_views_of_one_kind_differ_and_another_kind_before_them_changes_nothing(pixels):
    key, _ = keys(0, 1, 6)
    weak, first, second = seen(pixels, ("weak", "strong", "strong"), key, STRENGTH, PREPROCESSING)
    assert not torch.equal(first, second)
    (alone,) = seen(pixels, ("strong",), key, STRENGTH, PREPROCESSING)
    assert torch.equal(first, alone) and not torch.equal(weak, alone)


def test_a_network_is_given_the_mean_as_zero_and_the_deviation_as_one(pixels):
    key, _ = keys(0, 1, 6)
    (view,) = seen(pixels, ("weak",), key, STILL, PREPROCESSING)
    mean, std = (torch.tensor(values).view(3, 1, 1) for values in (PREPROCESSING.mean, PREPROCESSING.std))
    for image, shown in zip((pixels / 255 - mean) / std, view, strict=True):
        assert torch.allclose(shown, image, atol=1e-4)
    assert view.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.slow
def test_compiled_views_are_the_same_to_rounding_and_compiled_once_for_every_seed_and_step(pixels):
    made, before = compiled_seen(), counters["stats"]["unique_graphs"]
    for seed, step in ((0, 1), (0, 2), (-3, 2), (2**64 - 5, 10**9)):
        plain, traced = keys(seed, step, 6)
        expected = seen(pixels, BOTH, plain, STRENGTH, PREPROCESSING)
        for ours, theirs in zip(made(pixels, BOTH, traced, STRENGTH, PREPROCESSING), expected, strict=True):
            off = (ours - theirs).abs()
            assert ours.stride() == theirs.stride()
            assert off.max() < 0.1  # a tone on the edge between two may be looked up as its neighbour
            assert (off > 1e-4).float().mean() < 1e-3
    assert counters["stats"]["unique_graphs"] == before + 1


@pytest.mark.slow
def test_another_number_of_images_is_compiled_once_more_and_then_no_more(pixels):
    made, before = compiled_seen(), counters["stats"]["unique_graphs"]
    for seed, count in enumerate((5, 3, 5, 3)):
        plain, traced = keys(seed, 1, count)
        (ours,) = made(pixels[:count], ("weak",), traced, STRENGTH, PREPROCESSING)
        (theirs,) = seen(pixels[:count], ("weak",), plain, STRENGTH, PREPROCESSING)
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-4)
    assert counters["stats"]["unique_graphs"] == before + 2
