"""What a question brings, and the methods that answers need."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput
from seedbed.base.registry import Registry
from seedbed.flows.kinds.embeddings import mapped
from seedbed.flows.packing import unpacked

# loaded when a question needs them
METHODS: Registry[Any] = Registry(
    "method",
    {
        "choices": "seedbed.methods.label.choose:Choices",
        "choosers": "seedbed.methods.label.choose:CHOOSERS",
        "suggester": "seedbed.methods.label.suggest:Suggester",
        "most-alike": "seedbed.methods.label.suggest:most_alike",
        "together": "seedbed.methods.label.together:together",
        "in-classes": "seedbed.methods.label.together:in_classes",
        "gains": "seedbed.methods.label.gain:gains",
        "likely-mistakes": "seedbed.methods.label.quality:likely_mistakes",
        "nearest-labelled": "seedbed.methods.label.suggest:nearest_labelled",
        "embed": "seedbed.methods.label.embed:embed",
        "onnx": "seedbed.flows.onnx:OnnxModel",
    },
)

_ALL = slice(None)


@dataclass(frozen=True)
class Asked:
    """What every question brings: embeddings, groups where there are any, and the labels (-1: none) by row.

    A question of what is likely may bring a model's `answers`: where they lie, and the place of each of its classes.
    """

    question: Mapping[str, Any]

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """(images, width)."""
        return _mapped(self.question["embeddings"])

    @cached_property
    def groups(self) -> NDArray[np.int32] | None:
        """The group of each image."""
        return _mapped(self.question["groups"]) if self.question.get("groups") else None

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The place of each image's class."""
        labels = unpacked(self.question["labels"])
        if len(labels) != len(self.rows):
            raise InvalidInput(f"There are {len(labels)} labels for {len(self.rows)} images.")
        return labels

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.question["classes"])

    @property
    def suggester(self) -> Any:
        """The head for these labels; the same labels are learnt once."""
        return _suggester(self.question["embeddings"], self.question["labels"], self.classes)

    def likely(
        self, rows: NDArray[np.integer] | slice = _ALL, seen: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """How likely each class is for some rows: by the labels so far, and by the model where it has an answer.

        `seen` are their embeddings, where they are at hand.
        """
        head: NDArray[np.float32] = self.suggester.probabilities(self.rows[rows] if seen is None else seen)
        if not self.question.get("answers"):
            return head
        both: NDArray[np.float32] = METHODS.get("together")(head, self._answers(rows))
        return both

    def _answers(self, rows: NDArray[np.integer] | slice) -> NDArray[np.float32]:
        """What the model says of some rows, in the project's classes; NaN: nothing."""
        answers = self.question["answers"]
        kept, at = _mapped(answers["likely"]), _answered(answers["images"], self.question["images"])
        mine = kept[rows] if at is None else kept[np.maximum(at[rows], 0)]
        said: NDArray[np.float32] = METHODS.get("in-classes")(mine, np.array(answers["places"]), self.classes)
        if at is not None:
            said[at[rows] < 0] = np.nan
        return said

    @property
    def can_suggest(self) -> bool:
        """Whether there are two classes to tell apart."""
        return len(np.unique(self.labels[self.labels >= 0])) >= 2


@lru_cache(maxsize=2)
def _answered(answered: str, images: str) -> NDArray[np.int64] | None:
    """The row of the answers for each image, -1 where there is none; None: they have the same rows.

    Files are named by their content: another file has other images, for some were added since.
    """
    if answered == images:
        return None
    places = {image: row for row, image in enumerate(Path(answered).read_text().split())}
    return np.array([places.get(image, -1) for image in Path(images).read_text().split()], dtype=np.int64)


@lru_cache(maxsize=8)
def _mapped(path: str) -> NDArray[Any]:
    return mapped(Path(path))


@lru_cache(maxsize=2)
def _suggester(embeddings: str, labels: str, classes: int) -> Any:
    return METHODS.get("suggester").fit(_mapped(embeddings), unpacked(labels), classes)
