"""Classes with an order, such as bins of a percentage: what answers on them say as a number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def expected_values(probabilities: NDArray[np.floating[Any]], values: Sequence[float]) -> NDArray[np.float64]:
    """The value to be expected of every image: the mean of its classes' values, by probability (images x classes)."""
    means: NDArray[np.float64] = np.asarray(probabilities, np.float64) @ np.asarray(values, np.float64)
    return means
