"""From uint8 images to what a network takes."""

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from seedbed.assets.zoo.card import Preprocessing
from seedbed.base.errors import InvalidInput

Images = NDArray[np.uint8]


def check_images(images: NDArray[Any]) -> None:
    """Refuse anything but uint8 images of shape (number, height, width, 3)."""
    if images.ndim != 4 or images.shape[3] != 3 or images.dtype != np.uint8:
        raise InvalidInput(
            f"images has shape {images.shape} and type {images.dtype}; expected (number, height, width, 3) of uint8.",
            hint="Pass the decoded cache of a data set, or stack RGB images of one size.",
        )


def to_float(images: Images, size: int, device: torch.device) -> Tensor:
    """A batch as float NCHW in [0, 1] at `size` pixels, channels last in memory."""
    batch = torch.from_numpy(np.require(images, requirements=["C", "W"])).to(device, non_blocking=True)
    batch = batch.permute(0, 3, 1, 2).to(torch.float32).div_(255.0)
    return resize(batch, size)


def resize(batch: Tensor, size: int) -> Tensor:
    """The batch at `size` x `size`; untouched when it has that size."""
    if batch.shape[-2:] == (size, size):
        return batch
    return functional.interpolate(batch, (size, size), mode="bilinear", antialias=True, align_corners=False)


def normalise(batch: Tensor, preprocessing: Preprocessing) -> Tensor:
    """Less the mean, divided by the deviation, per channel."""
    gain = tuple(1 / deviation for deviation in preprocessing.std)
    shift = tuple(-mean / deviation for mean, deviation in zip(preprocessing.mean, preprocessing.std, strict=True))
    return torch.addcmul(per_channel(shift, batch.device), batch, per_channel(gain, batch.device))


def per_channel(values: tuple[float, ...], device: torch.device) -> Tensor:
    """A number per channel, for NCHW; kept on the device, because a recorded step must not copy from the host.

    What is compiled has the numbers in it.
    """
    return _made(values, device) if torch.compiler.is_compiling() else _kept(values, device)


@lru_cache
def _kept(values: tuple[float, ...], device: torch.device) -> Tensor:
    with torch.inference_mode(False):
        return _made(values, device)


def _made(values: tuple[float, ...], device: torch.device) -> Tensor:
    return torch.tensor(values, device=device).view(1, 3, 1, 1)
