"""Training: images and a few labels in, a model out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any, Self, get_type_hints

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, create_model, model_validator

from seedbed.assets.data.cache import DecodedCache
from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.algorithms import algorithm_problems
from seedbed.flows.backbones import backbone_problems
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.models import Model, Weights
from seedbed.flows.kinds.zoo import Start
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS
from seedbed.flows.steps.sample_labels import LEAST, too_few, unnamed_good
from seedbed.methods.learn.settings import ONE_CLASS, TrainSettings

UNLABELLED = -1
_AT_ONCE = 1024  # images that are copied at once
Values = tuple[float, ...] | dict[str, float]
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Unworkable(ValueError):
    """Parameters that are well formed, and cannot work: a sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = tuple(problems)


class _Checked(Params):
    @model_validator(mode="after")
    def _can_work(self) -> Self:
        problems = list(algorithm_problems(self.algorithm, self.options))  # type: ignore[attr-defined]
        problems += backbone_problems(self.start, self.size)  # type: ignore[attr-defined]
        try:
            settings_of(self, _made_up(self)).check()
        except InvalidInput as error:
            problems += error.problems
        if problems:
            raise Unworkable(problems)
        return self


def settings_of(params: Params, classes: Iterable[str]) -> TrainSettings:
    """The method's settings, of the step's parameters and the classes of the labels."""
    chosen = {name: getattr(params, name) for name in type(params).model_fields}
    wanted = (_good_one(classes, chosen["good"]),) if chosen["algorithm"] == ONE_CLASS else classes
    names, values = in_order(wanted, chosen.pop("values"))
    return TrainSettings(classes=names, values=values, **chosen)


def refuse_classes(classes: Iterable[str], params: Mapping[str, Any], name: str) -> None:
    """What is wrong with the classes of labels, beside parameters that are well formed; known before anything runs."""
    names = set(classes)
    if params.get("algorithm") == ONE_CLASS:
        _good_one(names, str(params.get("good", "")))
    elif len(names) < LEAST:
        raise too_few(len(names), name)
    elif values := params.get("values"):
        found, numbers = in_order(names, values)
        if len(numbers) != len(found):
            raise InvalidInput(
                f"values has {len(numbers)} numbers for {len(found)} classes of the labels: {', '.join(found[:10])}.",
                hint="Give each class its number.",
            )


def _good_one(classes: Iterable[str], good: str) -> str:
    """The class of the good parts: the one that is named, or the only one."""
    names = sorted(set(classes))
    if good and good not in names:
        raise unnamed_good(good, names)
    if not good and len(names) != 1:
        raise InvalidInput(
            f"The labels name {len(names)} classes ({', '.join(names[:5])}); '{ONE_CLASS}' learns from the good one.",
            hint="Say which it is with the parameter 'good'; labels of the others are then not learnt from.",
        )
    return good or names[0]


def in_order(classes: Iterable[str], values: Values) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The classes as the model numbers them, with their values: by name, or by value where they have values."""
    names = sorted(set(classes))
    if not values:
        return tuple(names), ()
    if isinstance(values, dict):
        problems = [f"values has no number for the class '{name}'." for name in names if name not in values]
        problems += [f"values names '{name}', which no label names." for name in values if name not in names]
        if problems:
            raise InvalidInput("The values of the classes cannot be used.", problems=problems)
        names.sort(key=values.__getitem__)
        return tuple(names), tuple(values[name] for name in names)
    if without := [name for name in names if not _NUMBER.search(name)]:
        raise InvalidInput(
            f"values is a list, and the order of the classes is not clear: '{without[0]}' has no number in its name.",
            hint=f"Name the classes: {','.join(f'{name}=...' for name in names[:3])}",
        )
    names.sort(key=lambda name: [float(number) for number in _NUMBER.findall(name)])
    return tuple(names), tuple(values)


def _made_up(params: Any) -> tuple[str, ...]:
    """Classes to check the other parameters with, before there are labels."""
    values: Values = params.values
    if params.algorithm == ONE_CLASS:
        return (params.good or "good",)
    return tuple(values) if isinstance(values, dict) else tuple(f"{place}" for place in range(len(values) or 2))


def _fields() -> dict[str, Any]:
    """The parameters are the method's own settings, with its defaults; only the classes come from the labels."""
    hints = get_type_hints(TrainSettings) | {"values": Values}
    declared = {}
    for field in fields(TrainSettings):
        if field.name != "classes":
            made = field.default_factory
            default = Field(field.default) if made is MISSING else Field(default_factory=made)
            declared[field.name] = (hints[field.name], default)
    return declared


_IN_MEMORY = 512 << 20  # bytes of images that are copied there; a training asks for six times that
TrainParams: type[Params] = create_model("TrainParams", __base__=_Checked, **_fields())


@step(
    "train",
    methods=("seedbed.methods.learn", "seedbed.assets.zoo"),
    resources=Resources(cpus=2, memory=3 << 30),
    device_matters=True,
    seed_matters=True,
)
def train_model(
    decoded: Decoded,
    labels: Labels,
    params: TrainParams,
    run: RunContext,
    holdout: Labels | None = None,
    weights: Weights | Start | None = None,
) -> Model:
    """Trains a model on a few labels and the unlabelled rest; images of `holdout` are not used in any way."""
    given = decoded.numbered(labels.rows())
    kept_out = set(decoded.numbered(holdout.rows())) if holdout else set()
    if both := sorted(set(given) & kept_out):
        raise InvalidInput(f"{len(both)} images of 'labels' are also in 'holdout', such as {decoded.files[both[0]]}.")
    settings = _shortened(settings_of(params, given.values()), weights)
    given = {row: klass for row, klass in given.items() if klass in settings.classes}
    used = np.array([row for row in range(len(decoded.images)) if row not in kept_out])
    pixels = _rows_of(decoded.pixels, used, run.folder / "pixels.npy", mapped=settings.ranks > 1)
    start = weights.kept if weights and settings.weights == "pretrained" else None
    trained = METHODS.get("train")(pixels, _numbers(given, used, settings.classes), settings, run, start)
    folder = run.folder / "model-bundle"
    trained.model.save(folder / "model")
    values: Mapping[str, tuple[Any, ...]] = {
        "classes": tuple(trained.model.classes),
        "size": (int(trained.model.size),),
        "architecture": (str(trained.model.architecture),),
        "started_from": (str(trained.model.started_from),),
        "steps": (int(trained.steps),),
        "planned": (int(trained.planned),),
        "best_step": (int(trained.step),),
        "labels": (len(given),),
        "images": (len(used),),
        **_rate(trained),
        **{name: (float(value),) for name, value in trained.metrics.items()},
    }
    model = Model(folder, values)
    model.add_seen([decoded.images[row] for row in used])
    model.add_curve(trained.curve)
    return model


def _shortened(settings: TrainSettings, weights: Weights | Start | None) -> TrainSettings:
    """As many of the steps as are surely enough from weights that a ranking chose."""
    share = weights.share if isinstance(weights, Start) else 1.0
    return replace(settings, steps=max(1, round(settings.steps * share)))


def _rate(trained: Any) -> dict[str, tuple[Any, ...]]:
    """The learning rate that was taken, and why; what learns from good parts alone takes none."""
    if not trained.rate:
        return {}
    return {"learning_rate": (float(trained.rate),), "rate_reason": (str(trained.rate_reason),)}


def _numbers(given: Mapping[int, str], used: NDArray[np.int64], classes: Sequence[str]) -> NDArray[np.int64]:
    number = {klass: place for place, klass in enumerate(classes)}
    return np.array([number[given[row]] if row in given else UNLABELLED for row in used.tolist()], dtype=np.int64)


def _rows_of(
    pixels: NDArray[np.uint8], used: NDArray[np.int64], file: Path, *, mapped: bool = False
) -> NDArray[np.uint8]:
    """Those images: all of them as they lie on disk, some as a copy; a large one, or a `mapped` one, lies on disk."""
    if len(used) == len(pixels):
        return pixels
    if not mapped and pixels[:1].nbytes * len(used) <= _IN_MEMORY:
        return pixels[used]
    copy = np.lib.format.open_memmap(file, mode="w+", dtype=pixels.dtype, shape=(len(used), *pixels.shape[1:]))
    for start in range(0, len(used), _AT_ONCE):
        copy[start : start + _AT_ONCE] = pixels[used[start : start + _AT_ONCE]]
    copy.flush()
    return DecodedCache.open(file).pixels
