"""A model for others: safetensors with its facts, a PyTorch state dict, and one ONNX file that takes raw pixels."""

import contextlib
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from seedbed.assets.zoo.card import Preprocessing
from seedbed.base.errors import Failed
from seedbed.base.files import write_atomically
from seedbed.methods.learn.guide import guide
from seedbed.methods.learn.model import Model
from seedbed.methods.learn.pixels import normalise
from seedbed.methods.learn.predict import device_of
from seedbed.methods.learn.shortage import is_shortage

_OPSET = 17


class NotInOnnx(Failed):
    """A network does what ONNX has no words for."""


def export_safetensors(model: Model, folder: Path) -> Path:
    """Write model.safetensors and model.json; the folder is what `Model.load` reads."""
    model.save(folder)
    return folder


def export_state_dict(model: Model, path: Path) -> Path:
    """Write the weights as a PyTorch state dict, which `torch.load` reads with weights_only=True."""
    tensors = {name: value.detach().cpu().contiguous() for name, value in model.network.state_dict().items()}
    data = io.BytesIO()
    torch.save(tensors, data)
    write_atomically(path, data.getvalue())
    return path


def export_all(model: Model, folder: Path) -> Path:
    """Everything that a person takes away: safetensors, facts, state dict, ONNX, and README.txt on how to use each.

    A network that cannot be written as ONNX is taken away without: the README then says why.
    """
    export_safetensors(model, folder)
    export_state_dict(model, folder / "model.pt")
    why_not = _tried_onnx(model, folder / "model.onnx")
    write_atomically(folder / "README.txt", guide(model, no_onnx=why_not).encode())
    return folder


def _tried_onnx(model: Model, path: Path) -> str:
    """Why there is no file, which then is none of an earlier model either; empty where there is one."""
    path.unlink(missing_ok=True)
    try:
        export_onnx(model, path)
    except NotInOnnx as error:
        return error.message
    return ""


def export_onnx(model: Model, path: Path) -> Path:
    """Write one ONNX file with its preprocessing inside: uint8 images (N, size, size, 3) in, probabilities out.

    Input `images`, output `probabilities`; the names of the classes and the size are in the file's metadata. Raises
    NotInOnnx where the network cannot be written so.
    """
    device = device_of(model.network)
    whole = _Whole(model.network.cpu(), model.preprocessing, model.temperature).eval()
    example = torch.zeros(2, model.size, model.size, 3, dtype=torch.uint8)
    try:
        data = _to_onnx(whole, example, model)
    finally:
        model.network.to(device)
    write_atomically(path, data)
    return path


class _Whole(nn.Module):
    """Pixels to probabilities."""

    def __init__(self, network: nn.Module, preprocessing: Preprocessing, temperature: float) -> None:
        super().__init__()
        self.network = network
        self.preprocessing = preprocessing
        self.temperature = temperature

    def forward(self, images: Tensor) -> Tensor:
        pixels = images.permute(0, 3, 1, 2).to(torch.float32) / 255.0
        logits: Tensor = self.network(normalise(pixels, self.preprocessing))
        return (logits / self.temperature).softmax(dim=1)


def _to_onnx(whole: nn.Module, example: Tensor, model: Model) -> bytes:
    with tempfile.TemporaryDirectory() as folder, _in_a_sentence(model), _quietly():
        path = Path(folder) / "model.onnx"
        torch.onnx.export(
            whole,
            (example,),
            path,
            input_names=["images"],
            output_names=["probabilities"],
            dynamic_axes={"images": {0: "count"}, "probabilities": {0: "count"}},
            opset_version=_OPSET,
            dynamo=False,
        )
        with path.open("ab") as file:
            file.write(_facts(model))
        onnx.checker.check_model(path)
        return path.read_bytes()


@contextlib.contextmanager
def _in_a_sentence(model: Model) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # the exporter and the checker have many types of their own
        if isinstance(error, OSError) or is_shortage(error):
            raise
        said = str(error).strip().partition("\n")[0].partition(". ")[0].rstrip(".") or type(error).__name__
        told = f"The network '{model.architecture}' cannot be written as ONNX for images of {model.size} px: {said}."
        raise NotInOnnx(told) from error


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Where the exporter fails, it prints thousands of lines, from below Python: only the file itself can be turned."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tracing exporter is deprecated; the other needs onnxscript and 20 s
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _facts(model: Model) -> bytes:
    """What an ONNX file is told at its end: messages one after another are one, and a large one need not be read."""
    facts = {"classes": json.dumps(list(model.classes), ensure_ascii=False), "size": str(model.size)}
    told = onnx.ModelProto()
    for name, value in facts.items():
        told.metadata_props.add(key=name, value=value)
    return bytes(told.SerializeToString())
