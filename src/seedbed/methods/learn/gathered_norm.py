"""BatchNorm with the statistics of all ranks: what torch's SyncBatchNorm is on GPUs, for CPUs.

Each rank normalises its slice with the mean and variance of the global batch, and gradients flow through both, so that
many ranks do what one would with the whole batch.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from seedbed.methods.learn.group import Group


class GatheredBatchNorm(_BatchNorm):
    """Stands in for a BatchNorm that learns its statistics, with its weights, its buffers and their names.

    `drop` and `act` are what timm lets follow inside the same module; in torch's own there is neither.
    """

    def __init__(self, norm: _BatchNorm, ranks: int) -> None:
        super().__init__(norm.num_features, norm.eps, norm.momentum, norm.affine, norm.track_running_stats)
        self.weight, self.bias = norm.weight, norm.bias
        self.running_mean, self.running_var = norm.running_mean, norm.running_var
        self.num_batches_tracked = norm.num_batches_tracked
        self.drop, self.act = (getattr(norm, name, nn.Identity()) for name in ("drop", "act"))
        self.train(norm.training)
        self._ranks = ranks

    def forward(self, images: Tensor) -> Tensor:
        over = [dim for dim in range(images.ndim) if dim != 1]
        shape = [1, -1] + [1] * (images.ndim - 2)
        values = images if images.dtype == torch.float64 else images.float()
        if self.training:
            mean, variance = self._statistics(values, over)
        else:
            assert self.running_mean is not None and self.running_var is not None
            mean, variance = self.running_mean, self.running_var
        scale = torch.rsqrt(variance + self.eps)
        normal = (values - mean.view(shape)) * (scale * self.weight if self.affine else scale).view(shape)
        if self.affine:
            normal = normal + self.bias.view(shape)
        after: Tensor = self.act(self.drop(normal.to(images.dtype)))
        return after

    def _statistics(self, values: Tensor, over: list[int]) -> tuple[Tensor, Tensor]:
        """Mean and variance of the global batch, of which every rank has as much."""
        own = torch.stack([values.mean(dim=over), values.var(dim=over, correction=0)])
        means, variances = _Gather.apply(own, self._ranks).unbind(dim=1)
        mean = means.mean(dim=0)
        variance = (variances + (means - mean).square()).mean(dim=0)
        if self.track_running_stats:
            count = values.numel() // values.shape[1] * self._ranks
            self._remember(mean.detach(), variance.detach() * (count / max(count - 1, 1)))
        return mean, variance

    @torch.no_grad()
    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        assert self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None
        self.num_batches_tracked.add_(1)
        pace = self.momentum if self.momentum is not None else 1.0 / float(self.num_batches_tracked)
        self.running_mean.lerp_(mean, pace)
        self.running_var.lerp_(variance, pace)


class _Gather(torch.autograd.Function):
    """The tensors of all ranks in a stack; backwards, what all ranks found for this one's, added up."""

    @staticmethod
    def forward(_ctx: Any, own: Tensor, ranks: int) -> Tensor:
        whole = own.new_empty((ranks * own.shape[0], *own.shape[1:]))
        dist.all_gather_into_tensor(whole, own.contiguous())
        return whole.view(ranks, *own.shape)

    @staticmethod
    def backward(_ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        total = gradient.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total[dist.get_rank()], None


def learns_statistics(network: nn.Module) -> bool:
    """Whether some BatchNorm of a network is in training."""
    return any(isinstance(module, _BatchNorm) and module.training for module in network.modules())


def gather_statistics(network: nn.Module, group: Group) -> nn.Module:
    """The network with every BatchNorm that is in training replaced; weights, buffers and names stay what they are."""
    for name, module in list(network.named_modules()):
        if isinstance(module, _BatchNorm) and module.training:
            parent, _, own = name.rpartition(".")
            setattr(network.get_submodule(parent), own, GatheredBatchNorm(module, group.ranks))
    return network
