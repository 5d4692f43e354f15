"""The running average of a network's weights: steadier than the network, and what is kept in the end."""

import copy

import torch
from torch import Tensor, nn


class Average:
    """An exponential moving average of a network's weights and statistics."""

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.network = copy.deepcopy(network).eval().requires_grad_(False)
        self._decay = decay

    def pace(self, step: int) -> float:
        """How far to move after a step (from 0): 1 - d in average = d * average + (1 - d) * network.

        In the first steps d is smaller, (1 + step) / (10 + step), so that the start is forgotten soon.
        """
        return 1 - min(self._decay, (1 + step) / (10 + step))

    @torch.no_grad()
    def update(self, network: nn.Module, pace: Tensor) -> None:
        """Move that far towards the network."""
        ours, theirs = _floats(self.network), _floats(network)
        away = torch._foreach_sub(theirs, ours)
        torch._foreach_mul_(away, pace)
        torch._foreach_add_(ours, away)


def _floats(network: nn.Module) -> list[Tensor]:
    values = [*network.parameters(), *network.buffers()]
    return [value.detach() for value in values if value.is_floating_point()]
