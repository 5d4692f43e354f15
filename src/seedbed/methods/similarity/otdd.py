"""OTDD: how far apart two labelled sets of images are, their labels included (Alvarez-Melis and Fusi, 2020)."""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.devices import choose_device
from seedbed.methods.similarity.label_distance import exact_distances, fidelities, gaussian_distances
from seedbed.methods.similarity.transport import entropic, exact
from seedbed.methods.similarity.units import Placed, Unit

Definition = Literal["paper", "reference"]
LabelDistance = Literal["gaussian", "exact"]
Outer = Literal["exact", "entropic"]
Noise = Literal["kept", "removed"]


@dataclass(frozen=True)
class Otdd:
    """Which distance, and how it is found.

    `definition`: "paper" moves images at sqrt(d^2 + W^2), where d is the distance of two images and W that of their
    classes (equations 1 and 2 of Zhang and Stewart); "reference" at (d^2 + W^2) / 2, as the authors of OTDD publish it.
    W is the 2-Wasserstein distance, of Gaussians around the classes or exact. Entropic transport is debiased, so that
    a set is at 0 from itself; its blur is in units of the mean cost.

    `device` is cpu, cuda or another that torch has here, or auto; what is exact is solved on the CPU anyway.
    `noise` is what the chance of sampling adds to the distance of two data sets (see `noise`): "kept" as both
    definitions have it, or "removed". The distance of two units has it always.
    """

    definition: Definition = "paper"
    labels: LabelDistance = "gaussian"
    outer: Outer = "exact"
    noise: Noise = "kept"
    blur: float = 0.001
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse words that mean nothing here, all at once."""
        given = (self.definition, self.labels, self.outer, self.noise)
        words = zip(given, (Definition, LabelDistance, Outer, Noise), strict=True)
        wrong = [
            f"'{word}' is none of {', '.join(get_args(kind))}" for word, kind in words if word not in get_args(kind)
        ]
        if not self.blur > 0:
            wrong.append(f"a blur of {self.blur} is not above 0")
        if wrong:
            raise InvalidInput(f"There is no such distance: {'; '.join(wrong)}.")

    @property
    def name(self) -> str:
        """What the distance of two units depends on, in words."""
        blur = f" at {self.blur:g}" if self.outer == "entropic" else ""
        return f"{self.definition}, labels {self.labels}, transport {self.outer}{blur}"

    def distance(self, ours: Unit, theirs: Unit) -> float:
        """The distance between two units; exactly 0 for one and the same, whatever rounding says."""
        one, other = self._placed(ours, theirs)
        if ours.same_as(theirs):
            return 0.0
        cost = self._cost(one, other)
        if self.outer == "exact":
            return exact(cost)
        blur = self.blur * float(cost.mean())
        if not blur:
            return 0.0
        own = [entropic(self._cost(unit, unit), blur) for unit in (one, other)]
        return max(0.0, entropic(cost, blur) - sum(own) / 2)

    def cost(self, ours: Unit, theirs: Unit) -> Tensor:
        """What it costs to move each image of one unit, with its label, onto each image of the other."""
        return self._cost(*self._placed(ours, theirs))

    def _placed(self, ours: Unit, theirs: Unit) -> tuple[Placed, Placed]:
        device = choose_device(self.device)
        return Placed(ours, device), Placed(theirs, device)

    def _cost(self, ours: Placed, theirs: Placed) -> Tensor:
        squared = squared_distances(ours.rows, theirs.rows)
        between = self._between_classes(ours, theirs, squared)
        total = squared.add_(between[ours.groups][:, theirs.groups])
        return total.sqrt_() if self.definition == "paper" else total.mul_(0.5)

    def _between_classes(self, ours: Placed, theirs: Placed, squared: Tensor) -> Tensor:
        """Squared distances between the classes of two units."""
        if self.labels == "exact":
            return exact_distances(squared, ours.unit.spans, theirs.unit.spans).to(squared)
        fidelity = fidelities(ours.factors, theirs.factors)
        centres = squared_distances(ours.means, theirs.means)
        return gaussian_distances(centres, (ours.variances, theirs.variances), fidelity)


DSD = Otdd(noise="removed")  # the one that data sets are ranked by


def squared_distances(a: Tensor, b: Tensor) -> Tensor:
    """Squared Euclidean distances between the rows of two matrices."""
    products = torch.mm(a, b.T).mul_(-2)
    return products.add_((a * a).sum(1)[:, None]).add_((b * b).sum(1)).clamp_min_(0)
