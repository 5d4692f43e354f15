"""Judging a model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
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
from seedbed.methods.learn.settings import ENOUGH_GOOD


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
    learnt = METHODS.get("model").load(model.place)
    truth = decoded.numbered(test.rows())
    _refuse_seen(model, decoded, truth)
    if learnt.head:
        truth = _good_or_not(truth, model.classes)
    _refuse_unknown(model, set(truth.values()))
    rows = np.array(sorted(truth))
    probabilities = METHODS.get("predict")(
        learnt, decoded.pixels[rows], batch=params.batch, on_progress=stoppable(run, "looking at the test images")
    )
    numbers = np.array([model.classes.index(truth[row]) for row in rows.tolist()])
    evaluation = METHODS.get("evaluate")(
        probabilities,
        numbers,
        model.classes,
        values=learnt.values,
        temperature=learnt.temperature if learnt.calibrated_on else None,
    )
    run.report(evaluation.metrics(), step=len(rows), total=len(rows), doing="evaluated")
    facts = {
        **evaluation.to_json(),
        "model": model.uuid,
        "temperature": learnt.temperature,
        "calibrated_on": learnt.calibrated_on,
        "values": list(learnt.values),
        "notes": [*evaluation.notes, *(_few_good(model) if learnt.head else ())],
        "mistakes": [_shown(mistake, rows, decoded) for mistake in evaluation.mistakes],
        "curve": model.curve(),
    }
    return Report.write(run.folder / "report", facts)


def _shown(mistake: Any, rows: NDArray[np.int64], decoded: Decoded) -> dict[str, Any]:
    """A mistake with the image's number in the data set and its name, by which pages and people find it."""
    row = int(rows[mistake.row])
    named = {"true": mistake.true, "called": mistake.called, "confidence": mistake.confidence}
    return {"index": row, "file": decoded.files[row], **named}


def _good_or_not(truth: dict[int, str], classes: Sequence[str]) -> dict[int, str]:
    """For a model that knows only good parts, every other class is an anomaly, whatever its name."""
    good, anomalous = classes
    return {row: good if klass == good else anomalous for row, klass in truth.items()}


def _few_good(model: Model) -> list[str]:
    """That a threshold rests on too few good parts; models of earlier versions do not say on how many."""
    count = int(model.values["labels"][0]) if "labels" in model.values else ENOUGH_GOOD
    if count >= ENOUGH_GOOD:
        return []
    good, anomalous = model.classes
    return [
        f"It learnt from only {count} good parts, so where '{good}' ends and '{anomalous}' begins is a rough guess. "
        f"Label more good parts: {ENOUGH_GOOD} or more make the threshold a good one."
    ]


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
