"""What a network sees of each image."""

from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.embeddings import Embeddings
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS
from seedbed.flows.steps.progress import stoppable

CARD, SIZE = "efficientnet_lite0.imagenet", 96  # the defaults of methods.label.embed, which needs torch to be asked
_PART = 10_000  # images between checkpoints
_KEPT = "rows.npy"


class EmbedParams(Params):
    """Whose eyes."""

    card: str = Field(CARD, description="The weights to look with: a card's name.")
    size: int = Field(SIZE, ge=16, le=1024, description="Side of the images in pixels, as the network sees them.")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="Where it runs.")


@step(
    "embed",
    methods=(
        "seedbed.methods.label.embed",
        "seedbed.methods.label.weights",
        "seedbed.methods.learn.folding",
        "seedbed.methods.learn.pixels",
        "seedbed.assets.zoo",
    ),
    resources=Resources(cpus=2, memory=2 << 30),
    device_matters=True,
)
def embed_images(decoded: Decoded, params: EmbedParams, run: RunContext) -> Embeddings:
    """Looks at every image once, so that alike images can be found."""
    if not decoded.records:
        raise InvalidInput(f"'{decoded.name}' has no images.")
    rows = _look(decoded.pixels, params, run)
    return Embeddings.write(run.folder / "embeddings", rows, card=params.card, size=params.size)


def _look(pixels: NDArray[np.uint8], params: EmbedParams, run: RunContext) -> NDArray[np.float32]:
    """Part by part, so that work which has to make room goes on from its last whole part."""
    tell = stoppable(run, "looking at the images")
    parts = [np.load(run.resume / _KEPT, allow_pickle=False)] if run.resume else []
    for start in range(sum(map(len, parts)), len(pixels), _PART):
        part = METHODS.get("embed")(
            pixels[start : start + _PART],
            card=params.card,
            size=params.size,
            device=params.device,
            on_progress=lambda done, _, before=start: tell(before + done, len(pixels)),
        )
        parts.append(part)
        if start + _PART < len(pixels):
            run.checkpoint(partial(_keep, np.concatenate(parts)), step=start + _PART)
    return np.concatenate(parts)


def _keep(rows: NDArray[np.float32], folder: Path) -> None:
    np.save(folder / _KEPT, rows, allow_pickle=False)
