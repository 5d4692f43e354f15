"""Training: images and a few labels in, a model out."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, Self, get_type_hints

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, create_model, model_validator

from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.models import Model
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS
from seedbed.methods.learn.settings import TrainSettings

UNLABELLED = -1


class _Checked(Params):
    @model_validator(mode="after")
    def _can_work(self) -> Self:
        try:
            settings_of(self, ("a class", "another")).check()
        except InvalidInput as error:
            raise ValueError("; ".join(error.problems)) from None
        return self


def settings_of(params: Params, classes: Sequence[str]) -> TrainSettings:
    """The method's settings, of the step's parameters and the classes of the labels."""
    chosen = {name: getattr(params, name) for name in type(params).model_fields}
    return TrainSettings(classes=tuple(classes), **chosen)


def _fields() -> dict[str, Any]:
    """The parameters are the method's own settings, with its defaults; only the classes come from the labels."""
    hints = get_type_hints(TrainSettings)
    declared = {}
    for field in fields(TrainSettings):
        if field.name != "classes":
            made = field.default_factory
            default = Field(field.default) if made is MISSING else Field(default_factory=made)
            declared[field.name] = (hints[field.name], default)
    return declared


TrainParams: type[Params] = create_model("TrainParams", __base__=_Checked, **_fields())


@step(
    "train",
    methods=("seedbed.methods.learn", "seedbed.assets.zoo"),
    resources=Resources(cpus=2, memory=3 << 30),
    device_matters=True,
    seed_matters=True,
)
def train_model(
    decoded: Decoded, labels: Labels, params: TrainParams, run: RunContext, holdout: Labels | None = None
) -> Model:
    """Trains a model on a few labels and the unlabelled rest; images of `holdout` are not used in any way."""
    given = decoded.numbered(labels.rows())
    kept_out = set(decoded.numbered(holdout.rows())) if holdout else set()
    if both := sorted(set(given) & kept_out):
        raise InvalidInput(f"{len(both)} images of 'labels' are also in 'holdout', such as {decoded.files[both[0]]}.")
    classes = tuple(sorted(set(given.values())))
    used = np.array([row for row in range(len(decoded.images)) if row not in kept_out])
    trained = METHODS.get("train")(
        decoded.pixels[used], _numbers(given, used, classes), settings_of(params, classes), run
    )
    folder = run.folder / "model-bundle"
    trained.model.save(folder / "model")
    values: Mapping[str, tuple[Any, ...]] = {
        "classes": classes,
        "size": (int(trained.model.size),),
        "architecture": (str(trained.model.architecture),),
        "steps": (int(trained.steps),),
        "labels": (len(given),),
        "images": (len(used),),
        **{name: (float(value),) for name, value in trained.metrics.items()},
    }
    model = Model(folder, values)
    model.add_seen([decoded.images[row] for row in used])
    return model


def _numbers(given: Mapping[int, str], used: NDArray[np.int64], classes: Sequence[str]) -> NDArray[np.int64]:
    number = {klass: place for place, klass in enumerate(classes)}
    return np.array([number[given[row]] if row in given else UNLABELLED for row in used.tolist()], dtype=np.int64)
