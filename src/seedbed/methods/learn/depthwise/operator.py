"""The operator: the kernels as torch knows them, with gradients, and where they can be used.

Sums are in float32, by multiplications in float32 (no TensorFloat-32), whatever the images are in: float32 images get
results as exact as torch's own, which is why they may go this way too. What is neither float32 nor half is refused.
Nothing is tuned or looked at on the host while it runs, so that steps with it can be recorded after a first call.
"""

import logging
import math
import os
from functools import cache
from itertools import product
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seedbed.base.registry import Registry

_log = logging.getLogger(__name__)
_HERE = "seedbed.methods.learn.depthwise"
_KERNELS: Registry[Any] = Registry(  # Triton comes with them, which torch lacks on some platforms
    "kernel",
    {
        "convolved by 1": f"{_HERE}.walk:convolved",
        "gradients by 1": f"{_HERE}.walk:gradients",
        "convolved by 2": f"{_HERE}.halve:convolved",
        "gradients by 2": f"{_HERE}.halve:gradients",
    },
)
_ROUNDING = {torch.float32: 1e-4, torch.bfloat16: 2e-2}  # what it explains, as a share of the largest number
_TRIED = (  # kernels for half precision are compiled for a training anyway; for float32 the smaller ones will do
    *product([torch.bfloat16], [3, 5], [1, 2]),
    *product([torch.float32], [3], [1, 2]),
)
_KINDS = (torch.bfloat16, torch.float16, torch.float32)
_NUMBERED = 2**31  # elements: the kernels count them in 32 bits


def depthwise(images: Tensor, weight: Tensor, bias: Tensor, *, stride: int, same: bool) -> Tensor:
    """ReLU6 of a depthwise convolution; `weight` is torch's, (channels, 1, side, side), of side 3 or 5.

    Padded with zeros by half a side all around or, if `same`, as TensorFlow does: to results for every `stride`-th
    pixel, with the odd one of an odd number of zeros at the end. `stride` is 1 or 2.
    """
    side = weight.shape[-1]
    above, left = (_zeros_before(length, side, stride, same=same) for length in images.shape[2:])
    by_place = weight.flatten(1).t().contiguous()
    last = images.contiguous(memory_format=torch.channels_last)
    result: Tensor = _depthwise(last, by_place, bias, stride, above, left)
    return result


def suits(images: Tensor) -> bool:
    """Whether the kernels take such images."""
    return images.dtype in _KINDS and images.numel() < _NUMBERED


@cache
def usable(device: torch.device) -> bool:
    """Whether the kernels run there, found out by a try: they want Triton, a C compiler and a GPU that knows bfloat16.

    On a CPU they run only in Triton's interpreter (TRITON_INTERPRET=1), for tests.
    """
    if device.type != "cuda" and os.environ.get("TRITON_INTERPRET") != "1":
        return False
    try:
        off = max(_off(device, *tried) for tried in _TRIED)
    except Exception as error:  # whatever keeps them from running: there is another way to the same results
        _log.info("Depthwise convolutions are left to torch: our kernels do not run on %s: %s", device, error)
        return False
    if off > 1:
        _log.warning("Depthwise convolutions are left to torch: our kernels are %g roundings off on %s.", off, device)
    return off <= 1


def _off(device: torch.device, kind: torch.dtype, side: int, stride: int) -> float:
    """How far a small result and its gradients are from torch's in double precision, which the CPU finds.

    As a multiple of what rounding explains; infinite where something is not finite. Half precision is padded as
    TensorFlow does, which is how pretrained networks come to these kernels. Results up to 6 are multiples of 1/32,
    which it knows exactly: where one is rounded to 6, ReLU6 would let no gradient through.
    """
    same = kind != torch.float32
    waves = [torch.linspace(-2, 3, 16 * size).sin() for size in (36, side * side)]
    given = [wave.mul(steps).round() / steps for wave, steps in zip(waves, (4, 8), strict=True)]
    values = [given[0].view(1, 16, 6, 6).to(kind), given[1].view(16, 1, side, side), torch.arange(16) / 4]
    ours = [value.to(device).requires_grad_() for value in values]
    theirs = [value.double().requires_grad_() for value in values]
    by_us = depthwise(ours[0], ours[1], ours[2], stride=stride, same=same)
    before = _zeros_before(6, side, stride, same=same)
    padded = functional.pad(theirs[0], (before, side, before, side))
    far = functional.conv2d(padded, theirs[1], theirs[2], stride, groups=16)
    by_torch = functional.relu6(far[..., : by_us.shape[2], : by_us.shape[3]])
    found = [by_us.detach(), *torch.autograd.grad(by_us.square().sum(), ours)]
    wanted = [by_torch.detach(), *torch.autograd.grad(by_torch.square().sum(), theirs)]
    shares = [(one.cpu() - other).abs().max() / other.abs().max() for one, other in zip(found, wanted, strict=True)]
    off = float(torch.stack(shares).max()) / _ROUNDING[kind]
    return off if math.isfinite(off) else math.inf


def _zeros_before(length: int, side: int, stride: int, *, same: bool) -> int:
    return (side - stride) // 2 if same and length % stride == 0 else side // 2


@torch.library.custom_op("seedbed::depthwise", mutates_args=(), tags=(torch.Tag.needs_exact_strides,))
def _depthwise(images: Tensor, weight: Tensor, bias: Tensor, stride: int, above: int, left: int) -> Tensor:
    with torch.cuda.device_of(images):  # type: ignore[no-untyped-call]
        kernel = _KERNELS.get(f"convolved by {stride}")
        result: Tensor = kernel(images, weight, bias, *([above, left] if stride == 2 else []))
    return result


@torch.library.custom_op("seedbed::depthwise_gradients", mutates_args=(), tags=(torch.Tag.needs_exact_strides,))
def _gradients(
    gradient: Tensor, images: Tensor, weight: Tensor, result: Tensor, stride: int, above: int, left: int
) -> tuple[Tensor, Tensor]:
    """Of the images, and of the weights with the bias below them."""
    with torch.cuda.device_of(images):  # type: ignore[no-untyped-call]
        kernel = _KERNELS.get(f"gradients by {stride}")
        found: tuple[Tensor, Tensor] = kernel(gradient, images, weight, result, *([above, left] if stride == 2 else []))
    return found


@_depthwise.register_fake
def _empty_result(images: Tensor, weight: Tensor, bias: Tensor, stride: int, above: int, left: int) -> Tensor:
    number, channels, height, width = images.shape
    shape = (number, channels, (height + stride - 1) // stride, (width + stride - 1) // stride)
    return images.new_empty(shape).contiguous(memory_format=torch.channels_last)


@_gradients.register_fake
def _empty_gradients(
    gradient: Tensor, images: Tensor, weight: Tensor, result: Tensor, stride: int, above: int, left: int
) -> tuple[Tensor, Tensor]:
    return torch.empty_like(images), weight.new_empty((len(weight) + 1, weight.shape[1]), dtype=torch.float32)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    images, weight, _, *ctx.places = inputs
    ctx.save_for_backward(images, weight, output)


def _backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    images, weight, result = ctx.saved_tensors
    last = gradient.contiguous(memory_format=torch.channels_last)
    to_images, sums = _gradients(last, images, weight, result, *ctx.places)
    return to_images, sums[:-1], sums[-1], None, None, None


_depthwise.register_autograd(_backward, setup_context=_remember)
