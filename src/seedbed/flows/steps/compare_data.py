"""How far apart several data sets are."""

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.zoo import Signature, Similarity
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS
from seedbed.flows.steps.progress import stoppable


@step("compare-data", methods=("seedbed.methods.similarity",), resources=Resources(cpus=1, memory=2 << 30))
def compare_data(params: Params, run: RunContext, **signatures: Signature) -> Similarity:
    """Measures the distance of every pair of data sets by their signatures."""
    if len(signatures) < 2:
        raise InvalidInput(f"Of the data sets {len(signatures)} can be compared; it takes two.")
    order = sorted(signatures)
    found = [METHODS.get("signature").load(signatures[name].path) for name in order]
    telling = stoppable(run, "comparing data sets")
    distances = METHODS.get("distance-matrix")(found, workers=1, on_progress=telling)
    facts = {
        "names": [one.name for one in found],
        "inputs": order,
        "images": [signatures[name].images for name in order],
        "space": found[0].space,
        "distances": np.round(distances, 6).tolist(),
        "shares": np.round(shares_of(distances), 6).tolist(),
    }
    return Similarity.write(run.folder / "similarity-bundle", facts)


def shares_of(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row over its largest distance: 0 for the data set itself, 1 for the farthest from it."""
    largest = distances.max(axis=1, keepdims=True)
    return distances / np.where(largest > 0, largest, 1.0)
