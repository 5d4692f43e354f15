"""How good predictions are, for people: accuracy, scores per class, confusions, calibration, mistakes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.calibrate import tempered
from seedbed.methods.learn.ordered import expected_values

_BINS = 15
_MISTAKES = 24
_SAME = 0.01  # by which the probability of a class differs between images at most, where all get one answer
_NUMBERS = (
    *("accuracy", "precision", "recall", "f1", "ece", "ece_before", "mean_absolute_error", "expected_absolute_error"),
    *("roc_auc", "average_precision"),
)


@dataclass(frozen=True)
class ClassScore:
    """One class: of what was called so, how much was right; of what is so, how much was found."""

    name: str
    precision: float
    recall: float
    f1: float
    count: int


@dataclass(frozen=True)
class Bin:
    """The images whose confidence lies between `low` and `high`: how sure the model is of them, how often right."""

    low: float
    high: float
    confidence: float
    accuracy: float
    count: int


@dataclass(frozen=True)
class Mistake:
    """An image that was called something else than it is; `row` is its place among the images that were judged."""

    row: int
    true: str
    called: str
    confidence: float


@dataclass(frozen=True)
class Evaluation:
    """Scores on labelled images; `confusion[true][called]` counts images.

    `ece` is the expected calibration error, `reliability` its bins; those of the model before its temperature are there
    where one was fitted. `mean_absolute_error` (of the class that is called) and `expected_absolute_error` (of the mean
    over all classes, by probability) are in the unit of ordered classes' values. `roc_auc` and `average_precision`
    rank the images of two classes by the probability of the second. `mistakes` are the surest ones. `notes` say whether
    it has learnt nothing, and what could not be measured, and why.
    """

    accuracy: float
    precision: float  # macro: the mean over classes that have images
    recall: float
    f1: float
    ece: float
    count: int
    classes: tuple[ClassScore, ...]
    confusion: tuple[tuple[int, ...], ...]
    reliability: tuple[Bin, ...]
    mistakes: tuple[Mistake, ...]
    ece_before: float | None = None
    reliability_before: tuple[Bin, ...] = ()
    mean_absolute_error: float | None = None
    expected_absolute_error: float | None = None
    roc_auc: float | None = None
    average_precision: float | None = None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON values; what was not measured is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def metrics(self) -> dict[str, float]:
        """The single numbers, by name."""
        return {name: value for name in _NUMBERS if (value := getattr(self, name)) is not None}


def evaluate(
    probabilities: NDArray[np.floating[Any]],
    truth: NDArray[np.integer[Any]],
    classes: Sequence[str],
    *,
    values: Sequence[float] = (),
    temperature: float | None = None,
) -> Evaluation:
    """Compare probabilities (images x classes) with the true class numbers.

    `values` are the numbers that ordered classes stand for. `temperature` is what the probabilities' logits were
    divided by, None where none was fitted; nothing here is fitted on the truth.
    """
    _check(probabilities, truth, classes)
    before = None if temperature is None else tempered(probabilities, 1 / temperature)
    called = probabilities.argmax(axis=1)
    confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(confusion, (truth, called), 1)
    scores = tuple(_score(name, confusion, number) for number, name in enumerate(classes))
    seen = [score for score in scores if score.count]
    two = ranking(probabilities, truth) if len(classes) == 2 else None
    return Evaluation(
        accuracy=float(np.trace(confusion) / len(truth)),
        precision=float(np.mean([score.precision for score in seen])),
        recall=float(np.mean([score.recall for score in seen])),
        f1=float(np.mean([score.f1 for score in seen])),
        ece=_ece(probabilities, truth),
        count=len(truth),
        classes=scores,
        confusion=tuple(tuple(int(cell) for cell in row) for row in confusion),
        reliability=_reliability(probabilities, truth),
        mistakes=mistakes(probabilities, truth, classes),
        ece_before=None if before is None else _ece(before, truth),
        reliability_before=() if before is None else _reliability(before, truth),
        **(ordered_errors(probabilities, truth, values) if values else {}),
        **(two or {}),
        notes=tuple(
            [*_sameness(probabilities, truth), *_notes(classes, temperature, ranked=len(classes) != 2 or bool(two))]
        ),
    )


def ordered_errors(
    probabilities: NDArray[np.floating[Any]], truth: NDArray[np.integer[Any]], values: Sequence[float]
) -> dict[str, float]:
    """How far off answers on ordered classes are, in the unit of their values."""
    number = np.asarray(values, np.float64)
    called, expected, true = number[probabilities.argmax(axis=1)], expected_values(probabilities, values), number[truth]
    return {
        "mean_absolute_error": float(np.abs(called - true).mean()),
        "expected_absolute_error": float(np.abs(expected - true).mean()),
    }


def ranking(probabilities: NDArray[np.floating[Any]], truth: NDArray[np.integer[Any]]) -> dict[str, float] | None:
    """How well the second of two classes is ranked before the first; None where the truth has one of them only."""
    if len(np.unique(truth)) < 2:
        return None
    return {
        "roc_auc": float(roc_auc_score(truth, probabilities[:, 1])),
        "average_precision": float(average_precision_score(truth, probabilities[:, 1])),
    }


def mistakes(
    probabilities: NDArray[np.floating[Any]],
    truth: NDArray[np.integer[Any]],
    classes: Sequence[str],
    *,
    most: int = _MISTAKES,
) -> tuple[Mistake, ...]:
    """The wrong answers that the model is surest of, the surest first."""
    called, confidence = probabilities.argmax(axis=1), probabilities.max(axis=1)
    wrong = np.flatnonzero(called != truth)
    surest = wrong[np.argsort(-confidence[wrong], kind="stable")][:most]
    return tuple(Mistake(int(row), classes[truth[row]], classes[called[row]], float(confidence[row])) for row in surest)


def reliability(
    confidence: NDArray[np.floating[Any]], correct: NDArray[np.bool_], *, bins: int = _BINS
) -> tuple[Bin, ...]:
    """Bins of equal width that have images, from the least sure to the surest."""
    place = _places(confidence, bins)
    return tuple(
        Bin(
            low=number / bins,
            high=(number + 1) / bins,
            confidence=float(confidence[place == number].mean()),
            accuracy=float(correct[place == number].mean()),
            count=int((place == number).sum()),
        )
        for number in np.unique(place).tolist()
    )


def expected_calibration_error(
    confidence: NDArray[np.floating[Any]], correct: NDArray[np.bool_], *, bins: int = _BINS
) -> float:
    """Mean gap between confidence and accuracy over equal-width bins, weighted by the images in each."""
    place = _places(confidence, bins)
    count = np.bincount(place, minlength=bins)
    gap = np.bincount(place, weights=confidence - correct, minlength=bins)
    return float(np.abs(gap).sum() / max(count.sum(), 1))


def _places(confidence: NDArray[np.floating[Any]], bins: int) -> NDArray[np.int64]:
    places: NDArray[np.int64] = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    return places


def _ece(probabilities: NDArray[np.floating[Any]], truth: NDArray[np.integer[Any]]) -> float:
    return expected_calibration_error(probabilities.max(axis=1), probabilities.argmax(axis=1) == truth)


def _reliability(probabilities: NDArray[np.floating[Any]], truth: NDArray[np.integer[Any]]) -> tuple[Bin, ...]:
    return reliability(probabilities.max(axis=1), probabilities.argmax(axis=1) == truth)


def _sameness(probabilities: NDArray[np.floating[Any]], truth: NDArray[np.integer[Any]]) -> list[str]:
    """Accuracy alone hides that a model has collapsed: it is right on all images of the class that it always names."""
    one_answer = len(np.unique(probabilities.argmax(axis=1))) == 1 and np.ptp(probabilities, axis=0).max() <= _SAME
    if not one_answer or len(np.unique(truth)) < 2:
        return []
    return [
        "It gives every image the same answer: it has not learnt to tell them apart. Train it with a smaller learning "
        "rate, larger batches, more steps or more labels."
    ]


def _notes(classes: Sequence[str], temperature: float | None, *, ranked: bool) -> list[str]:
    notes = []
    if temperature is None:
        notes.append(
            "No temperature was fitted, which takes labels that are held out of training: "
            "the confidences are the network's own."
        )
    if not ranked:
        notes.append(f"The test has images of one class only, so how well '{classes[1]}' is ranked is not known.")
    return notes


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
