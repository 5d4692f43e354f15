"""Weak and strong augmentation of whole batches, on the device where they are.

Images are float NCHW in [0, 1]. Everything is done to the whole batch with a strength per image, and strength 0 leaves
an image as it is: no image waits for another, nothing is copied back to the host, and what becomes of an image depends
only on its key. Time goes into passes over the pixels, so there are few: flip, turn, zoom, shear and shift are one
resampling, and all operations on single tones (brightness, contrast, gamma and others) are worked out for the 256 tones
of each channel and then looked up.
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
_TONES = 256
View = Literal["weak", "strong"]


def augment(images: Tensor, view: View, key: Key, strength: Strength, *, place: int = 0) -> Tensor:
    """One random view of each image; views of another `place` have draws of their own."""
    name = f"{view} {place}"
    if view == "weak":
        return _warp(images, key, name, strength, zoom=strength.zoom, shear=0.0)
    warped = _warp(images, key, name, strength, zoom=strength.strong_zoom, shear=strength.shear)
    return _cutout(_colour(warped, key, name, strength.operations), key, name, strength.cutout)


def _warp(images: Tensor, key: Key, view: str, strength: Strength, *, zoom: float, shear: float) -> Tensor:
    """Flip, turn, zoom, shear and shift in one resampling; the border is mirrored."""
    draws = key.uniform(f"{view} warp", 6)
    spread, shift = 2 * draws - 1, strength.shift
    angle = spread[:, 0] * math.radians(float(strength.turn))
    scale = torch.exp(spread[:, 1] * math.log1p(zoom))
    flip = torch.where(draws[:, 2] < strength.flip, -1.0, 1.0)
    cos, sin, slant = torch.cos(angle) * scale, torch.sin(angle) * scale, spread[:, 3] * shear
    across = (cos * flip, slant * cos - sin, spread[:, 4] * 2 * shift)
    down = (sin * flip, slant * sin + cos, spread[:, 5] * 2 * shift)
    grid = _grid(torch.stack([*across, *down], dim=1).view(-1, 2, 3), images.shape[-2], images.shape[-1])
    return functional.grid_sample(images, grid, mode="bilinear", padding_mode="reflection", align_corners=False)


def _grid(weights: Tensor, height: int, width: int) -> Tensor:
    """Where each pixel of each image comes from, across and down: both weigh (column, row, 1), all in [-1, 1].

    torch's affine_grid does the same as a product of matrices, several times slower on a GPU.
    """
    columns, rows = (
        (2 * torch.arange(side, device=weights.device, dtype=weights.dtype) + 1) / side - 1 for side in (width, height)
    )
    by_column, by_row = weights[:, :, 0:1] * columns, weights[:, :, 1:2] * rows + weights[:, :, 2:3]
    return (by_row[:, :, :, None] + by_column[:, :, None]).permute(0, 2, 3, 1)


def _colour(images: Tensor, key: Key, view: str, operations: int) -> Tensor:
    """Some of the colour operations per image, each with a strength of its own."""
    names = [*SPREADING, *TONAL]
    draws = key.uniform(f"{view} colour", 2 * len(names))
    chosen = draws[:, : len(names)].argsort(dim=1).argsort(dim=1) < operations
    signs = torch.where(key.uniform(f"{view} sign", len(names)) < 0.5, -1.0, 1.0)
    strengths = dict(zip(names, (draws[:, len(names) :] * chosen * signs).unbind(dim=1), strict=True))
    for name, operation in SPREADING.items():
        images = operation(images, strengths[name].view(-1, 1, 1, 1))
    return _look_up(images, tones_of(images, {name: strengths[name] for name in TONAL}))


def tones_of(images: Tensor, strengths: Mapping[str, Tensor]) -> Tensor:
    """What becomes of each of 256 tones, per image and channel."""
    tones = torch.arange(_TONES, device=images.device, dtype=images.dtype).div_(_TONES - 1)
    tones = tones.expand(len(images), 3, _TONES)
    middle = _grey(images).mean(dim=(2, 3))[:, :, None]
    for name, strength in strengths.items():
        tones = TONAL[name](tones, strength.view(-1, 1, 1), middle).clamp(0, 1)
    return tones


def _look_up(images: Tensor, tones: Tensor) -> Tensor:
    places = (images * (_TONES - 1)).round_().clamp_(0, _TONES - 1).to(torch.int64)
    return torch.gather(tones, 2, places.flatten(2)).view_as(images)


def _saturation(images: Tensor, strength: Tensor) -> Tensor:
    return torch.lerp(_grey(images).expand_as(images), images, 1 + 0.9 * strength).clamp_(0, 1)


def _sharpness(images: Tensor, strength: Tensor) -> Tensor:
    """Blur for one sign, sharpen for the other."""
    soft = functional.avg_pool2d(images, 3, stride=1, padding=1, count_include_pad=False)
    return torch.lerp(soft, images, 1 + 0.9 * strength).clamp_(0, 1)


def _brightness(tones: Tensor, strength: Tensor, middle: Tensor) -> Tensor:
    return tones * (1 + 0.7 * strength)


def _contrast(tones: Tensor, strength: Tensor, middle: Tensor) -> Tensor:
    return tones + (tones - middle) * 0.9 * strength


def _cast(tones: Tensor, strength: Tensor, middle: Tensor) -> Tensor:
    """Warmer or colder light."""
    return tones * torch.cat([1 + 0.25 * strength, torch.ones_like(strength), 1 - 0.25 * strength], dim=1)


def _gamma(tones: Tensor, strength: Tensor, middle: Tensor) -> Tensor:
    return tones.clamp_min(1e-4) ** torch.exp(0.7 * strength)


def _solarise(tones: Tensor, strength: Tensor, middle: Tensor) -> Tensor:
    """Invert what is brighter than a threshold."""
    return torch.where(tones > 1 - 0.5 * strength.abs(), 1 - tones, tones)


def _posterise(tones: Tensor, strength: Tensor, middle: Tensor) -> Tensor:
    """Fewer levels: 256 down to 8."""
    levels = torch.exp2(8 - 5 * strength.abs()).floor()
    return torch.where(strength == 0, tones, (tones * levels).floor().minimum(levels - 1) / (levels - 1))


def _grey(images: Tensor) -> Tensor:
    return functional.conv2d(images, per_channel(_LUMINANCE, images.device))


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


# Operations that look at more than one tone, and those on a tone alone, which are given the image's mean grey too.
SPREADING: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {"saturation": _saturation, "sharpness": _sharpness}
TONAL: Mapping[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "brightness": _brightness,
    "contrast": _contrast,
    "cast": _cast,
    "gamma": _gamma,
    "solarise": _solarise,
    "posterise": _posterise,
}
