"""A signature: what similarity keeps of a data set instead of its images."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from torch import Tensor

from seedbed.base.errors import Damaged, InvalidInput
from seedbed.methods.similarity.sketch import Sketch
from seedbed.methods.similarity.units import UnitSettings, cut

Kept = NDArray[np.uint8] | NDArray[np.float16]
_VERSION = "1"
# Of a class's covariance, in Gaussian label distances. 100 of 200 directions leave an error of 0.08 % in the distance
# of photographs at 28 px (benchmarks/otdd.py).
_RANK = 100


@dataclass(frozen=True)
class Unit:
    """One slice of a data set: its images' features and their classes, sorted by class.

    Features are kept in a byte each where they are pixels, and in half precision else; `rows` gives them as numbers.
    """

    features: Kept  # images x dimensions
    labels: NDArray[np.int64]

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
class Signature:
    """A data set in a few units, and a sketch of it that 1,000 others can be compared with in seconds.

    `space` says what the features are ("pixels-28", or a card and the side of the images): distances are defined
    between signatures of one space only.
    """

    name: str
    space: str
    count: int  # images in the whole data set
    classes: tuple[str, ...]
    units: tuple[Unit, ...]
    sketch: Sketch

    def save(self, path: Path) -> None:
        """Write it as safetensors."""
        tensors = {f"sketch.{name}": value for name, value in vars(self.sketch).items()}
        for number, unit in enumerate(self.units):
            tensors |= {f"units.{number}.features": unit.features, f"units.{number}.labels": unit.labels}
        about = {"name": self.name, "space": self.space, "count": self.count, "classes": self.classes}
        save_file(tensors, path, {"signature": _VERSION, "about": json.dumps(about)})

    @classmethod
    def load(cls, path: Path) -> "Signature":
        """Read what `save` wrote."""
        with _opened(path) as (file, about):
            count = sum(name.endswith(".features") for name in _names(file))
            units = tuple(
                Unit(file.get_tensor(f"units.{number}.features"), file.get_tensor(f"units.{number}.labels"))
                for number in range(count)
            )
            known = (about["name"], about["space"], about["count"], tuple(about["classes"]))
            return cls(*known, units, _sketch_in(file))


def glimpse(path: Path) -> tuple[str, Sketch]:
    """The space and the sketch of a signature, without its units: what a first look at 1,000 of them takes."""
    with _opened(path) as (file, about):
        return str(about["space"]), _sketch_in(file)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The file and what it says of itself; whatever is wrong with it, it is damaged."""
    try:
        with safe_open(path, "numpy") as file:
            yield file, json.loads((file.metadata() or {})["about"])
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise Damaged(f"{path} is no signature of a data set.", hint="Make it anew: seedbed zoo rank.") from error


def _sketch_in(file: Any) -> Sketch:
    return Sketch(**{name[7:]: file.get_tensor(name) for name in _names(file) if name.startswith("sketch.")})


def _names(file: Any) -> list[str]:
    return list(file.keys())


def signature_of(
    features: NDArray[np.generic],
    labels: Sequence[int] | NDArray[np.integer],
    classes: Sequence[str],
    *,
    name: str,
    space: str,
    settings: UnitSettings | None = None,
    seed: int = 0,
) -> Signature:
    """The signature of a data set whose images have these features; labels are places in `classes`.

    Pixels come as bytes (see `pixel_features`), other features as floats.
    """
    kept, known = _checked(features, np.asarray(labels, np.int64), len(classes), name)
    slices = cut(len(known), settings or UnitSettings(), seed=seed)
    units = [_unit(kept, known, rows) for rows in slices]
    sketch = Sketch.of(units[0].rows.numpy(), units[0].groups.numpy(), space)
    return Signature(name, space, len(known), tuple(classes), tuple(units), sketch)


def _factor(centred: Tensor) -> Tensor:
    """The largest directions of a class, scaled by their spread; found among its images, as these are the fewer."""
    images = len(centred)
    products = (centred @ centred.T).double().numpy()
    _, directions = scipy.linalg.eigh(products, subset_by_index=(max(0, images - _RANK), images - 1))
    return torch.from_numpy(directions.T / np.sqrt(max(1, images - 1))).float() @ centred


def _unit(kept: Kept, labels: NDArray[np.int64], rows: NDArray[np.int64]) -> Unit:
    ordered = rows[np.argsort(labels[rows], kind="stable")]
    return Unit(kept[ordered], labels[ordered])


def _checked(
    features: NDArray[np.generic], labels: NDArray[np.int64], classes: int, name: str
) -> tuple[Kept, NDArray[np.int64]]:
    """Features as they are kept, and labels; what cannot be compared is refused."""
    if features.ndim != 2 or len(features) != len(labels):
        raise InvalidInput(
            f"'{name}' has features of shape {features.shape} for {len(labels)} labels.",
            hint="Give one row of features per labelled image.",
        )
    if not len(labels):
        raise InvalidInput(
            f"'{name}' has no labelled image, so that nothing can be compared with it.",
            hint="Label a few images first, or bring a data set that has labels.",
        )
    if labels.min() < 0 or labels.max() >= classes:
        raise InvalidInput(f"'{name}' has labels outside of its {classes} classes.", hint="Count classes from 0.")
    if features.dtype == np.uint8:
        return features.astype(np.uint8, copy=False), labels
    wrong = int((~np.isfinite(features.astype(np.float32))).any(axis=1).sum())
    if wrong:
        raise InvalidInput(
            f"{wrong} of {len(features)} images of '{name}' have features that are no numbers.",
            hint="Check the weights that they were computed with, and the images.",
        )
    return features.astype(np.float16), labels
