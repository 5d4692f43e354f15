"""A network that knows only good parts: how far an image's patches are from the nearest that it knows.

The idea is PatchCore's (Roth et al., 2022): features of a pretrained network's middle stages, a bank of those that
good images have, thinned to a core that still covers them; an image is as odd as its oddest patch.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from seedbed.assets.zoo.builder import empty_network

KIND = "nearest"
_FINEST = 32  # patches along a side at most
_AT_ONCE = 512  # rows of the bank that are compared at once, which bounds the memory


class Nearest(nn.Module):
    """Images to two logits, good and anomalous: alike where the distance is the threshold.

    `bank` holds features of known-good patches, divided by `scale` per channel. The constructor stores; `learn_scale`,
    `fill` and `settle` make it ready.
    """

    scale: Tensor
    bank: Tensor
    threshold: Tensor
    softness: Tensor

    def __init__(self, backbone: nn.Module, stages: Sequence[int], side: int, channels: int, rows: int) -> None:
        super().__init__()
        self.backbone = backbone
        self.stages, self.side = tuple(stages), side
        self.register_buffer("scale", torch.ones(channels))
        self.register_buffer("bank", torch.zeros(rows, channels))
        self.register_buffer("threshold", torch.ones(()))
        self.register_buffer("softness", torch.ones(()))

    def facts(self) -> dict[str, Any]:
        """What `empty_nearest` needs to build it again."""
        rows, channels = self.bank.shape
        return {"kind": KIND, "stages": list(self.stages), "side": self.side, "channels": channels, "rows": rows}

    def forward(self, images: Tensor) -> Tensor:
        """Two logits: their difference is 0 at the threshold, and rises with the distance."""
        beyond = (self.score(images) - self.threshold) / self.softness
        return torch.stack([-beyond / 2, beyond / 2], dim=1)

    def score(self, images: Tensor) -> Tensor:
        """The distance of each image: that of its patch that is farthest from all good ones."""
        return distances(self.patches(images), self.bank).amax(dim=1)

    def patches(self, images: Tensor) -> Tensor:
        """Features (images, patches, channels), each averaged with its neighbours', on one common scale."""
        maps = self.backbone.forward_intermediates(  # type: ignore[operator]
            images, indices=list(self.stages), intermediates_only=True, stop_early=True
        )
        smooth = [functional.avg_pool2d(part.float(), 3, 1, 1, count_include_pad=False) for part in maps]
        size = (self.side, self.side)
        level = [functional.interpolate(part, size, mode="bilinear", align_corners=False) for part in smooth]
        return torch.cat(level, dim=1).flatten(2).transpose(1, 2) / self.scale


def distances(patches: Tensor, bank: Tensor) -> Tensor:
    """Of each patch (images, patches, channels) to the nearest row of the bank."""
    own = patches.square().sum(dim=2, keepdim=True)
    nearest = None
    for start in range(0, len(bank), _AT_ONCE):
        rows = bank[start : start + _AT_ONCE]
        squared = (own + rows.square().sum(dim=1) - 2 * patches @ rows.T).amin(dim=2)
        nearest = squared if nearest is None else torch.minimum(nearest, squared)
    if nearest is None:
        raise ValueError("the bank is empty")
    return nearest.clamp_min(0).sqrt()


def core(rows: Tensor, count: int) -> Tensor:
    """The numbers of `count` rows that cover the others well: each next one is the farthest from those taken."""
    taken = [int((rows - rows.mean(dim=0)).square().sum(dim=1).argmin())]
    far = (rows - rows[taken[0]]).square().sum(dim=1)
    while len(taken) < min(count, len(rows)):
        taken.append(int(far.argmax()))
        far = torch.minimum(far, (rows - rows[taken[-1]]).square().sum(dim=1))
    return torch.tensor(taken)


def middle_stages(backbone: nn.Module, size: int) -> tuple[list[int], int]:
    """Stages whose features tell parts of things apart, and the patches along a side that they give.

    Networks that shrink the image by stages: the two finest that give at most 32 patches along a side. Networks that
    keep one grid (ViT): the blocks at one and two thirds of the depth.
    """
    shrink = [int(part["reduction"]) for part in backbone.feature_info]  # type: ignore[union-attr]
    if len(set(shrink)) == 1:
        depth = len(shrink)
        return [depth // 3, 2 * depth // 3], -(-size // shrink[0])
    fitting = [number for number, by in enumerate(shrink) if by >= 4 and -(-size // by) <= _FINEST]
    stages = fitting[:2] or [len(shrink) - 1]
    return stages, -(-size // shrink[stages[0]])


def empty_nearest(architecture: str, head: Mapping[str, Any], *, size: int) -> Nearest:
    """The network of these facts, to load its weights into."""
    backbone = empty_network(architecture, 0, size=size)
    return Nearest(backbone, head["stages"], head["side"], head["channels"], head["rows"])
