"""What a result says, in words: read from the files of its bundle. Nothing here knows the page."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.assets.access.roles import Identity
from seedbed.assets.store.bundle import Bundle
from seedbed.faces.ui.words import percent, plural
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.trainings import share_in_words

_MOST_ROWS = 100_000  # of predictions that a page looks through
_EXACT = 0.06  # width of an interval under which a share may be taken as it is
_FEW = 50  # test images


@dataclass(frozen=True)
class Called:
    """What a model says of one image."""

    file: str
    label: str
    confidence: float
    value: float | None = None  # to be expected, where the classes are ordered

    def in_words(self) -> str:
        """How sure the model is, and of ordered classes the value to be expected."""
        about = "" if self.value is None else f"about {self.value:.3g}, "
        return f"{about}{percent(round(self.confidence, 2))} sure"


def report_of(platform: Platform, bundle: Bundle, by: Identity) -> dict[str, Any]:
    """The facts of a report."""
    facts: dict[str, Any] = json.loads(_file(platform, bundle, "report", by).read_text())
    return facts


def predictions_of(platform: Platform, bundle: Bundle, by: Identity) -> list[Called]:
    """What was said of every image, in the order of the data set."""
    with _file(platform, bundle, "predictions", by).open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return [
            Called(row["file"], row["class"], float(row["confidence"]), float(row["value"]) if "value" in row else None)
            for row, _ in zip(rows, range(_MOST_ROWS), strict=False)
        ]


def sample(called: Sequence[Called], most: int) -> list[tuple[int, Called]]:
    """A few of each class with their numbers, evenly taken, the classes in turn."""
    groups: dict[str, list[tuple[int, Called]]] = {}
    for number, one in enumerate(called):
        groups.setdefault(one.label, []).append((number, one))
    each = -(-most // max(len(groups), 1))
    chosen = [_evenly(group, each) for _, group in sorted(groups.items())]
    turns = [group[turn] for turn in range(each) for group in chosen if turn < len(group)]
    return turns[:most]


def accuracy_in_words(facts: Mapping[str, Any]) -> str:
    """How good a model is, for somebody who has never heard of a confusion matrix."""
    count, accuracy = int(facts["count"]), float(facts["accuracy"])
    right = round(accuracy * count)
    return (
        f"Of {plural(count, 'image')} that it had not seen, the model names {right:,} correctly: "
        f"{share_in_words(accuracy)}."
    )


def roughly_in_words(count: int, low: float, high: float) -> str:
    """How far so few test images can be trusted, by the interval that they allow; '' where they are enough."""
    if high - low <= _EXACT:
        return ""
    few = f"With {'only ' if count < _FEW else ''}{plural(count, 'test image')} this is a rough figure"
    return f"{few}: on many more it would likely lie between {share_in_words(low)} and {share_in_words(high)}."


def off_in_words(facts: Mapping[str, Any]) -> str:
    """Of bins of a percentage: how far it is off, which a neighbouring bin is less than a far one; '' where unknown."""
    off = facts.get("mean_absolute_error")
    return f"What it says is {off:.2g} percentage points off on average." if off is not None else ""


def scores_in_words(facts: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Of each class its name, how many of its images were found, and how often it was right when it was said."""
    confusion = facts["confusion"]
    told = []
    for place, one in enumerate(facts["classes"]):
        hits, shown = confusion[place][place], sum(confusion[place])
        said = sum(row[place] for row in confusion)
        found, right = _of_all(hits, shown, "not in the test"), _of_all(hits, said, "never said")
        told.append((str(one["name"]), found, right))
    return told


def _of_all(hits: int, count: int, none: str) -> str:
    return f"{hits:,} of {count:,} ({share_in_words(hits / count)})" if count else none


def mistakes_in_words(facts: Mapping[str, Any]) -> str:
    """What it mistakes most often."""
    names = [one["name"] for one in facts["classes"]]
    wrong = [
        (count, names[true], names[called])
        for true, row in enumerate(facts["confusion"])
        for called, count in enumerate(row)
        if true != called and count
    ]
    if not wrong:
        return "It makes no mistake on them."
    count, true, called = max(wrong)
    if len(wrong) == 1:
        return f"All that it mistakes: {plural(count, 'image')} of {true} called {called}."
    if count == 1:
        return f"It makes {len(wrong)} mistakes, and none of them twice."
    return f"Its most frequent mistake: {plural(count, 'image')} of {true} called {called}."


def models_in_words(models: Sequence[Bundle], reports: Sequence[Bundle]) -> str:
    """Which of some models to look at: the one that did best in its newest test, else the newest."""
    right = {uuid: share for report in reversed(reports) for uuid, share in _tested(report)}
    tested = [model for model in models if model.uuid in right]
    if not tested:
        return f"the newest of {plural(len(models), 'model')} is {models[0].name}, which was not tested yet"
    best = max(tested, key=lambda model: right[model.uuid])
    which = "the model" if len(models) == 1 else f"the best of {plural(len(models), 'model')}"
    return f"{which} is {best.name}, right on {percent(right[best.uuid])} of its test images"


def newest_tests(reports: Sequence[Bundle]) -> dict[str, tuple[str, float]]:
    """Model -> its newest report and the share that was right; the reports come newest first."""
    return {uuid: (report.uuid, share) for report in reversed(reports) for uuid, share in _tested(report)}


def _tested(report: Bundle) -> list[tuple[str, float]]:
    accuracy = scalar(report, "accuracy")
    return (
        [] if accuracy is None else [(uuid, float(accuracy)) for name, uuid in report.lineage.inputs if name == "model"]
    )


def images_of(bundle: Bundle) -> int:
    """How many images a data set has."""
    array = bundle.arrays.get("images")
    return len(array.items) if array else 0


def scalar(bundle: Bundle, name: str) -> Any:
    """The single value of an array, or None."""
    array = bundle.arrays.get(name)
    return array.items[0] if array and len(array.items) == 1 else None


def texts(bundle: Bundle, name: str) -> list[str]:
    """The items of an array as texts; none where it is not there."""
    array = bundle.arrays.get(name)
    return [str(item) for item in array.items] if array else []


def _file(platform: Platform, bundle: Bundle, array: str, by: Identity) -> Path:
    return platform.bundles.file(bundle.uuid, array, 0, by=by)[0]


def _evenly(group: list[tuple[int, Called]], most: int) -> list[tuple[int, Called]]:
    stride = max(len(group) // most, 1)
    return group[::stride][:most]
