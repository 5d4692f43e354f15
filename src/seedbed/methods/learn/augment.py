"""Weak and strong augmentation of whole batches, on the device where they are.

Images are float NCHW in [0, 1]. Every operation is done to the whole batch with a strength per image, and strength 0
leaves an image as it is: no image waits for another, nothing is copied back to the host, and what becomes of an image
depends only on its key.
"""

import math
from collections.abc import Callable, Mapping
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from seedbed.methods.learn.draws import Key
from seedbed.methods.learn.pixels import per_channel
from seedbed.methods.learn.settings import Strength

_LUMINANCE = (0.299, 0.587, 0.114)
View = Literal["weak", "strong"]


def augment(images: Tensor, view: View, key: Key, strength: Strength, *, place: int = 0) -> Tensor:
    """One random view of each image; views of another `place` have draws of their own."""
    name = f"{view} {place}"
    if view == "weak":
        return _warp(images, key, name, shift=strength.shift, turn=strength.turn, zoom=strength.zoom, shear=0.0)
    warped = _warp(
        images, key, name, shift=strength.shift, turn=strength.turn, zoom=strength.strong_zoom, shear=strength.shear
    )
    return _cutout(_colour(warped, key, name, strength.operations), key, name, strength.cutout)


def _warp(images: Tensor, key: Key, view: str, *, shift: float, turn: float, zoom: float, shear: float) -> Tensor:
    """Flip, turn, zoom, shear and shift in one resampling; the border is mirrored."""
    draws = key.uniform(f"{view} warp", 6)
    spread = 2 * draws - 1
    angle = spread[:, 0] * math.radians(turn)
    scale = torch.exp(spread[:, 1] * math.log1p(zoom))
    flip = torch.where(draws[:, 2] < 0.5, -1.0, 1.0)
    cos, sin, slant = torch.cos(angle) * scale, torch.sin(angle) * scale, spread[:, 3] * shear
    top = torch.stack([cos * flip, slant * cos - sin, spread[:, 4] * 2 * shift], dim=1)
    bottom = torch.stack([sin * flip, slant * sin + cos, spread[:, 5] * 2 * shift], dim=1)
    grid = functional.affine_grid(torch.stack([top, bottom], dim=1), list(images.shape), align_corners=False)
    return functional.grid_sample(images, grid, mode="bilinear", padding_mode="reflection", align_corners=False)


def _colour(images: Tensor, key: Key, view: str, operations: int) -> Tensor:
    """Some of the colour operations per image, each with a strength of its own."""
    draws = key.uniform(f"{view} colour", 2 * len(OPERATIONS))
    chosen = draws[:, : len(OPERATIONS)].argsort(dim=1).argsort(dim=1) < operations
    strengths = draws[:, len(OPERATIONS) :] * chosen
    signs = torch.where(key.uniform(f"{view} sign", len(OPERATIONS)) < 0.5, -1.0, 1.0)
    for place, operation in enumerate(OPERATIONS.values()):
        images = operation(images, (strengths * signs)[:, place].view(-1, 1, 1, 1))
    return images


def _brightness(images: Tensor, strength: Tensor) -> Tensor:
    return (images * (1 + 0.7 * strength)).clamp(0, 1)


def _contrast(images: Tensor, strength: Tensor) -> Tensor:
    return _blend(images, _grey(images).mean(dim=(1, 2, 3), keepdim=True), strength)


def _saturation(images: Tensor, strength: Tensor) -> Tensor:
    return _blend(images, _grey(images), strength)


def _cast(images: Tensor, strength: Tensor) -> Tensor:
    """Warmer or colder light."""
    gain = torch.cat([1 + 0.25 * strength, torch.ones_like(strength), 1 - 0.25 * strength], dim=1)
    return (images * gain).clamp(0, 1)


def _gamma(images: Tensor, strength: Tensor) -> Tensor:
    return images.clamp_min(1e-4) ** torch.exp(0.7 * strength)


def _sharpness(images: Tensor, strength: Tensor) -> Tensor:
    """Blur for one sign, sharpen for the other."""
    soft = functional.avg_pool2d(functional.pad(images, (1, 1, 1, 1), mode="replicate"), 3, stride=1)
    return _blend(images, soft, strength)


def _solarise(images: Tensor, strength: Tensor) -> Tensor:
    """Invert what is brighter than a threshold."""
    return torch.where(images > 1 - 0.5 * strength.abs(), 1 - images, images)


def _posterise(images: Tensor, strength: Tensor) -> Tensor:
    """Fewer grey levels: 256 down to 8."""
    levels = torch.exp2(8 - 5 * strength.abs()).floor()
    return torch.where(strength == 0, images, (images * levels).floor().clamp_max(levels - 1) / (levels - 1))


def _blend(images: Tensor, other: Tensor, strength: Tensor) -> Tensor:
    """Towards the other image for a negative strength, away from it for a positive one."""
    return (images + (images - other) * 0.9 * strength).clamp(0, 1)


def _grey(images: Tensor) -> Tensor:
    return (images * per_channel(_LUMINANCE, images.device)).sum(dim=1, keepdim=True)


def _cutout(images: Tensor, key: Key, view: str, largest: float) -> Tensor:
    """Cover a square of random side and place with grey."""
    draws = key.uniform(f"{view} cutout", 3).view(-1, 3, 1, 1, 1)
    half = draws[:, 0] * largest / 2
    rows, columns = (
        (torch.arange(side, device=images.device, dtype=torch.float32) + 0.5) / side for side in images.shape[-2:]
    )
    covered = ((rows.view(1, 1, -1, 1) - draws[:, 1]).abs() < half) & (
        (columns.view(1, 1, 1, -1) - draws[:, 2]).abs() < half
    )
    return torch.where(covered, 0.5, images)


OPERATIONS: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "brightness": _brightness,
    "contrast": _contrast,
    "saturation": _saturation,
    "cast": _cast,
    "gamma": _gamma,
    "sharpness": _sharpness,
    "solarise": _solarise,
    "posterise": _posterise,
}
