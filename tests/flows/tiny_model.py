"""An exported model that needs no training: it calls an image after its strongest colour."""

import json
from collections.abc import Sequence
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from seedbed.assets.store.bundle import Bundle
from seedbed.flows.kinds.models import FACTS_FILE, ONNX_FILE, Download
from seedbed.flows.platform import Platform


def publish_tiny_model(platform: Platform, folder: Path, project: str, classes: Sequence[str]) -> Bundle:
    """For three classes: red, green and blue, by whatever names."""
    place = folder / "files"
    place.mkdir(parents=True)
    nodes = [
        helper.make_node("Cast", ["pixels"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["floats"], ["means"], axes=[1, 2], keepdims=0),
        helper.make_node("Softmax", ["means"], ["likely"], axis=1),
    ]
    taken = helper.make_tensor_value_info("pixels", TensorProto.UINT8, ["n", 8, 8, 3])
    given = helper.make_tensor_value_info("likely", TensorProto.FLOAT, ["n", 3])
    graph = helper.make_graph(nodes, "colours", [taken], [given])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, place / ONNX_FILE)
    (place / FACTS_FILE).write_text(json.dumps({"classes": list(classes), "size": 8}))
    return platform.store.publish(Download(folder).draft(name="tiny.download", project=project))
