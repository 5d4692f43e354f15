"""Units: the slices of a data set that distances are averaged over."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import torch
from numpy.typing import NDArray
from torch import Tensor

from seedbed.base.errors import InvalidInput

# (units that a data set has at least, units taken of it). The paper says "stair-shaped" and gives no stairs; these
# keep the pairs of two data sets at 16 at most. benchmarks/dsd_robustness.py shows how little they matter.
STAIRS = ((1, 1), (2, 2), (5, 3), (10, 4))
# Of a class's covariance, in Gaussian label distances. 100 of 200 directions leave an error of 0.08 % in the distance
# of photographs at 28 px (benchmarks/otdd.py).
_RANK = 100

Kept = NDArray[np.uint8] | NDArray[np.float16]


@dataclass(frozen=True)
class UnitSettings:
    """How a data set is cut: images per unit, and how many units are taken of those that there are."""

    size: int = 2000
    stairs: tuple[tuple[int, int], ...] = STAIRS

    def __post_init__(self) -> None:
        """Refuse stairs that do not rise or that take more units than there are."""
        if self.size < 2:
            raise InvalidInput(f"A unit of {self.size} images has no distances.", hint="Use units of 2 images or more.")
        starts, taken = zip(*self.stairs, strict=True) if self.stairs else ((), ())
        rising = list(starts) == sorted(set(starts)) and list(taken) == sorted(taken)
        if not rising or starts[:1] != (1,) or any(not 0 < k <= n for n, k in self.stairs):
            raise InvalidInput(
                f"The stairs {self.stairs} do not lead from 1 unit upwards.",
                hint="Give pairs (units that there are at least, units taken), rising, the first for 1 unit.",
            )

    def taken(self, units: int) -> int:
        """How many of so many units are taken."""
        return next(k for n, k in reversed(self.stairs) if units >= n)


def cut(count: int, settings: UnitSettings, *, seed: int = 0) -> list[NDArray[np.int64]]:
    """The rows of each unit that is taken of a shuffled data set; one smaller than a unit is one unit.

    Units are of equal size, so that the rest of a data set that does not divide is left out.
    """
    shuffled = np.random.default_rng(seed).permutation(count)
    units = max(1, count // settings.size)
    return [shuffled[start * settings.size : (start + 1) * settings.size] for start in range(settings.taken(units))]


@dataclass(frozen=True)
class Unit:
    """One slice of a data set: its images' features and their classes, sorted by class.

    Features are kept in a byte each where they are pixels, and in half precision else; `rows` gives them as numbers.
    """

    features: Kept  # images x dimensions
    labels: NDArray[np.int64]

    def part(self, rows: NDArray[np.int64]) -> "Unit":
        """Some of its images."""
        chosen = np.sort(rows)
        return Unit(self.features[chosen], self.labels[chosen])

    def same_as(self, other: "Unit") -> bool:
        """Whether the other holds the same images with the same labels."""
        return np.array_equal(self.labels, other.labels) and np.array_equal(self.features, other.features)

    @cached_property
    def rows(self) -> Tensor:
        """The features; pixels from 0 to 1."""
        values = torch.from_numpy(self.features.astype(np.float32))
        return values / 255 if self.features.dtype == np.uint8 else values

    @cached_property
    def groups(self) -> Tensor:
        """The place of each image's class among those that the unit has."""
        return torch.from_numpy(np.unique(self.labels, return_inverse=True)[1])

    @cached_property
    def spans(self) -> list[slice]:
        """Where each class lies."""
        ends = np.cumsum(np.bincount(self.groups)).tolist()
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    @cached_property
    def means(self) -> Tensor:
        """The mean of each class."""
        return torch.stack([self.rows[span].mean(0) for span in self.spans])

    @cached_property
    def variances(self) -> Tensor:
        """The trace of each class's covariance; 0 for a class of one image."""
        squares = ((self.rows - self.means[self.groups]) ** 2).sum(1)
        return torch.stack([squares[span].sum() / max(1, span.stop - span.start - 1) for span in self.spans])

    @cached_property
    def factors(self) -> list[Tensor]:
        """A matrix F (rank x dimensions) for each class, with F^T F its covariance, or the largest directions of it."""
        return [_factor(self.rows[span] - mean) for span, mean in zip(self.spans, self.means, strict=True)]


@dataclass(frozen=True)
class Placed:
    """A unit whose numbers lie on a device; each is carried there once, when it is first needed."""

    unit: Unit
    device: torch.device

    @cached_property
    def rows(self) -> Tensor:
        """As those of the unit."""
        return self.unit.rows.to(self.device)

    @cached_property
    def groups(self) -> Tensor:
        """As those of the unit."""
        return self.unit.groups.to(self.device)

    @cached_property
    def means(self) -> Tensor:
        """As those of the unit."""
        return self.unit.means.to(self.device)

    @cached_property
    def variances(self) -> Tensor:
        """As those of the unit."""
        return self.unit.variances.to(self.device)

    @cached_property
    def factors(self) -> list[Tensor]:
        """As those of the unit."""
        return [factor.to(self.device) for factor in self.unit.factors]


def _factor(centred: Tensor) -> Tensor:
    """The largest directions of a class, scaled by their spread; found among its images, as these are the fewer."""
    images = len(centred)
    if images <= _RANK:  # all directions: the images themselves are such a factor
        return centred / float(np.sqrt(max(1, images - 1)))
    products = (centred @ centred.T).double().numpy()
    _, directions = scipy.linalg.eigh(products, subset_by_index=(max(0, images - _RANK), images - 1))
    return torch.from_numpy(directions.T / np.sqrt(max(1, images - 1))).float() @ centred
