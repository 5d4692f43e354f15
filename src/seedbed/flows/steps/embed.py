"""What a network sees of each image."""

from collections.abc import Sequence
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
from seedbed.flows.kinds.embeddings import TUNED_FILE, Embeddings
from seedbed.flows.kinds.models import Weights
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
def embed_images(
    decoded: Decoded,
    params: EmbedParams,
    run: RunContext,
    earlier: Embeddings | None = None,
    weights: Weights | None = None,
) -> Embeddings:
    """Looks at every image once, so that alike ones can be found; not at those that `earlier` has seen in this way."""
    if not decoded.records:
        raise InvalidInput(f"'{decoded.name}' has no images.")
    rows = _rows_of(earlier, decoded.images, params) if earlier and not weights else None
    fresh = np.flatnonzero(np.isnan(rows[:, 0])) if rows is not None else np.arange(len(decoded.images))
    looked = _look(decoded.pixels, fresh, params, run, weights)
    if rows is None:
        rows = looked
    elif len(fresh):
        rows[fresh] = looked
    return Embeddings.write(run.folder / "embeddings", rows, decoded.images, card=params.card, size=params.size)


def _rows_of(earlier: Embeddings, images: Sequence[str], params: EmbedParams) -> NDArray[np.float32] | None:
    """The rows of images that were looked at before in the same way, and no numbers for the others."""
    if not earlier.same_eyes(params.card, params.size):
        return None
    places = {image: row for row, image in enumerate(earlier.images)}
    rows = np.full((len(images), earlier.rows.shape[1]), np.nan, dtype=np.float32)
    both = [(row, places[image]) for row, image in enumerate(images) if image in places]
    if both:
        here, there = np.array(both).T
        rows[here] = earlier.rows[there]
    return rows


def _look(
    pixels: NDArray[np.uint8], fresh: NDArray[np.int64], params: EmbedParams, run: RunContext, weights: Weights | None
) -> NDArray[np.float32]:
    """Part by part, so that work which has to make room goes on from its last whole part."""
    tell = stoppable(run, "looking at the images")
    parts = [np.load(run.resume / _KEPT, allow_pickle=False)] if run.resume else []
    for start in range(sum(map(len, parts)), len(fresh), _PART):
        some = fresh[start : start + _PART]
        part = METHODS.get("embed")(
            pixels[some[0] : some[-1] + 1] if len(some) == some[-1] - some[0] + 1 else pixels[some],
            card=params.card,
            size=params.size,
            weights=weights.file("weights", TUNED_FILE) if weights else None,
            device=params.device,
            on_progress=lambda done, _, before=start: tell(before + done, len(fresh)),
        )
        parts.append(part)
        if start + _PART < len(fresh):
            run.checkpoint(partial(_keep, np.concatenate(parts)), step=start + _PART)
    return np.concatenate(parts) if parts else np.empty((0, 0), np.float32)


def _keep(rows: NDArray[np.float32], folder: Path) -> None:
    np.save(folder / _KEPT, rows, allow_pickle=False)
