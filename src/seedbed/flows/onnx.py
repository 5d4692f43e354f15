"""Exported models without torch: quick answers in the service, and prediction on machines that have no torch."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from seedbed.base.errors import Damaged


class OnnxModel:
    """One exported model, open. Takes uint8 images (number, size, size, 3); safe to use from any thread."""

    def __init__(self, onnx: Path, facts: Path, *, threads: int = 1) -> None:
        described = json.loads(facts.read_text())
        self.classes = tuple(str(name) for name in described["classes"])
        self.size = int(described["size"])
        self.values = tuple(float(value) for value in described.get("values", ()))  # of ordered classes
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(onnx), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the runtime has a type of its own for every way a file can be wrong
            raise Damaged(f"The exported model cannot be opened: {error}.", hint="Export it again.") from error
        self._input = self._session.get_inputs()[0].name

    def predict(
        self, images: NDArray[np.uint8], *, batch: int = 64, on_progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        """Probabilities, one row per image and one column per class."""
        parts = []
        for start in range(0, len(images), batch):
            pixels = np.ascontiguousarray(images[start : start + batch])
            parts.append(self._session.run(None, {self._input: pixels})[0])
            if on_progress:
                on_progress(min(start + batch, len(images)), len(images))
        empty = np.empty((0, len(self.classes)), np.float32)
        return np.concatenate(parts).astype(np.float32) if parts else empty
