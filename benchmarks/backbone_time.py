"""How long a step's forwards and backward through the network take by themselves."""

import time

import torch
from torch import Tensor

from seedbed.assets.zoo.builder import Weights, build_backbone
from seedbed.methods.learn.algorithm import Forward
from seedbed.methods.learn.devices import choose_device, compiled, half_precision
from seedbed.methods.learn.folding import fold_norms
from seedbed.methods.learn.learner import set_mode
from seedbed.methods.learn.replay import Replay

_CLASSES = 10


def seconds_in_backbone(
    start: str,
    weights: Weights,
    size: int,
    labelled: int,
    unlabelled: int,
    *,
    compile: bool = False,
    calls: int = 50,
    turns: int = 5,
) -> float:
    """The network's part of a step of FixMatch or FreeMatch, folded, recorded and replayed as the trainer does it.

    One forward of the weak views without gradient, one forward and backward of the labelled and the strong views.
    """
    device = choose_device()
    network = build_backbone(start, _CLASSES, weights=weights, size=size).network
    network = network.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    set_mode(network, learn_statistics=weights == "none")
    fold_norms(network, size)
    asked: Forward = compiled(network) if compile else network
    half = half_precision("auto", device)

    def logits(images: Tensor) -> Tensor:
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=half):
            answer = asked(images)
        return answer.float()

    def forwards_and_backward(weak: Tensor, others: Tensor) -> tuple[Tensor, ...]:
        with torch.no_grad():
            guess = logits(weak)
        network.zero_grad(set_to_none=True)
        loss = logits(others).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return guess, loss.detach()

    inputs = [
        torch.randn(count, 3, size, size, device=device).contiguous(memory_format=torch.channels_last)
        for count in (unlabelled, labelled + unlabelled)
    ]
    replay = Replay(forwards_and_backward, record=device.type == "cuda")
    for _ in range(5):
        replay(*inputs)
    return min(_seconds(replay, inputs, calls) for _ in range(turns))


def _seconds(replay: Replay, inputs: list[Tensor], calls: int) -> float:
    _wait()
    began = time.perf_counter()
    for _ in range(calls):
        replay(*inputs)
    _wait()
    return (time.perf_counter() - began) / calls


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
