"""Weights from elsewhere, or of a model that was trained here, as a card of the zoo."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from seedbed.assets.zoo.card import UNKNOWN, Preprocessing
from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.models import FACTS_FILE, Model, Weights
from seedbed.flows.kinds.zoo import Signature
from seedbed.flows.outside import fingerprint
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS

_TRAINED = "model.safetensors"


class ImportParams(Params):
    """Where the weights come from, and what is known of them."""

    name: str = Field(min_length=1, max_length=120, description="What the card is called.")
    path: str = Field("", description="A .safetensors file or a PyTorch state dict of the machine that runs the job.")
    hub: str = Field("", max_length=200, description="Or the name of a network of timm, whose hub has weights.")
    architecture: str = Field("", max_length=200, description="Of a file: the network of timm that it is for.")
    trained_on: str = Field("", max_length=500, description="The name of the data set behind them.")
    images: int = Field(0, ge=0, description="How many images that had.")
    accuracy: float | None = Field(None, ge=0, le=1, description="On images that they had not seen.")
    licence: str = Field(UNKNOWN, max_length=200, description="Under which the weights may be used.")
    lineage: dict[str, Any] = Field(default_factory=dict, description="What else is known of how they came about.")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.path and self.hub:
            raise ValueError("give either path (a file) or hub (a name), not both")
        if self.path and not self.architecture:
            raise ValueError("give the architecture of a file: a network of timm, such as resnet18")
        return self


def _paths(params: ImportParams) -> tuple[str, ...]:
    return (params.path,) if params.path else ()


def _outside(params: ImportParams) -> Mapping[str, str]:
    return {params.path: fingerprint(Path(params.path))} if params.path else {}


@step(
    "import-weights",
    methods=("seedbed.assets.zoo",),
    resources=Resources(cpus=1, memory=2 << 30),
    outside=_outside,
    paths=_paths,
)
def import_weights(
    params: ImportParams, run: RunContext, model: Model | None = None, signature: Signature | None = None
) -> Weights:
    """Takes weights into the zoo: from a file, timm's hub or a trained model, checked against the network."""
    if bool(model) + bool(params.path or params.hub) != 1:
        raise InvalidInput("Give one of a model, a file and a hub's name.", hint="seedbed zoo import --help")
    folder = run.folder / "weights-bundle"
    place = folder / "weights"
    run.report(step=0, total=1, doing="checking the weights")
    if model:
        kept = _of_model(model, signature, params, place)
    elif params.hub:
        kept = METHODS.get("keep-from-hub")(params.hub, place, _about(params, signature, f"hub:{params.hub}"))
    else:
        about = _about(params, signature, Path(params.path).name)
        kept = METHODS.get("keep-file")(Path(params.path), params.architecture, place, about)
    run.report(step=1, total=1, doing="kept")
    return Weights(folder, {"card": (kept.name,), "architecture": (kept.architecture,), "size": (kept.size,)})


def _about(params: ImportParams, signature: Signature | None, source: str, classes: tuple[str, ...] = ()) -> Any:
    named = str(signature.values["data"][0]) if signature else UNKNOWN
    return METHODS.get("about")(
        name=params.name,
        trained_on=params.trained_on or named,
        classes=classes,
        signature=signature.uuid if signature else "",
        images=params.images or (signature.images if signature else 0),
        accuracy=params.accuracy,
        licence=params.licence,
        source=source,
        lineage=params.lineage,
    )


def _of_model(model: Model, signature: Signature | None, params: ImportParams, place: Path) -> Any:
    facts = json.loads(model.file("model", FACTS_FILE).read_text())
    if facts.get("head"):
        raise InvalidInput(
            f"'{model.name}' learnt from good parts alone: its network was never trained.",
            hint="Start from the weights that it was made with.",
        )
    architecture = str(facts["architecture"])
    lineage = {"started_from": facts["started_from"], **params.lineage}
    about = _about(
        params.model_copy(update={"lineage": lineage}), signature, f"model {model.name}", tuple(facts["classes"])
    )
    made_at = model.size if METHODS.get("depends-on-size")(architecture) else None
    preprocessing = Preprocessing.from_json(facts["preprocessing"])
    path = model.file("model", _TRAINED)
    return METHODS.get("keep-file")(path, architecture, place, about, made_at=made_at, preprocessing=preprocessing)
