"""A model for others: safetensors with its facts, and one ONNX file that takes raw pixels."""

from pathlib import Path

from seedbed.methods.learn.model import Model


def export_safetensors(model: Model, folder: Path) -> Path:
    """Write model.safetensors and model.json; the folder is what `Model.load` reads."""
    model.save(folder)
    return folder


def export_onnx(model: Model, path: Path) -> Path:
    """Write one ONNX file with its preprocessing inside: uint8 images (N, size, size, 3) in, probabilities out."""
    raise NotImplementedError
