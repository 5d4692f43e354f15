"""Several processes that train one model together, over torch.distributed."""

import gc
import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import signature
from typing import Any

import torch
import torch.distributed as dist
from timm.layers.norm_act import convert_sync_batchnorm
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.gathered_norm import gather_statistics, learns_statistics

_NEW_NAME = "forward_sync_buffers" in signature(DistributedDataParallel).parameters  # torch renames the option
_NO_BROADCASTS: dict[str, Any] = {"forward_sync_buffers" if _NEW_NAME else "broadcast_buffers": False}


class Gang:
    """The ranks of a process group, each a process with a slice of every batch; made by `joined`."""

    def __init__(self, device: torch.device) -> None:
        self.rank = dist.get_rank()
        self.ranks = dist.get_world_size()
        self._device = device

    def mean(self, value: Tensor) -> Tensor:
        mean: Tensor = _Mean.apply(value, self.ranks)
        return mean

    def gather(self, value: Tensor) -> Tensor:
        slices = value.detach().contiguous()
        whole = slices.new_empty((self.ranks * len(slices), *slices.shape[1:]))
        dist.all_gather_into_tensor(whole, slices)
        return whole

    def align(self, tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            value = tensor.detach().contiguous()  # a copy where memory is laid out channels last, which gloo refuses
            dist.broadcast(value, src=0)
            tensor.detach().copy_(value)

    def wrap(self, network: nn.Module) -> nn.Module:
        """DistributedDataParallel, with BatchNorm's statistics taken over all ranks where they are learnt.

        Nothing about the graph is declared fixed and every weight is expected to take part, so that an algorithm may
        ask the network several times before the gradients are computed. Buffers are equal without a broadcast.
        """
        if learns_statistics(network):
            network = self._with_all_statistics(network)
        with _aside(self._device):
            return DistributedDataParallel(network, gradient_as_bucket_view=True, **_NO_BROADCASTS)

    def _with_all_statistics(self, network: nn.Module) -> nn.Module:
        if self._device.type == "cuda":
            converted: nn.Module = convert_sync_batchnorm(network)  # type: ignore[no-untyped-call]
            return converted
        return gather_statistics(network, self)

    def first_says(self, *numbers: float) -> list[float]:
        """The first rank's numbers, on all."""
        said = torch.tensor(numbers, dtype=torch.float64)  # on the host: a GPU is not waited for
        dist.broadcast(said, src=0)
        values: list[float] = said.tolist()
        return values


class _Mean(torch.autograd.Function):
    """The mean over ranks; backwards it is the identity, as every rank's own share is all that it can change."""

    @staticmethod
    def forward(_ctx: Any, value: Tensor, ranks: int) -> Tensor:
        total = value.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total / ranks

    @staticmethod
    def backward(_ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


def _aside(device: torch.device) -> AbstractContextManager[object]:
    """A stream of its own on a GPU: what is built on the default one cannot be recorded."""
    if device.type != "cuda":
        return nullcontext()
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    return torch.cuda.stream(stream)


@contextmanager
def joined(device: torch.device, backend: str = "auto") -> Iterator[Gang]:
    """Meet the other ranks, and part from them in the end.

    Which ranks there are is read from the environment, as torchrun or mpirun left it. What still holds the network is
    collected before the group is destroyed: a rank that does it the other way round may abort.
    """
    if device.type == "cuda":
        _take_gpu(int(os.environ.get("LOCAL_RANK", "0")), int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    dist.init_process_group(backend_for(device, backend))
    yield Gang(device)
    gc.collect()
    dist.destroy_process_group()


def backend_for(device: torch.device, asked: str) -> str:
    """What the ranks talk over: NCCL between GPUs with gloo beside it for the host's words, gloo between CPUs."""
    if asked == "mpi" and not dist.is_mpi_available():
        raise InvalidInput("backend is 'mpi', but this torch was built without MPI.", hint="Use auto.")
    if asked == "nccl" and device.type != "cuda":
        raise InvalidInput("backend is 'nccl', which needs GPUs, but the device is a CPU.", hint="Use auto.")
    if asked != "auto":
        return "cpu:gloo,cuda:nccl" if asked == "nccl" else asked
    return "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"


def _take_gpu(rank: int, ranks: int) -> None:
    """Make the rank's own GPU the one that "cuda" means."""
    there = torch.cuda.device_count()
    if there < ranks:
        raise InvalidInput(
            f"ranks is {ranks}, each of which needs a GPU, but there {'is' if there == 1 else 'are'} {there}.",
            hint=f"Ask for {ranks} GPUs, or use fewer ranks.",
        )
    torch.cuda.set_device(rank)
