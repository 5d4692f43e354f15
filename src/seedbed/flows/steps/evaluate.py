"""Judging a model."""

import numpy as np
from pydantic import Field

from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.models import Model, Report
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS
from seedbed.flows.steps.progress import stoppable


class EvaluateParams(Params):
    """How to go through the images."""

    batch: int = Field(256, ge=1, le=65536, description="Images at once.")


@step(
    "evaluate",
    methods=("seedbed.methods.learn", "seedbed.assets.zoo"),
    resources=Resources(cpus=1, memory=2 << 30),
    device_matters=True,
)
def evaluate_model(model: Model, decoded: Decoded, test: Labels, params: EvaluateParams, run: RunContext) -> Report:
    """How good a model is on labelled images that it has not seen, not even without their labels."""
    truth = decoded.numbered(test.rows())
    _refuse_seen(model, decoded, truth)
    _refuse_unknown(model, set(truth.values()))
    rows = np.array(sorted(truth))
    learnt = METHODS.get("model").load(model.place)
    probabilities = METHODS.get("predict")(
        learnt, decoded.pixels[rows], batch=params.batch, on_progress=stoppable(run, "looking at the test images")
    )
    numbers = np.array([model.classes.index(truth[row]) for row in rows.tolist()])
    evaluation = METHODS.get("evaluate")(probabilities, numbers, model.classes)
    run.report(evaluation.metrics(), step=len(rows), total=len(rows), doing="evaluated")
    return Report.write(run.folder / "report", {**evaluation.to_json(), "model": model.uuid})


def _refuse_seen(model: Model, decoded: Decoded, truth: dict[int, str]) -> None:
    seen = model.seen()
    both = [decoded.files[row] for row in truth if decoded.images[row] in seen]
    if both:
        raise InvalidInput(
            f"{len(both)} of the {len(truth)} test images were used in training, such as {both[0]}.",
            hint="Hold them out: give the same labels to 'holdout' of the train step.",
        )


def _refuse_unknown(model: Model, classes: set[str]) -> None:
    if unknown := sorted(classes - set(model.classes)):
        raise InvalidInput(
            f"'test' has classes that the model does not know: {', '.join(unknown)}.",
            hint=f"It knows: {', '.join(model.classes)}.",
        )
