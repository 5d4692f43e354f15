"""What is known of a start before training (evidence) and what came of it (outcome): what a predictor learns from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seedbed.base.errors import InvalidInput

PATIENCE = 5  # epochs without a better accuracy after which training would have stopped; the paper's
WITHIN = 0.001  # accuracies that count as the same; the paper's 0.1 %
SURE = 2.0  # standard errors beyond which two accuracies differ


@dataclass(frozen=True)
class Evidence:
    """How a source's weights look for a target, against the baseline's, before any training."""

    target: str  # a data set
    source: str  # the weights, named as their card is
    ratio: float  # distance from the target to the source's data set over that to the baseline's
    scores: Mapping[str, float] = field(default_factory=dict)  # of the source's features less those of the baseline's
    source_images: int = 0  # 0: not known
    target_images: int = 0
    trained_on: str = ""  # the data set behind the source's weights; "": the source is named after it

    @property
    def data_sets(self) -> frozenset[str]:
        """The data sets that this speaks of."""
        return frozenset({self.target, self.trained_on or self.source})

    def __post_init__(self) -> None:
        problems = [] if _is_number(self.ratio, 0) else [f"ratio is {self.ratio}; it must be a number of 0 or more."]
        problems += [f"Score '{name}' is {value}." for name, value in self.scores.items() if not _is_number(value)]
        counts = {"source_images": self.source_images, "target_images": self.target_images}
        problems += [f"{name} is {count}; it must be 0 or more." for name, count in counts.items() if count < 0]
        if problems:
            raise InvalidInput(f"The evidence for {self.target} from {self.source} has no sense.", problems=problems)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        scores = dict(sorted(self.scores.items()))
        return {**vars(self), "scores": scores}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Evidence":
        """What `to_json` gave."""
        try:
            return cls(
                target=str(value["target"]),
                source=str(value["source"]),
                ratio=float(value["ratio"]),
                scores={str(name): float(score) for name, score in value.get("scores", {}).items()},
                source_images=int(value.get("source_images", 0)),
                target_images=int(value.get("target_images", 0)),
                trained_on=str(value.get("trained_on", "")),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(f"This is no evidence: {error!r}.") from error


@dataclass(frozen=True)
class Outcome:
    """What a source's weights brought: measured against the baseline's on the same target and architecture."""

    evidence: Evidence
    epoch_ratio: float  # epochs over the baseline's at the same accuracy (equation 3)
    gain_points: float = 0.0  # accuracy above the baseline's, in % points
    architecture: str = ""

    def __post_init__(self) -> None:
        if not _is_number(self.epoch_ratio, 0) or not self.epoch_ratio:
            raise InvalidInput(f"epoch_ratio is {self.epoch_ratio}; it must be a number above 0.")
        if not _is_number(self.gain_points):
            raise InvalidInput(f"gain_points is {self.gain_points}; it must be a finite number.")

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {**vars(self), "evidence": self.evidence.to_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Outcome":
        """What `to_json` gave."""
        try:
            return cls(
                evidence=Evidence.from_json(value["evidence"]),
                epoch_ratio=float(value["epoch_ratio"]),
                gain_points=float(value.get("gain_points", 0.0)),
                architecture=str(value.get("architecture", "")),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(f"This is no outcome: {error!r}.") from error


def differences(source: Mapping[str, float], baseline: Mapping[str, float]) -> dict[str, float]:
    """How much higher each score is with the source's features than with the baseline's; those that both have."""
    return {name: float(source[name] - baseline[name]) for name in sorted(source.keys() & baseline.keys())}


def matched_epochs(
    source: Sequence[float], baseline: Sequence[float], *, patience: int = PATIENCE, within: float = WITHIN
) -> tuple[int, int]:
    """The epochs that two curves of accuracy take to the same accuracy, counted from 1 (section IV-D of the paper).

    Each curve ends where training with this patience would have. Where the two peaks differ by more than `within`, the
    point of the source's curve nearest to the baseline's peak stands for its own peak.
    """
    mine, other = _until(source, patience), _until(baseline, patience)
    peak, aim = _peak(mine), _peak(other)
    if abs(mine[peak] - other[aim]) > within:
        peak = min(range(len(mine)), key=lambda epoch: abs(mine[epoch] - other[aim]))
    return peak + 1, aim + 1


def reached_epochs(source: Sequence[float], baseline: Sequence[float], *, judges: int) -> tuple[int, int]:
    """The epochs until each of two curves is not surely lower than the baseline's peak, counted from 1.

    Where curves are flat, which epoch is best is chance, so that best epochs say little; and a start that never gets as
    far is not quick because its own best comes early: all its epochs count. `judges` are the images that accuracies
    were measured on (0: unknown); to be right on a few is no certainty, hence the two hits and two misses more.
    """
    mine, other = _until(source, len(source)), _until(baseline, len(baseline))
    peak = max(other)
    likely = (peak * judges + 2) / (judges + 4)
    error = math.sqrt(likely * (1 - likely) / judges) if judges else 0.0
    aim = peak - max(WITHIN, SURE * error)
    first, second = (
        next((epoch for epoch, value in enumerate(curve, 1) if value >= aim), len(curve)) for curve in (mine, other)
    )
    return first, second


def _until(curve: Sequence[float], patience: int) -> Sequence[float]:
    """The part of a curve up to where it would have been stopped."""
    if not len(curve) or not all(math.isfinite(value) for value in curve):
        raise InvalidInput("A curve of accuracies needs at least one epoch, and finite numbers only.")
    best = 0
    for epoch, value in enumerate(curve):
        if value > curve[best]:
            best = epoch
        if epoch - best >= patience:
            return curve[: epoch + 1]
    return curve


def _peak(curve: Sequence[float]) -> int:
    return max(range(len(curve)), key=lambda epoch: curve[epoch])  # the first of equals


def _is_number(value: float, least: float = -math.inf) -> bool:
    return math.isfinite(value) and value >= least
