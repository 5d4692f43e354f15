"""What is learnt from without labels: embeddings that stay as they are, or images through a network that learns."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn

from seedbed.methods.label.neighbours import Rows
from seedbed.methods.label.weights import headless
from seedbed.methods.learn.asking import ask
from seedbed.methods.learn.augment import View, augment
from seedbed.methods.learn.devices import half_precision
from seedbed.methods.learn.draws import Key, order
from seedbed.methods.learn.folding import fold_norms, unfold_norms
from seedbed.methods.learn.learner import set_mode
from seedbed.methods.learn.pixels import Images, check_images
from seedbed.methods.learn.pool import Pool, to_device
from seedbed.methods.learn.seen import network_input
from seedbed.methods.learn.settings import Strength
from seedbed.methods.learn.upright import SAMPLE, largest_turn, told_turns

_DROPPED = 0.2  # share of an embedding's numbers that its strong view lacks


class Views(Protocol):
    """Features of images by their numbers, in several views; what happens to an image depends only on its key.

    `facts` holds what a view found out once about all images: it is filled before the first step and kept with it.
    """

    @property
    def width(self) -> int:
        """How many features an image has."""
        ...

    def modules(self) -> Mapping[str, nn.Module]:
        """What learns."""
        ...

    def prepare(self, facts: dict[str, float], seed: int) -> None:
        """Find out what is not yet among the facts."""
        ...

    def seen(self, numbers: Tensor, view: View, key: Key, *, place: int = 0) -> Tensor:
        """Features of one random view of each image; `numbers` lies on the CPU."""
        ...

    def plain(self, numbers: Tensor) -> Tensor:
        """Features of the images as they are, without gradients."""
        ...


class EmbeddingViews:
    """Embeddings as they are; a strong view lacks some of their numbers."""

    def __init__(self, rows: Rows, device: torch.device) -> None:
        table = torch.from_numpy(rows).to(device)
        self._table: Tensor = table * math.sqrt(table.shape[1])  # numbers around 1, as a linear head expects

    @property
    def width(self) -> int:
        return self._table.shape[1]

    def modules(self) -> Mapping[str, nn.Module]:
        return {}

    def prepare(self, facts: dict[str, float], seed: int) -> None:
        """There is nothing to find out."""

    def seen(self, numbers: Tensor, view: View, key: Key, *, place: int = 0) -> Tensor:
        features = self.plain(numbers)
        if view == "weak":
            return features
        kept = key.uniform(f"dropped {place}", self.width) >= _DROPPED
        return features * kept / (1 - _DROPPED)

    def plain(self, numbers: Tensor) -> Tensor:
        return self._table[to_device(numbers, self._table.device)]


class NetworkViews:
    """Images, augmented, through the network of a card whose weights learn; the statistics of its norms do not."""

    def __init__(
        self,
        images: Images,
        *,
        card: str,
        size: int,
        strength: Strength,
        device: torch.device,
        weights: Path | None = None,
    ) -> None:
        check_images(images)
        self.backbone = headless(card, size, weights)
        self._network = self.backbone.network.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._network.requires_grad_(True)
        set_mode(self._network, learn_statistics=False)
        fold_norms(self._network, size)
        self._pool = Pool(images, size, device)
        self._strength, self._device = strength, device
        self._half = half_precision("auto", device)

    @property
    def width(self) -> int:
        return int(self._network.head_hidden_size)

    def modules(self) -> Mapping[str, nn.Module]:
        return {"network": self._network}

    def prepare(self, facts: dict[str, float], seed: int) -> None:
        """How far images may be turned, asked of the network as it is before it learns."""
        self._pool.settle()
        if self._strength.turn != "auto":
            facts["turn"] = float(self._strength.turn)
        if "turn" not in facts:
            sample = order(seed, 0, len(self._pool), "upright")[:SAMPLE]
            facts["turn"] = largest_turn(told_turns(self._pool.take(sample), self._asked))
        self._strength = replace(self._strength, turn=facts["turn"])

    def seen(self, numbers: Tensor, view: View, key: Key, *, place: int = 0) -> Tensor:
        pixels = self._pool.take(numbers).to(torch.float32) / 255
        return self._look(augment(pixels, view, key, self._strength, place=place))

    def plain(self, numbers: Tensor) -> Tensor:
        parts = [self._asked(self._pool.take(part)) for part in torch.split(numbers, 1024)]
        return torch.cat(parts)

    def finish(self) -> None:
        """Bring the network back to what its state dict says."""
        unfold_norms(self._network)

    def _asked(self, pixels: Tensor) -> Tensor:
        with torch.no_grad():
            return ask(lambda part: self._look(part.to(torch.float32) / 255), pixels)

    def _look(self, images: Tensor) -> Tensor:
        ready = network_input(images, self.backbone.preprocessing)
        with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=self._half):
            features: Tensor = self._network(ready)
        return features.float()
