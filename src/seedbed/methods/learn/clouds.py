"""A network that knows only good parts: how far an image lies from the cloud of their features.

Good images' pooled features, of some stages of a pretrained network, are taken as normally distributed; an image is as
odd as its Mahalanobis distances say (Rippel et al., 2021: "Modeling the distribution of normal data in pre-trained deep
features for anomaly detection").
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from seedbed.assets.zoo.builder import empty_network
from seedbed.methods.learn.start import features_of

KIND = "clouds"


class Cloud(nn.Module):
    """The distribution of one stage's features; the whitening turns its distances into Mahalanobis's."""

    mean: Tensor
    whitening: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("whitening", torch.eye(channels))

    def forward(self, features: Tensor) -> Tensor:
        """How far each row lies from the mean, in deviations."""
        return ((features - self.mean) @ self.whitening).square().sum(dim=1).sqrt()


class Clouds(nn.Module):
    """Images to two logits, good and anomalous: alike where the distance is the threshold.

    The constructor stores; `one_class` fits the clouds, the threshold and the softness, which is the distance beyond
    the threshold at which the odds of an anomaly are e to 1.
    """

    threshold: Tensor
    softness: Tensor

    def __init__(self, backbone: nn.Module, stages: Sequence[int], channels: Sequence[int]) -> None:
        super().__init__()
        self.backbone = backbone
        self.stages = tuple(stages)
        self.clouds = nn.ModuleList(Cloud(count) for count in channels)
        self.register_buffer("threshold", torch.ones(()))
        self.register_buffer("softness", torch.ones(()))

    def facts(self) -> dict[str, Any]:
        """What `empty_clouds` needs to build it again."""
        channels = [cloud.get_buffer("mean").shape[0] for cloud in self.clouds]
        return {"kind": KIND, "stages": list(self.stages), "channels": channels}

    def forward(self, images: Tensor) -> Tensor:
        """Two logits: their difference is 0 at the threshold, and rises with the distance."""
        beyond = (self.distance(images) - self.threshold) / self.softness
        return torch.stack([-beyond / 2, beyond / 2], dim=1)

    def distance(self, images: Tensor) -> Tensor:
        """How far images are from the good ones: the sum over the stages."""
        parts = [cloud(part) for cloud, part in zip(self.clouds, self.features(images), strict=True)]
        return torch.stack(parts).sum(dim=0)

    def features(self, images: Tensor) -> list[Tensor]:
        """Per stage, the mean over the image of each channel."""
        return _features_at(self.backbone, self.stages, images)


def telling_stages(backbone: nn.Module, *, size: int) -> tuple[list[int], list[int]]:
    """Numbers and channels of the stages whose features tell most: the last two; of a ViT, two thirds up and last.

    Of a network that gives no features but its last, no number and the channels that its head sees.
    """
    stages = _last_stages(backbone) if hasattr(backbone, "forward_intermediates") else []
    with torch.no_grad():
        found = _features_at(backbone.eval(), stages, torch.zeros(1, 3, size, size))
    return stages, [part.shape[1] for part in found]


def _last_stages(backbone: nn.Module) -> list[int]:
    stages: list[Mapping[str, Any]] = list(backbone.feature_info)  # type: ignore[arg-type]
    flat = len({stage["reduction"] for stage in stages}) == 1
    return [2 * len(stages) // 3 if flat else max(len(stages) - 2, 0), len(stages) - 1]


def _features_at(backbone: Any, stages: Sequence[int], images: Tensor) -> list[Tensor]:
    if not stages:
        return [features_of(backbone, images).float()]
    maps = backbone.forward_intermediates(images, indices=list(stages), intermediates_only=True)
    return [part.float().mean(dim=(2, 3)) for part in maps]


def empty_clouds(architecture: str, head: Mapping[str, Any], *, size: int) -> Clouds:
    """The network of these facts, to load its weights into."""
    return Clouds(empty_network(architecture, 0, size=size), head["stages"], head["channels"])
