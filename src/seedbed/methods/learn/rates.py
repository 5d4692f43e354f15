"""The learning rate of a training that nobody set one for: the usual one, smaller where the batches are smaller.

A step's loss is the mean over its labelled images plus the mean over its unlabelled ones, so the noise of its gradient
goes as 1 / labelled + 1 / unlabelled: few labelled images make a step noisy, however many unlabelled ones it has.
Noisy steps at the usual rate make a network forget what it knew (benchmarks.ssl_batches).
"""

from dataclasses import dataclass

Batches = tuple[int, int]  # labelled and unlabelled images of a step


@dataclass(frozen=True)
class Usual:
    """A learning rate, and the batches that it was measured with."""

    rate: float
    batches: Batches

    def rate_for(self, batches: Batches) -> float:
        """The usual rate by the square root of the batches' share of the usual ones, in two digits; never more."""
        share = min(1.0, share_of(batches, self.batches))
        return self.rate if share == 1.0 else float(f"{self.rate * share**0.5:.1e}")

    def reason_for(self, batches: Batches) -> str:
        """Why it is that rate."""
        usual = f"the usual batches of {_shown(self.batches)}"
        if self.rate_for(batches) == self.rate:
            return "the usual one" if batches == self.batches else f"that of {usual}, since these make no noisier steps"
        return f"less than the {self.rate:g} of {usual}, since batches of {_shown(batches)} make noisier steps"


def share_of(batches: Batches, usual: Batches) -> float:
    """How large batches are beside the usual ones, counted by the noise of a step's gradient."""
    return _noise(usual) / _noise(batches)


def _noise(batches: Batches) -> float:
    return sum(1 / images for images in batches)


def _shown(batches: Batches) -> str:
    return f"{batches[0]} + {batches[1]}"
