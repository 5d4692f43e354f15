"""What is on images that somebody drops in: the project's model says it, or the labels so far do."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.data.decode import Undecodable, decode
from seedbed.flows.desk.asked import METHODS, Asked

_ALIKE = 6  # images that are shown as the reason
Pixels = NDArray[np.uint8]


def predict(asked: Asked) -> Mapping[str, Any]:
    """A result per file: its class, how likely each class is, and the labelled images most like it."""
    files: Sequence[Mapping[str, str]] = asked.question["files"]
    limit = int(asked.question["pixel_limit"])
    readable, problems = _readable(files, limit)
    seen = _seen(asked, readable, limit)
    names, likely = _likely(asked, readable, seen, limit)
    alike = _alike(asked, seen) if seen is not None else [[] for _ in readable]
    results = {
        file["name"]: {
            "file": file["name"],
            "label": names[int(row.argmax())],
            "confidence": round(float(row.max()), 4),
            "probabilities": {name: round(float(value), 4) for name, value in zip(names, row, strict=True)},
            "similar": near,
            "similar_labels": [_said(asked, row) for row in near],
        }
        for file, row, near in zip(readable, likely, alike, strict=True)
    }
    unread = {name: {"file": name, "problem": reason} for name, reason in problems.items()}
    return {"results": [{**results, **unread}[file["name"]] for file in files]}


def _readable(files: Sequence[Mapping[str, str]], limit: int) -> tuple[list[Mapping[str, str]], dict[str, str]]:
    good, problems = [], {}
    for file in files:
        try:
            _picture(file["path"], 32, limit)
            good.append(file)
        except (Undecodable, OSError) as error:
            problems[file["name"]] = error.reason if isinstance(error, Undecodable) else "the file cannot be read"
    return good, problems


def _seen(asked: Asked, files: Sequence[Mapping[str, str]], limit: int) -> NDArray[np.float32] | None:
    """The images as the project's own images were looked at; None where those were not."""
    if not asked.question.get("embeddings") or not files:
        return None
    size = int(asked.question["size"])
    pixels = np.stack([_picture(file["path"], size, limit) for file in files])
    tuned = asked.question["weights"]
    eyes = {"card": asked.question["card"], "size": size, "weights": Path(tuned) if tuned else None}
    rows: NDArray[np.float32] = METHODS.get("embed")(pixels, device="cpu", **eyes)
    return rows


def _likely(
    asked: Asked, files: Sequence[Mapping[str, str]], seen: NDArray[np.float32] | None, limit: int
) -> tuple[Sequence[str], NDArray[np.float32]]:
    model = asked.question.get("model")
    if model:
        opened = _model(model["onnx"], model["facts"])
        pixels = [_picture(file["path"], opened.size, limit) for file in files]
        empty = np.empty((0, len(opened.classes)), np.float32)
        return opened.classes, opened.predict(np.stack(pixels)) if pixels else empty
    names: Sequence[str] = asked.question["names"]
    if seen is None:
        return names, np.empty((0, len(names)), np.float32)
    return names, asked.suggester.probabilities(seen)


def _alike(asked: Asked, seen: NDArray[np.float32]) -> list[list[int]]:
    """The labelled images that are most like each; any images, while none is labelled."""
    labels = asked.labels if (asked.labels >= 0).any() else np.zeros_like(asked.labels)
    rows, _ = METHODS.get("nearest-labelled")(asked.rows, labels, seen, _ALIKE)
    found: list[list[int]] = rows.tolist()
    return found


def _said(asked: Asked, row: int) -> str:
    place = int(asked.labels[row])
    return str(asked.question["names"][place]) if place >= 0 else ""


def _picture(path: str, size: int, limit: int) -> Pixels:
    return decode(Path(path).read_bytes(), size=size, pixel_limit=limit).pixels


@lru_cache(maxsize=2)
def _model(onnx: str, facts: str) -> Any:
    return METHODS.get("onnx")(Path(onnx), Path(facts))
