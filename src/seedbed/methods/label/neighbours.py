"""The nearest neighbours of embeddings."""

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
_AT_ONCE = 1024  # rows that are compared with all others at a time


def nearest(rows: Rows, count: int) -> NDArray[np.int64]:
    """The numbers of the rows nearest to each row of length 1, itself left out; in no order."""
    kept = min(count, len(rows) - 1)
    found = np.empty((len(rows), kept), dtype=np.int64)
    for start in range(0, len(rows), _AT_ONCE):
        alike = rows[start : start + _AT_ONCE] @ rows.T
        alike[np.arange(len(alike)), np.arange(start, start + len(alike))] = -np.inf
        found[start : start + _AT_ONCE] = _largest(alike, kept)
    return found


def nearest_among(rows: Rows, others: Rows, count: int) -> NDArray[np.int64]:
    """The numbers of the other rows nearest to each row of length 1; in no order."""
    kept = min(count, len(others))
    found = np.empty((len(rows), kept), dtype=np.int64)
    for start in range(0, len(rows), _AT_ONCE):
        found[start : start + _AT_ONCE] = _largest(rows[start : start + _AT_ONCE] @ others.T, kept)
    return found


def _largest(alike: Rows, count: int) -> NDArray[np.int64]:
    return np.argpartition(-alike, max(count - 1, 0), axis=1)[:, :count]
