"""A sketch of a data set: a few numbers per class, from which 1,000 data sets are compared in seconds."""

import zlib
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seedbed.methods.similarity.transport import prices

_DIMENSIONS = 128  # of a random projection that all sketches of one space share
_RANK = 8  # of a class's covariance
_BLUR = 0.02  # of the transport between classes, in mean costs


@dataclass(frozen=True)
class Sketch:
    """Classes as Gaussians with a low-rank covariance, in a projection to few dimensions that keeps distances."""

    shares: NDArray[np.float32]  # of the images that each class has
    means: NDArray[np.float32]  # classes x dimensions
    factors: NDArray[np.float32]  # classes x rank x dimensions; a class's covariance is about factors.T @ factors
    variances: NDArray[np.float32]  # the trace of each class's covariance, all of it

    @classmethod
    def of(cls, features: NDArray[np.float32], groups: NDArray[np.int64], space: str) -> "Sketch":
        """The sketch of images with these features in classes 0, 1, ..."""
        projected = features @ _projection(features.shape[1], space)
        counts = np.bincount(groups).astype(np.float32)
        members = [projected[groups == group] for group in range(len(counts))]
        means = np.stack([rows.mean(axis=0) for rows in members])
        factors = np.stack([_factor(rows - mean) for rows, mean in zip(members, means, strict=True)])
        variances = np.array([rows.var(axis=0, ddof=min(1, len(rows) - 1)).sum() for rows in members], np.float32)
        return cls(counts / counts.sum(), means, factors, variances)

    @property
    def own(self) -> float:
        """How far it is from itself: by the directions of its classes that are left out."""
        left_out = np.maximum(self.variances - (self.factors**2).sum(axis=(1, 2)), 0)
        return float((self.shares * np.sqrt(4 * left_out)).sum())

    def distance(self, other: "Sketch") -> float:
        """About the distance between the data sets: transport of classes, at the cost of their own distance twice.

        Twice, as an image pays for its own way and for that of its label.
        """
        centres = ((self.means[:, None] - other.means) ** 2).sum(axis=-1)
        products = np.einsum("ard,bsd->abrs", self.factors, other.factors, optimize=True)
        fidelity = np.linalg.svd(products, compute_uv=False).sum(axis=-1)
        squared = np.maximum(centres + self.variances[:, None] + other.variances - 2 * fidelity, 0)
        return _transport(*(torch.from_numpy(part) for part in (np.sqrt(2 * squared), self.shares, other.shares)))


def _transport(cost: Tensor, ours: Tensor, theirs: Tensor) -> float:
    """The cost of moving classes onto classes, by their shares, along a plan that is nearly the cheapest."""
    blur = _BLUR * float(cost.mean())
    if not blur:
        return 0.0
    rows, columns = prices(cost, (16 * blur, 4 * blur, blur), rounds=20, shares=(ours, theirs))
    plan = ours[:, None] * theirs * ((rows[:, None] + columns - cost) / blur).exp()
    return float((plan * cost).sum() / plan.sum())


def _projection(dimensions: int, space: str) -> NDArray[np.float32]:
    random = np.random.default_rng(zlib.crc32(space.encode()))
    return random.standard_normal((dimensions, _DIMENSIONS), np.float32) / np.float32(np.sqrt(_DIMENSIONS))


def _factor(centred: NDArray[np.float32]) -> NDArray[np.float32]:
    """The largest directions of a class's covariance, as rows, filled up with zeros."""
    factor = np.zeros((_RANK, centred.shape[1]), np.float32)
    if len(centred) > 1:
        _, values, directions = np.linalg.svd(centred / np.sqrt(len(centred) - 1), full_matrices=False)
        kept = min(_RANK, len(values))
        factor[:kept] = values[:kept, None] * directions[:kept]
    return factor
