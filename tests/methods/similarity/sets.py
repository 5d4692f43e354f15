"""Small data sets with known geometry."""

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.similarity.signature import Signature, signature_of
from seedbed.methods.similarity.units import UnitSettings


def blobs(
    count: int, classes: int = 3, dimensions: int = 6, *, shift: float = 0.0, seed: int = 0, spread: float = 0.3
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Classes around fixed centres, all moved by `shift` along every axis."""
    centres = np.random.default_rng(7).normal(size=(classes, dimensions))
    random = np.random.default_rng(seed)
    labels = np.arange(count) % classes
    points = centres[labels] + spread * random.normal(size=(count, dimensions)) + shift
    return points.astype(np.float32), labels


def signed(
    name: str, count: int = 60, classes: int = 3, *, shift: float = 0.0, seed: int = 0, size: int = 2000
) -> Signature:
    """The signature of such a set."""
    points, labels = blobs(count, classes, shift=shift, seed=seed)
    names = [f"class {number}" for number in range(classes)]
    return signature_of(points, labels, names, name=name, space="made-up", settings=UnitSettings(size))
