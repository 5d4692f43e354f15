"""What an algorithm sees of a batch: views of its images, augmented and ready for a network."""

from collections.abc import Callable

import torch
from torch import Tensor

from seedbed.assets.zoo.card import Preprocessing
from seedbed.methods.learn.augment import View, augment
from seedbed.methods.learn.devices import compiled_function
from seedbed.methods.learn.draws import Key, number_of
from seedbed.methods.learn.pixels import normalise
from seedbed.methods.learn.settings import Strength

Seen = Callable[[Tensor, tuple[View, ...], Key, Strength, Preprocessing], tuple[Tensor, ...]]


def seen(
    pixels: Tensor, views: tuple[View, ...], key: Key, strength: Strength, preprocessing: Preprocessing
) -> tuple[Tensor, ...]:
    """Each of the views of uint8 images."""
    images = pixels.to(torch.float32) / 255
    places = [views[:place].count(view) for place, view in enumerate(views)]
    return tuple(
        network_input(augment(images, view, key, strength, place=place), preprocessing)
        for view, place in zip(views, places, strict=True)
    )


def compiled_seen() -> Seen:
    """`seen` in few passes over the pixels: quicker on a GPU, several times slower on a CPU.

    The draws are the same to the bit, the images to rounding. Give keys whose seed and step are tensors: a number would
    be compiled in, and every other number compiled again, as views, sizes and strengths are. After eight of them
    (torch._dynamo.config.recompile_limit) torch compiles no more in a process, and the rest is slower.
    """
    return compiled_function(seen, constants=(number_of,))


def network_input(images: Tensor, preprocessing: Preprocessing) -> Tensor:
    """Images in [0, 1], normalised, channels last in memory."""
    return normalise(images, preprocessing).contiguous(memory_format=torch.channels_last)
