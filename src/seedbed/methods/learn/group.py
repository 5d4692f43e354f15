"""The ranks that train one model together, as an algorithm sees them."""

from collections.abc import Iterable
from typing import Protocol

import torch
from torch import Tensor, nn


class Group(Protocol):
    """All ranks of a run. Every rank calls the same methods in the same order; results are the same on all of them.

    Ranks hold equal slices of one global batch, in the order of their numbers, so that the mean of a slice's mean is
    the mean of the whole.
    """

    @property
    def rank(self) -> int:
        """This one's number."""
        ...

    @property
    def ranks(self) -> int:
        """How many there are."""
        ...

    def mean(self, value: Tensor) -> Tensor:
        """The mean of a tensor over the ranks; its gradient flows into this rank's share alone.

        Gradients are averaged over the ranks, so a function of the mean gets the gradient of the global batch.
        """
        ...

    def gather(self, value: Tensor) -> Tensor:
        """The slices of all ranks one after another, without gradient."""
        ...

    def align(self, tensors: Iterable[Tensor]) -> None:
        """Give all ranks the first one's values, in place."""
        ...

    def wrap(self, network: nn.Module) -> nn.Module:
        """The network to train with: the gradients of its weights become their mean over the ranks."""
        ...


class Alone:
    """One rank: its slice is the whole."""

    rank = 0
    ranks = 1

    def mean(self, value: Tensor) -> Tensor:
        return value

    def gather(self, value: Tensor) -> Tensor:
        return value.detach()

    def align(self, tensors: Iterable[Tensor]) -> None:
        pass

    def wrap(self, network: nn.Module) -> nn.Module:
        return network


ALONE = Alone()


def own_slice(whole: Tensor, group: Group) -> Tensor:
    """This rank's part of a tensor that covers the global batch."""
    count = len(whole) // group.ranks
    return whole[group.rank * count : (group.rank + 1) * count]


def shared_out(whole: Tensor, group: Group) -> Tensor:
    """This rank's part of a tensor of any length: the last row is repeated until all parts are alike."""
    padded = len(whole) + -len(whole) % group.ranks
    return own_slice(whole[torch.arange(padded).clamp(max=len(whole) - 1)], group)
