"""A network that gets used to the user's own images, without any label."""

import shutil
from typing import Literal

from pydantic import Field

from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.embeddings import TUNED_FILE
from seedbed.flows.kinds.models import Weights
from seedbed.flows.step import Params, step
from seedbed.flows.steps.embed import CARD, SIZE
from seedbed.flows.steps.methods import METHODS


class TuneParams(Params):
    """How long, and from where."""

    card: str = Field(CARD, description="The weights to start from: a card's name.")
    size: int = Field(SIZE, ge=16, le=1024, description="Side of the images in pixels.")
    steps: int = Field(200, ge=1, le=1_000_000, description="How many steps.")
    batch: int = Field(64, ge=2, le=65_536, description="Images of one step.")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="Where it runs.")


@step(
    "tune",
    methods=("seedbed.methods.label", "seedbed.methods.learn", "seedbed.assets.zoo"),
    resources=Resources(cpus=2, memory=3 << 30),
    device_matters=True,
    seed_matters=True,
)
def tune_weights(decoded: Decoded, params: TuneParams, run: RunContext) -> Weights:
    """Lets a network get used to images that are unlike photographs, without labels: `embed` takes its weights."""
    settings = METHODS.get("tune-settings")(**params.model_dump())
    made = METHODS.get("tune")(decoded.pixels, settings, run)
    place = run.folder / "weights-bundle" / "weights"
    place.mkdir(parents=True)
    shutil.move(made, place / TUNED_FILE)
    return Weights(place.parent, {"card": (params.card,), "size": (params.size,), "steps": (params.steps,)})
