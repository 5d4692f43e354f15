"""What similarity keeps of a data set instead of its images."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.zoo import SIGNATURE_FILE, Signature
from seedbed.flows.step import Params, step
from seedbed.flows.steps.embed import CARD, SIZE
from seedbed.flows.steps.methods import METHODS
from seedbed.flows.steps.progress import stoppable

Space = Literal["features", "pixels"]
SHARPEST = 64  # px that a network is shown at most: else images that were decoded larger would look like others


class SignatureParams(Params):
    """What of the images is compared."""

    space: Space = Field("features", description="What a network sees of the images, or their pixels at 28 px.")
    most: int = Field(8000, ge=2, le=1_000_000, description="Labelled images that are looked at, chosen by chance.")
    name: str = Field("", max_length=500, description="The data set's name.")


@step(
    "signature",
    methods=("seedbed.methods.similarity", "seedbed.methods.label.embed", "seedbed.assets.zoo"),
    resources=Resources(cpus=1, memory=2 << 30),
)
def make_signature(
    decoded: Decoded, params: SignatureParams, run: RunContext, labels: Labels | None = None
) -> Signature:
    """Keeps of a labelled data set what it can be compared by, so that its images need not be looked at again."""
    known = decoded.classes_by_row(labels.rows() if labels else None)
    data = params.name or decoded.name.removesuffix(".decoded")
    if not known:
        raise InvalidInput(f"'{data}' has no labelled image.", hint="Label a few images, or name its labels.")
    rows = np.array(sorted(known))
    chosen = np.sort(np.random.default_rng(0).permutation(rows)[: params.most])
    classes = sorted({known[int(row)] for row in chosen})
    numbers = [classes.index(known[int(row)]) for row in chosen]
    if params.space == "pixels":
        features, space = METHODS.get("pixel-features")(decoded.pixels, rows=chosen), METHODS.get("pixel-space")()
    else:
        pixels = _shown(decoded.pixels, chosen)
        side = pixels.shape[1]
        looking = stoppable(run, "looking at the images")
        features = METHODS.get("embed")(pixels, card=CARD, size=SIZE, device="cpu", on_progress=looking)
        space = f"{CARD}@{SIZE}" if side == SHARPEST else f"{CARD}@{SIZE} of {side} px"
    found = METHODS.get("signature-of")(features, numbers, classes, name=data, space=space, count=len(known))
    folder = run.folder / "signature-bundle"
    (folder / "signature").mkdir(parents=True)
    found.save(folder / "signature" / SIGNATURE_FILE)
    return Signature.of(folder, data=data, space=space, images=len(known), classes=classes)


def _shown(pixels: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Some images as the network is shown them."""
    if pixels.shape[1] <= SHARPEST:
        return pixels[rows]
    small: NDArray[np.uint8] = METHODS.get("pixel-features")(pixels, SHARPEST, rows=rows)
    return small.reshape(-1, SHARPEST, SHARPEST, 3)
