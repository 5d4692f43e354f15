"""What of an image is compared: its pixels, as in the paper; a network's features come from `methods.label.embed`."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import interpolate

from seedbed.base.errors import InvalidInput

SIDE = 28  # pixels; the paper's
_AT_ONCE = 16 << 20  # bytes of images, which take four times as much as numbers


def pixel_space(side: int = SIDE) -> str:
    """The name of the space that `pixel_features` are in."""
    return f"pixels-{side}"


def pixel_features(
    images: NDArray[np.uint8], side: int = SIDE, *, rows: NDArray[np.integer[Any]] | None = None
) -> NDArray[np.uint8]:
    """Images (count x height x width x channels, bytes) at a small size, one row of bytes each.

    A pixel of the result is the mean of those that it covers. Grey images become RGB and a fourth channel (alpha) is
    left out, so that data sets of both kinds can be compared; other numbers of channels stay as they are. `rows` are
    the images that are wanted, where not all are; of memory-mapped ones few are in memory at a time.
    """
    if images.ndim == 3:
        images = images[..., None]
    if images.ndim != 4 or images.dtype != np.uint8:
        raise InvalidInput(
            f"Images of shape {images.shape} and type {images.dtype} cannot be compared.",
            hint="Give bytes: images x height x width x channels.",
        )
    wanted = np.arange(len(images)) if rows is None else rows
    batch = max(1, _AT_ONCE // max(1, images[:1].nbytes))
    found = [_shrunk(images[wanted[start : start + batch]], side) for start in range(0, len(wanted), batch)]
    return np.concatenate(found) if found else np.zeros((0, side * side * 3), np.uint8)


def _shrunk(images: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    pixels = torch.from_numpy(np.ascontiguousarray(images)).permute(0, 3, 1, 2)
    if pixels.shape[1] in (1, 2):
        pixels = pixels[:, :1].expand(-1, 3, -1, -1)
    elif pixels.shape[1] == 4:
        pixels = pixels[:, :3]
    small = interpolate(pixels.float(), (side, side), mode="area").round().clamp(0, 255).to(torch.uint8)
    return small.permute(0, 2, 3, 1).reshape(len(images), -1).numpy()
