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
        "gains": "seedbed.methods.label.gain:gains",
        "likely-mistakes": "seedbed.methods.label.quality:likely_mistakes",
        "nearest-labelled": "seedbed.methods.label.suggest:nearest_labelled",
        "embed": "seedbed.methods.label.embed:embed",
        "onnx": "seedbed.flows.onnx:OnnxModel",
    },
)


@dataclass(frozen=True)
class Asked:
    """What every question brings: embeddings, groups where there are any, and the labels (-1: none) by row."""

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

    @property
    def can_suggest(self) -> bool:
        """Whether there are two classes to tell apart."""
        return len(np.unique(self.labels[self.labels >= 0])) >= 2


@lru_cache(maxsize=8)
def _mapped(path: str) -> NDArray[Any]:
    return mapped(Path(path))


@lru_cache(maxsize=2)
def _suggester(embeddings: str, labels: str, classes: int) -> Any:
    return METHODS.get("suggester").fit(_mapped(embeddings), unpacked(labels), classes)
