"""An exported model's word on every image, without torch."""

from pydantic import Field

from seedbed.assets.data.cache import build_cache
from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.data import DataSet
from seedbed.flows.kinds.models import Download, Predictions
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS
from seedbed.flows.steps.progress import stoppable


class PredictParams(Params):
    """How to go through the images."""

    batch: int = Field(64, ge=1, le=65536, description="Images at once.")


@step("predict", methods=("seedbed.flows.onnx", "seedbed.assets.data"), resources=Resources(cpus=1, memory=1 << 30))
def predict_images(model: Download, data: DataSet, params: PredictParams, run: RunContext) -> Predictions:
    """Labels every image of a data set with an exported model: a CSV with confidences, a list of files per class."""
    if not data.records:
        raise InvalidInput(f"'{data.name}' has no images.")
    exported = METHODS.get("onnx-model")(model.onnx, model.facts)
    paths = [data.opened.path(record) for record in data.records]
    cache = build_cache(paths, run.folder, exported.size, on_progress=stoppable(run, "decoding images"))
    tell = stoppable(run, "predicting")
    probabilities = exported.predict(cache.pixels, batch=params.batch, on_progress=tell)
    files = [record.file for record in data.records]
    return Predictions.write(run.folder / "predictions", files, probabilities, exported.classes, exported.values)
