"""What the labels so far say and what a trained model says, as one.

The model has seen far more than the head; the head knows every label, the newest too. So both have a say, wherever
the model has one.
"""

import numpy as np
from numpy.typing import NDArray

HEAD = 0.5  # the head's part; the model has the rest
_LEAST = 1e-6  # chance that a model leaves to any class that it knows: it can be sure of a mistake

Chances = NDArray[np.float32]


def together(head: Chances, model: Chances, *, part: float = HEAD) -> Chances:
    """Two tables of chances (images, classes) as one; NaN is where the model says nothing.

    Among the classes that the model knows, their weighted geometric mean: what one of them rules out is out. How
    likely it is that an image is of one of those at all, and how likely each other class is, the head says alone. An
    image that the model has not seen is the head's alone too.
    """
    knows = ~np.isnan(model)
    both = np.where(knows, head**part * np.maximum(model, _LEAST) ** (1 - part), 0)
    shared = np.where(knows, head, 0).sum(axis=1, keepdims=True)
    whole = both.sum(axis=1, keepdims=True)
    return np.where(knows & (whole > 0), both * (shared / np.maximum(whole, 1e-30)), head).astype(np.float32)


def in_classes(answers: Chances, places: NDArray[np.integer], classes: int) -> Chances:
    """A model's answers (images, its classes) by the classes of a project, of which each of its own has a place.

    -1: that class is gone. Of classes that have become one the chances are added; NaN: a class that it does not know.
    """
    kept = np.flatnonzero(places >= 0)
    moves = np.zeros((len(places), classes), dtype=np.float32)
    moves[kept, places[kept]] = 1
    moved = np.asarray(answers, dtype=np.float32) @ moves
    moved[:, ~moves.any(axis=0)] = np.nan
    return moved
