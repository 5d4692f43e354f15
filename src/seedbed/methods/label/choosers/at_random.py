"""Any image is as good as any other: what the other choosers are measured against."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.choose import Choices


@dataclass(frozen=True)
class AtRandom:
    """Images at random."""

    def choose(self, of: Choices, count: int) -> NDArray[np.int64]:
        return np.random.default_rng([of.seed, len(of.labelled())]).permutation(of.free())[:count]
