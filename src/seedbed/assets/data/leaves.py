"""Painting crop leaves, a batch at a time: ground, leaf, disease, weather and camera, each a layer over the last.

Pictures are float32 arrays (batch, height, width, 3) in 0..1; every random draw comes from the generator given.
Coordinates run from -1 to 1 across the picture; a leaf has its own (`along` its midrib, `across` it).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Floats = NDArray[np.float32]
Rng = np.random.Generator

CLASSES = ("healthy", "rust", "mildew", "blight", "holes", "mosaic")


@dataclass(frozen=True)
class Leaf:
    """Where a batch's leaves are: every field is (batch, height, width)."""

    along: Floats  # -1 at the stalk, 1 at the tip
    across: Floats  # in units of the leaf's half length; 0 on the midrib
    edge: Floats  # distance to the margin in the same units; negative outside
    mask: Floats  # 1 on the leaf, 0 off it, smooth on the margin


def paint(labels: NDArray[np.int64], size: int, rng: Rng) -> NDArray[np.uint8]:
    """Pictures of leaves with these conditions (indices into CLASSES)."""
    count = len(labels)
    picture = _ground(count, size, rng)
    for _ in range(2):
        rows = np.flatnonzero(rng.random(count) < 0.35)
        behind = _leaf_shape(len(rows), size, rng, near=False)
        dim = _leaf_colour(behind, rng) * _uniform(rng, len(rows), 0.45, 0.8)[..., None]
        picture[rows] = _over(picture[rows], dim, behind.mask)
    leaf = _leaf_shape(count, size, rng, near=True)
    picture = _cast_shadow(picture, leaf, rng)
    colour, mask = _leaf_colour(leaf, rng), leaf.mask.copy()
    for index, name in enumerate(CLASSES):
        rows = np.flatnonzero(labels == index)
        if len(rows) and name in _DISEASES:
            part = Leaf(leaf.along[rows], leaf.across[rows], leaf.edge[rows], leaf.mask[rows])
            colour[rows], mask[rows] = _DISEASES[name](part, colour[rows], rng)
    colour = _blemishes(leaf, colour, rng)
    picture = _over(picture, colour, mask)
    picture = _occlude(picture, rng)
    return _camera(_light(picture, rng), rng)


# Random fields -------------------------------------------------------------------------------------------------


def _uniform(rng: Rng, count: int, low: float, high: float) -> Floats:
    return rng.uniform(low, high, (count, 1, 1)).astype(np.float32)


def _some(rng: Rng, count: int, share: float) -> Floats:
    return (rng.random((count, 1, 1)) < share).astype(np.float32)


@lru_cache(maxsize=64)
def _smoothing(cells: int, size: int) -> Floats:
    """The matrix that spreads `cells` random values smoothly over `size` pixels (Gaussian weights of unit variance)."""
    places = np.linspace(0, cells - 1, size, dtype=np.float32)[:, None]
    weights = np.exp(-(((places - np.arange(cells, dtype=np.float32)[None]) / 0.62) ** 2))
    return np.asarray(weights / np.sqrt((weights**2).sum(axis=1, keepdims=True)), dtype=np.float32)


def _noise(rng: Rng, count: int, size: int, cells: int, cells_across: int | None = None) -> Floats:
    """Smooth noise of mean 0 and deviation 1, with about `cells` bumps along each side."""
    wide = cells_across or cells
    grid = rng.standard_normal((count, cells, wide), dtype=np.float32)
    rows: Floats = _smoothing(cells, size) @ grid
    return (rows.reshape(-1, wide) @ _smoothing(wide, size).T).reshape(count, size, size)


def _grid(size: int) -> tuple[Floats, Floats]:
    axis = np.linspace(-1, 1, size, dtype=np.float32)
    return axis[None, None, :], axis[None, :, None]


def _step(value: NDArray[np.floating[Any]], width: float | Floats) -> Floats:
    """0 below 0, 1 above `width`, smooth between."""
    t = np.clip(value / width, 0, 1)
    return np.asarray(t * t * (3 - 2 * t), dtype=np.float32)


def _over(under: Floats, over: Floats, mask: Floats) -> Floats:
    return under + (over - under) * mask[..., None]


def _shaded(picture: Floats, shade: Floats) -> Floats:
    return np.asarray(picture * np.clip(shade, 0.25, 2)[..., None], dtype=np.float32)


def _tint(base: tuple[float, float, float], shade: Floats) -> Floats:
    return np.asarray(base, dtype=np.float32) * shade[..., None]


def _colours(rng: Rng, count: int, low: tuple[float, ...], high: tuple[float, ...]) -> Floats:
    """One colour per picture, between two."""
    mix = rng.random((count, 1), dtype=np.float32)
    jitter = rng.uniform(-0.03, 0.03, (count, 3)).astype(np.float32)
    colour = np.asarray(low, np.float32) * (1 - mix) + np.asarray(high, np.float32) * mix + jitter
    return np.asarray(np.clip(colour, 0, 1)[:, None, None, :], dtype=np.float32)


# Ground --------------------------------------------------------------------------------------------------------


def _ground(count: int, size: int, rng: Rng) -> Floats:
    kinds = (_soil, _grass, _straw, _bokeh)
    chosen = rng.integers(0, len(kinds), count)
    picture = np.empty((count, size, size, 3), np.float32)
    for kind, draw in enumerate(kinds):
        rows = np.flatnonzero(chosen == kind)
        if len(rows):
            picture[rows] = draw(len(rows), size, rng)
    return picture


def _soil(count: int, size: int, rng: Rng) -> Floats:
    lumps = (
        0.12 * _noise(rng, count, size, 6) + 0.10 * _noise(rng, count, size, 18) + 0.09 * _noise(rng, count, size, 48)
    )
    pebbles = _step(_noise(rng, count, size, 22) - 1.6, 0.3)
    colour = _colours(rng, count, (0.25, 0.17, 0.11), (0.52, 0.40, 0.29)) * (1 + lumps)[..., None]
    return _over(colour, _tint((0.55, 0.52, 0.48), 1 + lumps), pebbles)


def _grass(count: int, size: int, rng: Rng) -> Floats:
    blades = _streaks(rng, count, size, 70, 8)
    return _shaded(_colours(rng, count, (0.14, 0.30, 0.09), (0.34, 0.46, 0.16)), 1 + blades)


def _straw(count: int, size: int, rng: Rng) -> Floats:
    stalks = _streaks(rng, count, size, 52, 5)
    return _shaded(_colours(rng, count, (0.50, 0.41, 0.24), (0.72, 0.62, 0.42)), 0.9 + stalks)


def _bokeh(count: int, size: int, rng: Rng) -> Floats:
    blur = 0.25 * _noise(rng, count, size, 4) + 0.15 * _noise(rng, count, size, 8)
    return _shaded(_colours(rng, count, (0.08, 0.15, 0.08), (0.40, 0.48, 0.30)), 1 + blur)


def _streaks(rng: Rng, count: int, size: int, fine: int, coarse: int) -> Floats:
    """Noise drawn out in one direction per picture: blades, stalks."""
    texture = 0.22 * _noise(rng, count, 2 * size, coarse, 2 * fine) + 0.16 * _noise(rng, count, 2 * size, coarse, fine)
    x, y = _grid(size)
    angle = _uniform(rng, count, -np.pi, np.pi)
    across = (x + 0.12 * _noise(rng, count, size, 3)) * np.cos(angle) + y * np.sin(angle)
    along = y * np.cos(angle) - x * np.sin(angle)
    column, row = (
        np.clip((place * 0.33 + 0.5) * 2 * size, 0, 2 * size - 1).astype(np.int32) for place in (across, along)
    )
    return np.asarray(texture[np.arange(count)[:, None, None], row, column])


# Leaf ----------------------------------------------------------------------------------------------------------


def _leaf_shape(count: int, size: int, rng: Rng, *, near: bool) -> Leaf:
    """Leaves of many outlines, anywhere in the picture; near ones are large and close to the middle."""
    x, y = _grid(size)
    reach = 0.2 if near else 0.9
    x, y = x - _uniform(rng, count, -reach, reach), y - _uniform(rng, count, -reach, reach)
    angle = _uniform(rng, count, -np.pi, np.pi)
    length = _uniform(rng, count, 0.95, 1.35) if near else _uniform(rng, count, 0.4, 0.9)
    along = (x * np.cos(angle) + y * np.sin(angle)) / length
    across = (y * np.cos(angle) - x * np.sin(angle)) / length
    across = across - _uniform(rng, count, -0.25, 0.25) * (along**2 - 0.3)
    inner = np.clip(1 - along**2, 0, 1) ** _uniform(rng, count, 0.55, 1.2)
    profile = _uniform(rng, count, 0.42, 0.7) * inner * (1 - _uniform(rng, count, -0.1, 0.45) * along)
    teeth = np.sin(along * _uniform(rng, count, 12, 34) + np.sign(across) * _uniform(rng, count, 0, 3))
    profile = profile * (1 + _uniform(rng, count, 0, 0.12) * teeth) + 0.015 * _noise(rng, count, size, 9)
    edge = np.where(np.abs(along) < 1, profile - np.abs(across), -1).astype(np.float32)
    return Leaf(along.astype(np.float32), across.astype(np.float32), edge, _step(edge + 1 / size, 3 / size))


def _leaf_colour(leaf: Leaf, rng: Rng) -> Floats:
    count, size = leaf.mask.shape[:2]
    rib = np.exp(-((leaf.across / _uniform(rng, count, 0.012, 0.03)) ** 2))
    slope, pitch = _uniform(rng, count, 0.6, 1.6), _uniform(rng, count, 9, 20)
    wave = np.cos((leaf.along - slope * np.abs(leaf.across)) * pitch) ** 2
    veins = (wave * wave * wave) ** 2
    fold = np.clip(leaf.across * 10, -1, 1) * _uniform(rng, count, -0.14, 0.14)
    shade = 1 + 0.08 * _noise(rng, count, size, 5) + 0.05 * _noise(rng, count, size, 30) + fold
    shade = shade + _uniform(rng, count, -0.25, 0.25) * leaf.along - 0.16 * _step(0.08 - leaf.edge, 0.12)
    green = _colours(rng, count, (0.14, 0.33, 0.09), (0.38, 0.55, 0.18)) * shade[..., None]
    strength = np.clip(_uniform(rng, count, 0.2, 0.7) * rib + _uniform(rng, count, 0.05, 0.35) * veins, 0, 1)
    pale = _colours(rng, count, (0.45, 0.58, 0.25), (0.75, 0.78, 0.48))
    return _over(green, pale, strength)


# Diseases: (leaf, colour) -> (colour, mask) --------------------------------------------------------------------


def _spots(leaf: Leaf, rng: Rng, most: int, small: float, large: float) -> Floats:
    """How deep each pixel lies in the nearest of some round spots on the leaf: 1 at a centre, 0 on its rim."""
    count = leaf.mask.shape[0]
    wanted = rng.integers(max(3, most // 3), most + 1, count)
    depth = np.full(leaf.mask.shape, -9, np.float32)
    for number in range(most):
        along = rng.uniform(-0.85, 0.85, (count, 1, 1)).astype(np.float32)
        across = rng.uniform(-0.42, 0.42, (count, 1, 1)).astype(np.float32) * (1 - along**2)
        radius = _uniform(rng, count, small, large)
        stretch = _uniform(rng, count, 0.75, 1.3)
        away = np.sqrt(((leaf.along - along) * stretch) ** 2 + (leaf.across - across) ** 2)
        shown = np.less(number, wanted)[:, None, None]
        depth = np.where(shown, np.maximum(depth, 1 - away / radius), depth)
    return depth


def _rust(leaf: Leaf, colour: Floats, rng: Rng) -> tuple[Floats, Floats]:
    """Orange-brown pustules, each in a yellow halo."""
    count, size = leaf.mask.shape[:2]
    depth = _spots(leaf, rng, 26, 0.045, 0.095) + 0.1 * _noise(rng, count, size, 24)
    halo = _step(depth + _uniform(rng, count, 0.5, 1.1), 0.9) * _uniform(rng, count, 0.25, 0.6)
    colour = _over(colour, _colours(rng, count, (0.66, 0.62, 0.18), (0.80, 0.74, 0.30)), halo)
    core = _step(depth, 0.35) * _uniform(rng, count, 0.7, 1.0)
    return _over(colour, _colours(rng, count, (0.42, 0.17, 0.05), (0.72, 0.36, 0.10)), core), leaf.mask


def _mildew(leaf: Leaf, colour: Floats, rng: Rng) -> tuple[Floats, Floats]:
    """White powder in soft patches."""
    count, size = leaf.mask.shape[:2]
    patches = _noise(rng, count, size, 7) + 0.45 * _noise(rng, count, size, 20)
    powder = _step(patches - _uniform(rng, count, -0.5, 0.3), 0.9) * _uniform(rng, count, 0.6, 0.9)
    grain = np.clip(1 + 0.10 * _noise(rng, count, size, 48), 0, 1.3)
    white = _colours(rng, count, (0.70, 0.72, 0.68), (0.90, 0.91, 0.88)) * grain[..., None]
    return _over(colour, white, powder), leaf.mask


def _blight(leaf: Leaf, colour: Floats, rng: Rng) -> tuple[Floats, Floats]:
    """Brown dead tissue that eats in from the margin or the tip, behind a yellow front."""
    count, size = leaf.mask.shape[:2]
    ragged = 0.10 * _noise(rng, count, size, 6) + 0.04 * _noise(rng, count, size, 18)
    from_tip = leaf.along * _uniform(rng, count, 0.0, 0.6) - _uniform(rng, count, 0.05, 0.25)
    front = np.maximum(_uniform(rng, count, 0.08, 0.2) - leaf.edge, from_tip) + ragged
    colour = _over(
        colour, _colours(rng, count, (0.62, 0.58, 0.16), (0.78, 0.70, 0.30)), _step(front + 0.09, 0.12) * 0.75
    )
    dead = _colours(rng, count, (0.24, 0.15, 0.07), (0.52, 0.37, 0.20))
    dead = dead * np.clip(1 + 0.14 * _noise(rng, count, size, 26), 0.4, 1.5)[..., None]
    return _over(colour, dead, _step(front, 0.06)), leaf.mask


def _holes(leaf: Leaf, colour: Floats, rng: Rng) -> tuple[Floats, Floats]:
    """Holes with brown rims where insects fed; the ground shows through."""
    count, size = leaf.mask.shape[:2]
    depth = _spots(leaf, rng, 12, 0.07, 0.16) + 0.16 * _noise(rng, count, size, 14)
    rim = _step(depth + 0.35, 0.25) * _uniform(rng, count, 0.4, 0.9)
    colour = _over(colour, _colours(rng, count, (0.34, 0.26, 0.10), (0.58, 0.48, 0.24)), rim)
    return colour, leaf.mask * (1 - _step(depth, 0.12))


def _mosaic(leaf: Leaf, colour: Floats, rng: Rng) -> tuple[Floats, Floats]:
    """Patches of pale and dark green with sharp borders, as a virus leaves them."""
    count, size = leaf.mask.shape[:2]
    patches = _noise(rng, count, size, 13) + 0.5 * _noise(rng, count, size, 26)
    pale = _step(patches - _uniform(rng, count, -0.3, 0.5), 0.45) * _uniform(rng, count, 0.45, 0.85)
    colour = _over(colour, _colours(rng, count, (0.58, 0.66, 0.24), (0.80, 0.80, 0.42)), pale)
    return colour * (1 - 0.22 * _step(-patches - 0.4, 0.5))[..., None], leaf.mask


_DISEASES: dict[str, Callable[[Leaf, Floats, Rng], tuple[Floats, Floats]]] = {
    "rust": _rust,
    "mildew": _mildew,
    "blight": _blight,
    "holes": _holes,
    "mosaic": _mosaic,
}


# What every leaf meets -----------------------------------------------------------------------------------------


def _blemishes(leaf: Leaf, colour: Floats, rng: Rng) -> Floats:
    """Specks of soil, drops that glint and yellowing with age: seen on leaves of every class."""
    count, size = leaf.mask.shape[:2]
    specks = _step(_noise(rng, count, size, 30) - 2.4, 0.3) * _some(rng, count, 0.4)
    colour = _over(colour, _tint((0.30, 0.22, 0.14), np.ones_like(specks)), specks * 0.8)
    glints = _step(_noise(rng, count, size, 26) - 2.5, 0.4) * _some(rng, count, 0.35)
    colour = _over(colour, np.float32(0.95) * np.ones_like(colour), glints * 0.85)
    sheen = _step(_noise(rng, count, size, 3) - 0.9, 1.2) * _uniform(rng, count, 0, 0.3)
    colour = _over(colour, np.float32(0.85) * np.ones_like(colour), sheen)
    age = _step(leaf.along + _uniform(rng, count, -1.2, 0.1), 1.0) * _some(rng, count, 0.25) * 0.4
    return _over(colour, _tint((0.72, 0.66, 0.25), np.ones_like(age)), age)


def _cast_shadow(picture: Floats, leaf: Leaf, rng: Rng) -> Floats:
    """The leaf's shadow on the ground, to one side."""
    count, size = leaf.mask.shape[:2]
    shift = max(1, size // 24)
    away = (int(rng.integers(-shift, shift + 1)), shift)
    shadow = ndimage.uniform_filter(np.roll(leaf.mask, away, axis=(1, 2)), size=(1, shift + 1, shift + 1))
    return _shaded(picture, 1 - _uniform(rng, count, 0.2, 0.6) * shadow)


def _occlude(picture: Floats, rng: Rng) -> Floats:
    """A blade of grass or a stalk across some pictures."""
    count, size = picture.shape[:2]
    x, y = _grid(size)
    angle = _uniform(rng, count, -np.pi, np.pi)
    away = x * np.cos(angle) + y * np.sin(angle) - _uniform(rng, count, -0.9, 0.9)
    away = away + _uniform(rng, count, -0.3, 0.3) * (y * np.cos(angle) - x * np.sin(angle)) ** 2
    width = _uniform(rng, count, 0.02, 0.09)
    mask = _step(width - np.abs(away), 3 / size) * _some(rng, count, 0.3)
    shade = np.clip(1 - 0.5 * np.abs(away) / width, 0.3, 1)
    colour = _colours(rng, count, (0.22, 0.40, 0.12), (0.62, 0.58, 0.32)) * shade[..., None]
    return _over(picture, colour, mask)


def _light(picture: Floats, rng: Rng) -> Floats:
    """Sun or cloud, a slope of light over the picture, dappled shade, and the colour of the hour."""
    count, size = picture.shape[:2]
    x, y = _grid(size)
    slope = 1 + _uniform(rng, count, -0.3, 0.3) * x + _uniform(rng, count, -0.3, 0.3) * y
    dapple = 1 - _step(_noise(rng, count, size, 4), 0.5) * _some(rng, count, 0.3) * _uniform(rng, count, 0.2, 0.5)
    power = _uniform(rng, count, 0.55, 1.6) * slope * dapple
    warmth = _uniform(rng, count, -0.3, 0.3)
    cast = np.concatenate([1 + warmth, 1 + _uniform(rng, count, -0.05, 0.05), 1 - warmth], axis=2)
    lit = np.clip(picture * power[..., None] * cast[:, :, None, :], 0, 1)
    return np.asarray(lit ** _uniform(rng, count, 0.65, 1.5)[..., None], dtype=np.float32)


def _camera(picture: Floats, rng: Rng) -> NDArray[np.uint8]:
    """Focus, sensor noise, rounding."""
    count, size = picture.shape[:2]
    blur = np.where(rng.random(count) < 0.25, rng.uniform(0.5, 1.1, count), 0.0) * size / 96
    for row in np.flatnonzero(blur):
        picture[row] = ndimage.gaussian_filter(picture[row], (blur[row], blur[row], 0), truncate=2.5)
    grain = rng.standard_normal(picture.shape, dtype=np.float32) * _uniform(rng, count, 0.003, 0.025)[..., None]
    return np.asarray(np.clip((picture + grain) * 255, 0, 255), dtype=np.uint8)
