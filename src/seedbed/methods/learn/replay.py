"""Running one function of tensors many times: as it is on a CPU; recorded once and replayed on a GPU.

A training step of a small network is hundreds of short kernels, and starting them one by one takes the host longer than
the GPU needs to run them. A recorded step is started as one.
"""

import gc
from collections.abc import Callable

import torch
from torch import Tensor

Function = Callable[..., tuple[Tensor, ...]]


class Replay:
    """Calls a function of tensors that always has the same shapes; from the `eager`-th call on, its recording.

    The function may keep tensors of its own and change them in place, but must not look at values on the host. What it
    returns is overwritten by the next call.
    """

    def __init__(self, function: Function, *, record: bool, eager: int = 3) -> None:
        self._function = function
        self._record = record
        self._left = eager
        self._graph: torch.cuda.CUDAGraph | None = None
        self._inputs: tuple[Tensor, ...] = ()
        self._outputs: tuple[Tensor, ...] = ()

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        if not self._record:
            return self._function(*inputs)
        if self._left:
            self._left -= 1
            return self._aside(*inputs)
        if self._graph is None:
            self._graph = self._recorded(*inputs)
        for ours, theirs in zip(self._inputs, inputs, strict=True):
            ours.copy_(theirs, non_blocking=True)
        self._graph.replay()
        return self._outputs

    def _aside(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """A real call on a stream of its own, as recording wants the libraries warmed up."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            outputs = self._function(*inputs)
        torch.cuda.current_stream().wait_stream(stream)
        return outputs

    def _recorded(self, *inputs: Tensor) -> torch.cuda.CUDAGraph:
        self._inputs = tuple(value.clone() for value in inputs)
        graph = torch.cuda.CUDAGraph()
        gc.collect()
        gc.disable()  # an older recording that is thrown away in the middle of this one would spoil it
        try:
            with torch.cuda.graph(graph):
                self._outputs = self._function(*self._inputs)
        finally:
            gc.enable()
        return graph
