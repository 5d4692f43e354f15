"""How good predictions are, for people: accuracy, scores per class, confusions, calibration."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput


@dataclass(frozen=True)
class ClassScore:
    """One class: of what was called so, how much was right; of what is so, how much was found."""

    name: str
    precision: float
    recall: float
    f1: float
    count: int


@dataclass(frozen=True)
class Evaluation:
    """Scores on labelled images; `confusion[true][called]` counts images, `ece` is the expected calibration error."""

    accuracy: float
    precision: float  # macro: the mean over classes that have images
    recall: float
    f1: float
    ece: float
    count: int
    classes: tuple[ClassScore, ...]
    confusion: tuple[tuple[int, ...], ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    def metrics(self) -> dict[str, float]:
        """The single numbers, by name."""
        return {name: getattr(self, name) for name in ("accuracy", "precision", "recall", "f1", "ece")}


def evaluate(
    probabilities: NDArray[np.floating[Any]], truth: NDArray[np.integer[Any]], classes: Sequence[str]
) -> Evaluation:
    """Compare probabilities (images x classes) with the true class numbers."""
    _check(probabilities, truth, classes)
    called = probabilities.argmax(axis=1)
    confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(confusion, (truth, called), 1)
    scores = tuple(_score(name, confusion, number) for number, name in enumerate(classes))
    seen = [score for score in scores if score.count]
    return Evaluation(
        accuracy=float(np.trace(confusion) / len(truth)),
        precision=float(np.mean([score.precision for score in seen])),
        recall=float(np.mean([score.recall for score in seen])),
        f1=float(np.mean([score.f1 for score in seen])),
        ece=expected_calibration_error(probabilities.max(axis=1), called == truth),
        count=len(truth),
        classes=scores,
        confusion=tuple(tuple(int(cell) for cell in row) for row in confusion),
    )


def expected_calibration_error(
    confidence: NDArray[np.floating[Any]], correct: NDArray[np.bool_], *, bins: int = 15
) -> float:
    """Mean gap between confidence and accuracy over equal-width bins, weighted by the images in each."""
    place = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    count = np.bincount(place, minlength=bins)
    gap = np.bincount(place, weights=confidence - correct, minlength=bins)
    return float(np.abs(gap).sum() / max(count.sum(), 1))


def _score(name: str, confusion: NDArray[np.int64], number: int) -> ClassScore:
    right = int(confusion[number, number])
    called, true = int(confusion[:, number].sum()), int(confusion[number].sum())
    precision, recall = right / called if called else 0.0, right / true if true else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return ClassScore(name, precision, recall, f1, true)


def _check(probabilities: NDArray[Any], truth: NDArray[Any], classes: Sequence[str]) -> None:
    problems = []
    if probabilities.ndim != 2 or probabilities.shape[1] != len(classes):
        problems.append(f"probabilities has shape {probabilities.shape}; expected (images, {len(classes)}).")
    if truth.shape != probabilities.shape[:1]:
        problems.append(f"truth has shape {truth.shape}; expected {probabilities.shape[:1]}.")
    elif not len(truth):
        problems.append("there are no images to evaluate on.")
    elif truth.min() < 0 or truth.max() >= len(classes):
        problems.append(f"truth must lie in 0..{len(classes) - 1}; it spans {truth.min()}..{truth.max()}.")
    if problems:
        raise InvalidInput("The predictions cannot be evaluated.", problems=problems)
