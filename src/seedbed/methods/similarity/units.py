"""Units: the slices of a data set that distances are averaged over."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput

# (units that a data set has at least, units taken of it). The paper says "stair-shaped" and gives no stairs; these
# keep the pairs of two data sets at 16 at most. benchmarks/dsd_robustness.py shows how little they matter.
STAIRS = ((1, 1), (2, 2), (5, 3), (10, 4))


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
