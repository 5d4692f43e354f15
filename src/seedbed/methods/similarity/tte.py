"""How long training from some weights is estimated to take (equation 5 of domain-aware MTaaS).

The paper's sections III and IV-E disagree on whether a large NormDSD is near or far. Here, as in section IV-E, it is a
similarity: 1 for the nearest weights, 0 for the furthest. The estimates compare weights; their unit is that of `size`.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seedbed.base.errors import InvalidInput

FLOOR = 0.25  # of the furthest weights' time that the nearest still take: the paper saw starts up to 3.5 times faster

Floats = NDArray[np.float64]


def training_time(similarity: float, size: float, frequency: float = 1.0, *, floor: float = FLOOR) -> float:
    """Equation 5 with a floor: (1 - (1 - floor) similarity) x size x frequency.

    As written, (1 - similarity) x size x frequency, the nearest weights cost nothing however many images there are, so
    that a queue of small jobs and one of large jobs look alike. With a floor of 0 it is the equation as written.
    """
    return float(training_times(similarity, size, frequency, floor=floor))


def training_times(
    similarities: ArrayLike, sizes: ArrayLike, frequencies: ArrayLike = 1.0, *, floor: float = FLOOR
) -> Floats:
    """The same for many at once; similarities (jobs, weights) go with sizes and frequencies (jobs, 1)."""
    alike = _checked("similarities", similarities, most=1.0)
    share = 1 - (1 - float(_checked("floor", floor, most=1.0))) * alike
    return np.asarray(share * _checked("sizes", sizes) * _checked("frequencies", frequencies))


def expected_times(epoch_ratios: ArrayLike, sizes: ArrayLike, frequencies: ArrayLike = 1.0) -> Floats:
    """The same from what a predictor expects: epochs against the baseline's x size x frequency.

    The baseline's own estimate has a ratio of 1, so that both can stand in one choice of what to keep.
    """
    return np.asarray(
        _checked("epoch_ratios", epoch_ratios) * _checked("sizes", sizes) * _checked("frequencies", frequencies)
    )


def similarities_of(ratios: ArrayLike) -> Floats:
    """NormDSD as a similarity: of distances over the baseline's, in the last axis, the smallest is 1 and the largest 0.

    Where all are equal none is nearer than another, and each is 1.
    """
    far = _checked("ratios", ratios)
    if not far.size:
        return far
    least, most = far.min(axis=-1, keepdims=True), far.max(axis=-1, keepdims=True)
    return np.asarray(1 - (far - least) / np.where(most > least, most - least, 1.0))


def _checked(name: str, values: ArrayLike, *, most: float = np.inf) -> Floats:
    given: NDArray[Any] = np.asarray(values, dtype=np.float64)
    wrong = given[~(np.isfinite(given) & (given >= 0) & (given <= most))]
    if wrong.size:
        allowed = f"a number from 0 to {most:g}" if most < np.inf else "a number of 0 or more"
        raise InvalidInput(f"{name} holds {wrong.flat[0]}; it must be {allowed}.")
    return given
