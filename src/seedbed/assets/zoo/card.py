"""A card: what is known of one set of pretrained weights."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

UNKNOWN = "unknown"
FURTHEST = 100.0  # distances to ImageNet's: rankings do not tell apart what is so far or further
NO_BASELINE = (
    "No data set here stands for ImageNet, so no distance says whether its weights are as good. Bring in a sample of "
    "it (Tiny ImageNet will do) under a name with 'imagenet' in it, or name a data set in the setting baseline."
)


@dataclass(frozen=True)
class Preprocessing:
    """How pixels become a network's input: RGB, divided by 255, less the mean, divided by the deviation."""

    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    size: int = 224  # side in pixels that the weights were made for

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {"mean": list(self.mean), "std": list(self.std), "size": self.size}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Preprocessing":
        """What `to_json` gave."""
        mean, std = (tuple(float(part) for part in value[name]) for name in ("mean", "std"))
        return cls(mean=(mean[0], mean[1], mean[2]), std=(std[0], std[1], std[2]), size=int(value["size"]))


@dataclass(frozen=True)
class Card:
    """One set of weights that training can start from.

    `find` answers where the file lies on this machine, or None; `read` turns that file into a state dict of the timm
    network `architecture` with `classes` outputs, which must load strictly.
    """

    name: str
    architecture: str  # a timm name
    source: str
    trained_on: str
    classes: int
    parameters: int
    size: int  # of the file, in bytes
    preprocessing: Preprocessing
    find: Callable[[], Path | None]
    read: Callable[[Path], "dict[str, Tensor]"]
    accuracy: float | None = None  # on images that it had not seen, as its authors publish it
    licence: str = UNKNOWN
    install: str = ""  # the command that brings the weights here
    made_at: int | None = None  # side of the images that the network was made for, where its shape depends on that
    digest: str = ""  # sha256 of the file, where it is known

    @property
    def on_disk(self) -> bool:
        """Whether the weights lie on this machine."""
        return self.find() is not None

    def to_json(self) -> dict[str, Any]:
        """What a person or a page wants to know of it."""
        facts = {key: value for key, value in vars(self).items() if key not in ("find", "read", "preprocessing")}
        return {**facts, "preprocessing": asdict(self.preprocessing), "on_disk": self.on_disk}
