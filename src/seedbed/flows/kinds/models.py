"""Kinds around models: what is trained, taken away, predicted and judged."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput
from seedbed.base.tables import csv_text
from seedbed.flows.kinds.facts import Facts
from seedbed.flows.kinds.kind import Kind, Values, put
from seedbed.flows.kinds.zoo import kept_in
from seedbed.methods.learn.ordered import expected_values

ONNX_FILE, FACTS_FILE = "model.onnx", "model.json"
ANSWERS = "answers"  # the array of what a model says in numbers
ANSWERS_FILE, ANSWERED_FILE = "answers.npy", "ids.txt"
_LONGEST = 120  # bytes of a file's name
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}  # of Windows


class Weights(Kind):
    """Pretrained weights with the card that describes them."""

    kind = "weights"
    about = "pretrained weights and their card"

    @property
    def kept(self) -> Path | None:
        """The folder of a kept card; None: these were only tuned, to look at images with."""
        return kept_in(self.folder)


class Model(Kind):
    """A trained model: safetensors, its facts, and the list of images that it has seen."""

    kind = "model"
    about = "a trained model, and the images it was trained with"

    @property
    def place(self) -> Path:
        """The folder that methods.learn reads and writes."""
        return self.folder / "model"

    @property
    def classes(self) -> tuple[str, ...]:
        """What it tells apart."""
        return tuple(str(item) for item in self.values["classes"])

    @property
    def size(self) -> int:
        """Side of its images in pixels."""
        return int(self.values["size"][0])

    def seen(self) -> frozenset[str]:
        """The images that it was trained with, labelled or not."""
        return frozenset(self.file("seen", "images.txt").read_text().splitlines())

    def curve(self) -> list[dict[str, float]]:
        """What every evaluation in training found, with its step; empty for models of earlier versions."""
        path = self.folder / "curve" / "curve.json"
        points: list[dict[str, float]] = json.loads(path.read_text()) if path.is_file() else []
        return points

    def add_curve(self, points: Sequence[Mapping[str, float]]) -> None:
        """Keep how it learnt."""
        put(self.folder / "curve" / "curve.json", json.dumps([dict(point) for point in points]) + "\n")

    def add_seen(self, images: Sequence[str]) -> None:
        """Keep which images it was trained with."""
        put(self.folder / "seen" / "images.txt", "".join(f"{image}\n" for image in images))


class Download(Kind):
    """A model to take away: ONNX that takes raw pixels, safetensors, a state dict, facts, a folder that runs alone.

    A network that cannot be written as ONNX comes without that and without the folder.
    """

    kind = "download"
    about = "a model to take away: ONNX, safetensors, PyTorch state dict, a folder that runs with one command"

    @property
    def place(self) -> Path:
        """The folder of its files."""
        return self.folder / "files"

    @property
    def has_onnx(self) -> bool:
        """Whether its network could be written as ONNX."""
        return (self.place / ONNX_FILE).is_file()

    @property
    def onnx(self) -> Path:
        """The network with its preprocessing."""
        if not self.has_onnx:
            raise without_onnx(self.name or self.folder.name)
        return self.file("files", ONNX_FILE)

    @property
    def facts(self) -> Path:
        """Classes and size."""
        return self.file("files", FACTS_FILE)


def without_onnx(name: str) -> InvalidInput:
    """What is said where a model is asked that there is no ONNX file of."""
    return InvalidInput(
        f"'{name}' has no file {ONNX_FILE}, with which models are asked here: its network cannot be written as ONNX.",
        hint="README.txt, which is among its files, says why, and has the code to ask the model in Python.",
    )


class Predictions(Kind):
    """What a model says of every image: a CSV with confidences, a list of files per class, and perhaps an array."""

    kind = "predictions"
    about = "what a model says of every image"

    @classmethod
    def write(
        cls,
        folder: Path,
        images: Sequence[str],
        probabilities: NDArray[np.float32],
        classes: Sequence[str],
        values: Sequence[float] = (),
        *,
        ids: Sequence[str] = (),
    ) -> Self:
        """Into a fresh folder; with `values` of ordered classes, also the value that is to be expected.

        With the `ids` of the images also as an array, which a desk reads as it needs it.
        """
        if ids:
            put(folder / ANSWERS / ANSWERED_FILE, "".join(f"{image}\n" for image in ids))
            np.save(folder / ANSWERS / ANSWERS_FILE, probabilities.astype(np.float32), allow_pickle=False)
        called = probabilities.argmax(axis=1)
        means = expected_values(probabilities, values) if values else ()
        expected: Sequence[tuple[str, ...]] = [(f"{value:.6g}",) for value in means] or [()] * len(called)
        rows = [
            (image, classes[number], f"{row[number]:.6f}", *its, *(f"{value:.6f}" for value in row))
            for image, number, row, its in zip(images, called, probabilities, expected, strict=True)
        ]
        header = ("file", "class", "confidence", *(["value"] if values else []), *(f"p({name})" for name in classes))
        put(folder / "predictions" / "predictions.csv", csv_text([header, *rows]))
        for number, name in enumerate(file_names_of(classes)):
            files = [image for image, its in zip(images, called, strict=True) if its == number]
            put(folder / "lists" / f"{name}.txt", "".join(f"{image}\n" for image in files))
        counts = tuple(int(count) for count in np.bincount(called, minlength=len(classes)))
        return cls(folder, {"classes": tuple(classes), "counts": counts})

    def rows(self) -> list[dict[str, str]]:
        """One row per image: file, class, confidence, p(class) ..."""
        with self.file("predictions", "predictions.csv").open(newline="") as file:
            return list(csv.DictReader(file))


class Report(Facts):
    """How good a model is: scores, scores per class, confusions."""

    kind = "report"
    about = "how good a model is"

    @classmethod
    def values_of(cls, facts: Mapping[str, Any]) -> Values:
        """Single numbers, and the notes, without which these can mislead."""
        notes = tuple(facts.get("notes", ()))
        return {**super().values_of(facts), **({"notes": notes} if notes else {})}


def file_names_of(names: Sequence[str]) -> list[str]:
    """Classes' names as names of files that any system takes, each its own."""
    found: list[str] = []
    for number, name in enumerate(names):
        plain = _plain(name)
        while plain.casefold() in {other.casefold() for other in found}:
            plain = f"{plain}-{number}"
        found.append(plain)
    return found


def _plain(name: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in " ._-()" else "_" for letter in name)
    short = kept.encode()[:_LONGEST].decode(errors="ignore").strip(" .") or "class"
    return f"{short}_" if short.partition(".")[0].strip().casefold() in _RESERVED else short
