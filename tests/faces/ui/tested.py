"""What a training leaves, published by hand: a model that was tested, what it says of every image, files to take away.

The pages only read these bundles, so that a test of the pages need not train; the whole way is trained for real
elsewhere.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from seedbed.assets.access.roles import SOLO
from seedbed.assets.store.bundle import Lineage
from seedbed.flows.edge import EDGE_FILE
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.models import Download, Model, Predictions, Report
from seedbed.flows.platform import Platform
from seedbed.methods.learn.evaluate import evaluate

_RIGHT = 0.8


def publish_tested(platform: Platform, place: Path, project: str, data: str, truth: Mapping[str, str]) -> str:
    """Of the images in `truth` (file to class) every third was put aside; four of five are named rightly. The model."""
    classes = sorted(set(truth.values()))
    records = platform.data.records(data, limit=10_000, by=SOLO)
    numbers = np.array([classes.index(truth[record["file"]]) for record in records])
    rng = np.random.default_rng(5)
    likely = np.where(rng.random(len(records)) < _RIGHT, numbers, (numbers + 1) % len(classes))
    shares = rng.uniform(0.05, 0.2, (len(records), len(classes)))
    shares[np.arange(len(records)), likely] += rng.uniform(0.3, 3.0, len(records))
    shares = (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)
    rows = np.arange(0, len(records), 3)
    test = Labels.write(place / "test", {records[row]["id"]: classes[numbers[row]] for row in rows})
    judged = evaluate(shares[rows], numbers[rows], tuple(classes))
    held = platform.store.publish(test.draft(name="way.test", project=project, lineage=Lineage("sample-labels")))
    model = Model(place / "model", {"classes": tuple(classes), "size": (32,)})
    _file(place / "model" / "model" / "model.json", "{}")
    made = platform.store.publish(model.draft(name="way.model", project=project, lineage=_from("train", data=data)))
    report = Report.write(place / "report", {**judged.to_json(), "mistakes": []})
    files = [record["file"] for record in records]
    called = Predictions.write(place / "called", files, shares, tuple(classes))
    download = Download(place / "download", {"classes": tuple(classes), "size": (32,)})
    for name in ("model.onnx", "model.json", "model.safetensors", "model.pt", "README.txt", EDGE_FILE):
        _file(download.place / name, json.dumps({"name": name}))
    for kind, name, inputs in (
        (report, "way.report", {"model": made.uuid, "test": held.uuid}),
        (called, "way.predictions", {"model": made.uuid}),
        (download, "way.download", {"model": made.uuid}),
    ):
        lineage = _from(name.partition(".")[2], **inputs)
        platform.store.publish(kind.draft(name=name, project=project, lineage=lineage))
    return made.uuid


def _from(step: str, **inputs: str) -> Lineage:
    return Lineage(step, inputs=tuple(inputs.items()))


def _file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
