"""Networks by short names, with defaults for small images. Adding one is adding a row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from seedbed.base.errors import InvalidInput

Stem = Literal["small", "usual"]
SMALL = ".small"  # what follows the name of a network whose stem was made for small images


@dataclass(frozen=True)
class Record:
    """A network of timm and how it is made for images of some size.

    `patches` lists (largest side in pixels, side of a patch), by rising side: the patches of the first row that reaches
    the image's side are taken. `small_below` is the side under which a ResNet that starts from scratch gets a stem for
    small images: a 3 x 3 convolution at full resolution and no pooling, as an image of 32 px is 8 px after the usual
    stem.
    """

    timm: str
    size: int  # side of the images that it is meant for, in pixels, where nothing else is known
    patches: tuple[tuple[int, int], ...] = ()
    small_below: int = 0
    millions: float = 0.0  # of weights, with a head for 1,000 classes

    def options(self, size: int | None) -> dict[str, Any]:
        """What timm is told besides the name, for images of that side."""
        side = size or self.size
        patch = next((patch for largest, patch in self.patches if side <= largest), None)
        if patch is None:
            return {}
        if side % patch:
            nearest = [side // patch * patch, (side // patch + 1) * patch]
            raise InvalidInput(
                f"Images of {side} px do not divide into patches of {patch} px.",
                hint=f"Use {nearest[0]} or {nearest[1]} px." if nearest[0] else f"Use {nearest[1]} px.",
            )
        return {"img_size": side, "patch_size": patch}


_ALL = 10**6
# HARVEST trains its tiny and small ViT at 32 px in patches of 2: 16 x 16 of them. Larger images keep about as many.
_FINE = ((48, 2), (80, 4), (160, 8), (_ALL, 16))
_COARSE = ((48, 4), (80, 8), (_ALL, 16))  # its base ViT: patches of 16 at 96 and at 224 px

BACKBONES: Mapping[str, Record] = {
    "vit_tiny": Record("vit_tiny_patch16_224", size=32, patches=_FINE, millions=5.7),
    "vit_small": Record("vit_small_patch16_224", size=32, patches=_FINE, millions=22.1),
    "vit_base": Record("vit_base_patch16_224", size=96, patches=_COARSE, millions=86.6),
    "resnet18": Record("resnet18", size=224, small_below=64, millions=11.7),
    "resnet50": Record("resnet50", size=224, small_below=64, millions=25.6),
    "efficientnetv2_s": Record("tf_efficientnetv2_s", size=300, millions=21.5),
    "mobilenetv3_l": Record("mobilenetv3_large_100", size=224, millions=5.5),
    "efficientnet_lite0": Record("tf_efficientnet_lite0", size=224, millions=4.7),
    "efficientnet_lite1": Record("tf_efficientnet_lite1", size=240, millions=5.4),
    "efficientnet_lite2": Record("tf_efficientnet_lite2", size=260, millions=6.1),
}


@dataclass(frozen=True)
class Plan:
    """How a network is made: what a model's file keeps of it is `architecture` and the size of its images."""

    architecture: str  # a short name, a short name with .small, or timm's
    timm: str
    options: Mapping[str, Any] = field(default_factory=dict)
    stem: Stem = "usual"


def plan_network(name: str, *, size: int | None, scratch: bool) -> Plan:
    """How the network of a short name or of timm's name is made for images of a size.

    Small stems are for networks that start from scratch: pretrained weights have the stem that they were trained with.
    A name that ends in .small has that stem at every size, so that a finished model is made again from its name alone.
    """
    if not is_backbone(name):
        return Plan(name, name)
    known = name.removesuffix(SMALL)
    record = BACKBONES[known]
    small = name != known or (scratch and size is not None and size < record.small_below)
    return Plan(f"{known}{SMALL}" if small else known, record.timm, record.options(size), "small" if small else "usual")


def network_of(name: str) -> str:
    """One name per network: timm's, where a short name stands for nothing but that.

    What follows the point in a name of timm says which weights, and not which network.
    """
    if not is_backbone(name):
        return name.partition(".")[0]
    record = BACKBONES.get(name)
    return record.timm if record and not record.patches else name


def is_backbone(name: str) -> bool:
    """Whether the table has that name, with or without a small stem."""
    record = BACKBONES.get(name.removesuffix(SMALL))
    return record is not None and (not name.endswith(SMALL) or record.small_below > 0)
