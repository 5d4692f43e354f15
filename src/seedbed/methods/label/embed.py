"""What a network sees of each image: a row of numbers, and images that look alike get rows that lie close."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seedbed.assets.zoo.card import Card
from seedbed.methods.label.weights import headless
from seedbed.methods.learn.asking import AT_ONCE, ask
from seedbed.methods.learn.devices import choose_device, half_precision
from seedbed.methods.learn.folding import bake_norms
from seedbed.methods.learn.pixels import Images, check_images, normalise, to_float
from seedbed.methods.learn.predict import Progress
from seedbed.methods.learn.shortage import says_when_short

CARD, SIZE = "efficientnet_lite0.imagenet", 96
_AT_ONCE_ON_CPU = 16  # images: what a layer makes of more no longer fits in a core's cache

Embeddings = NDArray[np.float32]


def embed(
    images: Images,
    *,
    card: Card | str = CARD,
    size: int = SIZE,
    weights: Path | None = None,
    device: str = "auto",
    on_progress: Progress | None = None,
) -> Embeddings:
    """A row of length 1 for every image: what the network of a card sees of it at `size` pixels.

    `images` is (number, height, width, 3) of uint8, of any size, and may be memory-mapped: it is read batch by batch.
    `weights` is a file that `tune` wrote, instead of the card's own weights. A row depends on its image alone (up to
    rounding), so rows of images that come later lie in the same space. `on_progress` is told (images done, in all).
    """
    check_images(images)
    place = choose_device(device)
    what = f"{min(AT_ONCE, len(images))} images of {size} px"
    with says_when_short(place, what, "Use smaller images."), torch.inference_mode():
        eye = Eye(card, size, weights, place)
        found = np.empty((len(images), eye.width), dtype=np.float32)
        for start in range(0, len(images), AT_ONCE):
            found[start : start + AT_ONCE] = eye(images[start : start + AT_ONCE])
            if on_progress:
                on_progress(min(start + AT_ONCE, len(images)), len(images))
    return found


class Eye:
    """A network that only looks: it has no head, and its norms are part of its weights."""

    def __init__(self, card: Card | str, size: int, weights: Path | None, device: torch.device) -> None:
        backbone = headless(card, size, weights)
        self._network = backbone.network.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        bake_norms(self._network, size)
        self._preprocessing = backbone.preprocessing
        self._size, self._device = size, device
        self._half = half_precision("auto", device)
        self.width = int(self._network.head_hidden_size)

    def __call__(self, images: Images) -> Embeddings:
        """A row of length 1 for each of a few images."""
        pixels = normalise(to_float(images, self._size, self._device), self._preprocessing)
        at_once = _AT_ONCE_ON_CPU if self._device.type == "cpu" else AT_ONCE
        rows = ask(self._look, pixels.contiguous(memory_format=torch.channels_last), at_once=at_once)
        unit: Embeddings = (rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-12)).cpu().numpy()
        return unit

    def _look(self, pixels: Tensor) -> Tensor:
        with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=self._half):
            seen: Tensor = self._network(pixels)
        return seen.float()
