"""Everything that can be set for a training run, with the defaults in one place."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from seedbed.base.errors import InvalidInput


@dataclass(frozen=True)
class Strength:
    """How far augmentation goes."""

    shift: float = 0.125  # weak: share of the side
    turn: float = 180.0  # both, in degrees: leaves, insects and cells have no upright
    zoom: float = 0.1  # weak: relative
    operations: int = 3  # strong: how many of the colour operations an image gets
    strong_zoom: float = 0.3
    shear: float = 0.3
    cutout: float = 0.4  # strong: largest side of the square that is covered, as a share


@dataclass(frozen=True)
class TrainSettings:
    """How to train. The defaults suit a few labels per class on a CPU in about two minutes."""

    classes: tuple[str, ...] = ()  # names, in the order of the labels' numbers
    start: str = "efficientnet_lite0.imagenet"  # a card's name or a timm name
    weights: Literal["pretrained", "none"] = "pretrained"
    algorithm: str = "steady"
    options: Mapping[str, float] = field(default_factory=dict)  # of the algorithm
    size: int = 64  # side of the images in pixels
    steps: int = 240
    labelled_batch: int = 16
    unlabelled_batch: int = 48
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    clip: float = 1.0  # largest norm of a gradient
    batch_norm: Literal["auto", "frozen", "learn"] = "auto"  # its statistics; auto: learn only from scratch
    head_start: float = 10.0  # regularisation of the logistic regression that the head begins as; 0: begins at random
    augment: Strength = field(default_factory=Strength)
    warmup: float = 0.1  # share of the steps
    ema: float = 0.98
    held_out: float = 0.2  # share of the labels kept for evaluation, where a class has `few` or more
    few: int = 10  # labels of the poorest class under which none are held out
    evaluate_every: int = 30
    patience: int = 4  # evaluations without a better one before stopping early; 0: never
    report_every: int = 5
    checkpoint_every: int = 30
    device: str = "auto"

    @property
    def statistics(self) -> str:
        """What is done with BatchNorm's statistics: frozen or learn."""
        if self.batch_norm == "auto":
            return "frozen" if self.weights == "pretrained" else "learn"
        return self.batch_norm

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "options": dict(self.options), "classes": list(self.classes)}

    def check(self) -> None:
        """Refuse what cannot work, all at once."""
        problems = [
            f"{name} is {getattr(self, name)}; it must be at least 1." for name in _COUNTS if getattr(self, name) < 1
        ]
        problems += [
            f"{name} is {getattr(self, name)}; it must lie in [0, 1)."
            for name in _SHARES
            if not 0 <= getattr(self, name) < 1
        ]
        if len(self.classes) < 2:
            problems.append(f"classes names {len(self.classes)}; there must be at least 2.")
        if len(set(self.classes)) != len(self.classes):
            problems.append("classes names one class twice.")
        if not self.learning_rate > 0:
            problems.append(f"learning_rate is {self.learning_rate}; it must be above 0.")
        if problems:
            raise InvalidInput("The training settings cannot be used.", problems=problems)


_COUNTS = ("size", "steps", "labelled_batch", "unlabelled_batch", "evaluate_every", "report_every", "checkpoint_every")
_SHARES = ("warmup", "ema", "held_out")
