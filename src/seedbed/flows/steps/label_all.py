"""A model's word on every image."""

from pydantic import Field

from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.models import Model, Predictions
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS
from seedbed.flows.steps.progress import stoppable


class LabelAllParams(Params):
    """How to go through the images."""

    batch: int = Field(256, ge=1, le=65536, description="Images at once.")


@step(
    "label-all",
    methods=("seedbed.methods.learn", "seedbed.assets.zoo"),
    resources=Resources(cpus=1, memory=2 << 30),
    device_matters=True,
)
def label_all(model: Model, decoded: Decoded, params: LabelAllParams, run: RunContext) -> Predictions:
    """Labels every image of a data set: a CSV with confidences, a list of files per class, and an array."""
    learnt = METHODS.get("model").load(model.place)
    probabilities = METHODS.get("predict")(
        learnt, decoded.pixels, batch=params.batch, on_progress=stoppable(run, "labelling all images")
    )
    place, files, ids = run.folder / "predictions", decoded.files, decoded.images
    return Predictions.write(place, files, probabilities, model.classes, learnt.values, ids=ids)
