"""Asking a network about any number of images."""

from collections.abc import Callable

import torch
from torch import Tensor

AT_ONCE = 256  # images


def ask(network: Callable[[Tensor], Tensor], images: Tensor, *, at_once: int = AT_ONCE) -> Tensor:
    """What the network says of every image, asked in batches.

    On a GPU all batches have one size, the last one filled up: cuDNN looks for a plan for every convolution of every
    new shape, which took 2 to 6 seconds (EfficientNet-Lite0 at 128 px on an H200) where the answer takes milliseconds.
    """
    return torch.cat([network(_filled(part, at_once))[: len(part)] for part in torch.split(images, at_once)])


def _filled(images: Tensor, size: int) -> Tensor:
    missing = size - len(images)
    if not images.is_cuda or not missing:
        return images
    return torch.cat([images, images[-1:].expand(missing, -1, -1, -1)])
