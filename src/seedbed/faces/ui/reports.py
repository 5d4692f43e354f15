"""What a report says beyond accuracy, in words and in numbers to draw. Pure: facts in, sentences out.

Reports that were written before something was measured do not have it, and are shown without it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.assets.store.bundle import Bundle
from seedbed.faces.ui.reliability import Bin
from seedbed.faces.ui.results import scalar
from seedbed.faces.ui.words import percent, plural


@dataclass(frozen=True)
class Mistake:
    """An image that the model calls something else."""

    index: int  # in the data set
    true: str
    called: str
    sure: float


def scores_of(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The scores of each class, and last their means, in which every class counts the same."""
    means = {name: facts[name] for name in ("count", "recall", "precision", "f1") if name in facts}
    return [*facts["classes"], *([{"name": "Mean of the classes", **means}] if len(means) == 4 else [])]


def cells_of(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str, str]]:
    """The scores as a table shows them; a class that is not in the test, or was never said, has none to show."""
    said = [sum(column) for column in zip(*facts["confusion"], strict=True)]
    for one, calls in zip(scores_of(facts), [*said, facts.get("count", 0)], strict=False):
        shown = int(one["count"])
        found, right, f1 = (percent(float(one[score])) for score in ("recall", "precision", "f1"))
        yield (
            str(one["name"]),
            f"{shown:,}",
            found if shown else "not in the test",
            right if calls else "",
            f1 if shown else "",
        )


def more_in_words(facts: Mapping[str, Any]) -> Iterator[str]:
    """How far off it is, how well it ranks, how far its confidence can be trusted."""
    if (error := facts.get("mean_absolute_error")) is not None:
        yield error_in_words(error, facts.get("expected_absolute_error"))
    if (auc := facts.get("roc_auc")) is not None:
        second = facts["classes"][1]["name"]
        yield (
            f"Of two images of which one is {second}, it finds that one more likely to be it in "
            f"{percent(round(auc, 3))} of all cases (area under the ROC curve)."
        )
    if (ece := facts.get("ece")) is not None:
        yield confidence_in_words(ece, facts.get("ece_before"))
    yield from facts.get("notes", ())


def error_in_words(called: float, expected: float | None) -> str:
    """How far off it is on ordered classes."""
    said = f"The class that it names is {called:.3g} away from the truth on average, in the unit of the classes' values"
    return f"{said}." if expected is None else f"{said}; the value that it expects, {expected:.3g}."


def confidence_in_words(ece: float, before: float | None) -> str:
    """How far its confidence is from how often it is right."""
    said = f"Its confidence is {100 * ece:.1f} points away from how often it is right (ECE)"
    if before is None:
        return f"{said}."
    return f"{said}; before its temperature was fitted it was {100 * before:.1f}."


def reliability_of(facts: Mapping[str, Any]) -> list[tuple[str, list[Bin]]]:
    """Lines for the diagram: the confidence as it is, and as it was before its temperature was fitted."""
    named = (("as it is", facts.get("reliability")), ("before its temperature", facts.get("reliability_before")))
    return [(name, _bins(bins)) for name, bins in named if bins]


def _bins(bins: Sequence[Mapping[str, Any]]) -> list[Bin]:
    return [(float(one["confidence"]), float(one["accuracy"]), int(one["count"])) for one in bins if one["count"]]


def mistakes_of(facts: Mapping[str, Any]) -> list[Mistake]:
    """The examples that the report has."""
    return [
        Mistake(int(one["index"]), str(one["true"]), str(one["called"]), float(one["confidence"]))
        for one in facts.get("mistakes", ())
    ]


def curve_of(facts: Mapping[str, Any]) -> dict[str, list[tuple[int, float]]]:
    """What the evaluations in training found: measure -> (step, value)."""
    points = [point for point in facts.get("curve", ()) if "step" in point]
    names = {name: None for point in points for name in point if name != "step"}
    return {name: [(int(point["step"]), float(point[name])) for point in points if name in point] for name in names}


def used_of(model: Bundle, metrics: Mapping[str, Sequence[tuple[int, float]]]) -> dict[str, str]:
    """What a training took, as far as its model and its job say: name of the figure -> value."""
    found: dict[str, str] = {}
    planned = int(scalar(model, "planned") or 0)
    for name, what in (("steps", "step"), ("labels", "label"), ("images", "image")):
        if (value := scalar(model, name)) is not None:
            number, _, noun = plural(int(value), what).partition(" ")
            early = name == "steps" and planned > int(value)
            found["steps" if early else noun] = f"{number} of {planned:,}" if early else number
    for name, what in (("memory_gib", "of memory"), ("memory_gpu_gib", "of GPU memory")):
        if points := metrics.get(name):
            found[what] = f"{points[-1][1]:.1f} GiB"
    return found


def rate_of(model: Bundle) -> str:
    """Which learning rate a training took, and why; '' for models that do not say."""
    rate, reason = scalar(model, "learning_rate"), scalar(model, "rate_reason")
    return f"The learning rate rose to {float(rate):g}: {reason}." if rate and reason else ""
