"""A signature: what similarity keeps of a data set instead of its images."""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from seedbed.base.errors import Damaged, InvalidInput
from seedbed.methods.similarity.noise import sampling_noise
from seedbed.methods.similarity.otdd import DSD, Otdd
from seedbed.methods.similarity.sketch import Sketch
from seedbed.methods.similarity.units import Kept, Unit, UnitSettings, cut

_VERSION = "1"
_LARGEST = float(np.finfo(np.float16).max)  # of a feature: they are kept in half precision


@dataclass(frozen=True)
class Glimpse:
    """What a first look at a data set takes: the space of its features, its sketch, and the noises that are known."""

    space: str
    sketch: Sketch
    noises: Mapping[str, float]

    def square(self, other: "Glimpse", how: Otdd) -> float:
        """About the square of their distance; below 0 where the noise is larger, so that it orders the nearest too."""
        square = self.sketch.distance(other.sketch) ** 2
        return square if how.noise == "kept" else square - (self._noise(how) + other._noise(how)) / 2

    def _noise(self, how: Otdd) -> float:
        """The square of the noise, if that is known, or of what the sketch is from itself, if that is more."""
        known = self.noises.get(how.name, 0.0)
        square = 2 * known if how.definition == "reference" else known**2  # the reference halves squares
        return max(square, self.sketch.own**2)


@dataclass(frozen=True)
class Signature:
    """A data set in a few units, and a sketch of it that 1,000 others can be compared with in seconds.

    `space` says what the features are ("pixels-28", or a card and the side of the images): distances are defined
    between signatures of one space only. `noises` are those that were asked for so far, by the distance's name.
    """

    name: str
    space: str
    count: int  # labelled images in the whole data set; older files say how many of them were looked at
    classes: tuple[str, ...]
    units: tuple[Unit, ...]
    sketch: Sketch
    noises: dict[str, float] = field(default_factory=dict, compare=False)

    @property
    def glimpse(self) -> Glimpse:
        """What of it a first look takes."""
        return Glimpse(self.space, self.sketch, self.noises)

    def noise(self, how: Otdd) -> float:
        """The distance between two samples of the data set, each of a unit's size; found once."""
        if how.name not in self.noises:
            self.noises[how.name] = sampling_noise(self.units, how.distance)
        return self.noises[how.name]

    def save(self, path: Path) -> None:
        """Write it as safetensors, with the noise that rankings ask for: no reader has to find that again."""
        self.noise(DSD)
        tensors = {f"sketch.{name}": value for name, value in vars(self.sketch).items()}
        for number, unit in enumerate(self.units):
            tensors |= {f"units.{number}.features": unit.features, f"units.{number}.labels": unit.labels}
        about = {"name": self.name, "space": self.space, "count": self.count, "classes": self.classes}
        about |= {"noises": self.noises}
        save_file(tensors, path, {"signature": _VERSION, "about": json.dumps(about)})

    @classmethod
    def load(cls, path: Path) -> "Signature":
        """Read what `save` wrote; where the noise is not in the file, it is found when it is asked for."""
        with _opened(path) as (file, about):
            count = sum(name.endswith(".features") for name in _names(file))
            units = tuple(
                Unit(file.get_tensor(f"units.{number}.features"), file.get_tensor(f"units.{number}.labels"))
                for number in range(count)
            )
            known = (about["name"], about["space"], about["count"], tuple(about["classes"]))
            return cls(*known, units, _sketch_in(file), _noises_in(about))


def glimpse(path: Path) -> Glimpse:
    """What of a signature a first look at 1,000 of them takes, without its units."""
    with _opened(path) as (file, about):
        return Glimpse(str(about["space"]), _sketch_in(file), _noises_in(about))


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


def _noises_in(about: dict[str, Any]) -> dict[str, float]:
    return {str(name): float(value) for name, value in about.get("noises", {}).items()}


def _names(file: Any) -> list[str]:
    return list(file.keys())


def signature_of(
    features: NDArray[np.generic],
    labels: Sequence[int] | NDArray[np.integer],
    classes: Sequence[str],
    *,
    name: str,
    space: str,
    count: int = 0,
    settings: UnitSettings | None = None,
    seed: int = 0,
) -> Signature:
    """The signature of a data set whose images have these features; labels are places in `classes`.

    Pixels come as bytes (see `pixel_features`), other features as floats. `count` is how many images the data set has
    where these are only some of them.
    """
    kept, known = _checked(features, np.asarray(labels, np.int64), len(classes), name)
    slices = cut(len(known), settings or UnitSettings(), seed=seed)
    units = [_unit(kept, known, rows) for rows in slices]
    sketch = Sketch.of(units[0].rows.numpy(), units[0].groups.numpy(), space)
    return Signature(name, space, max(count, len(known)), tuple(classes), tuple(units), sketch)


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
    sizes = np.abs(features.astype(np.float32))
    wrong = int((~np.isfinite(sizes)).any(axis=1).sum())
    if wrong:
        raise InvalidInput(
            f"{wrong} of {len(features)} images of '{name}' have features that are no numbers.",
            hint="Check the weights that they were computed with, and the images.",
        )
    if (most := float(sizes.max(initial=0.0))) > _LARGEST:
        raise InvalidInput(
            f"'{name}' has a feature of size {most:,.0f}; the largest that can be kept is {_LARGEST:,.0f}.",
            hint="Divide its features by a number, and those of all data sets that it is compared with by the same.",
        )
    return features.astype(np.float16), labels
