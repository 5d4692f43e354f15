"""Depthwise convolutions of small maps on a CPU: the gradients of their weights in a fraction of the time.

oneDNN, which computes them for torch, is quick where the map of results is at least as large as the kernel. Where it is
smaller, as in the last layers of a network that looks at small images, the gradient of the weights takes 10 to 200
times as long as the convolution itself, the longer the older the processor: a fifth to a third of a whole training
step (benchmarks/small_maps.py). It is but a few products: for each place in the kernel, the gradients of the results
times the pixels that this place met.
"""

from typing import Any, TypeGuard

import torch
from timm.layers.conv2d_same import Conv2dSame
from timm.layers.padding import pad_same
from torch import Tensor, nn
from torch.nn.functional import conv2d

_Pair = tuple[int, ...]  # along rows and along columns


def quicken(network: nn.Module) -> None:
    """Let the depthwise convolutions of a network on a CPU go this way, but for those that a norm works inside of.

    As with folded norms, a copy of the network must be unfolded and quickened anew.
    """
    for module in network.modules():
        if _is_depthwise(module) and module.weight.device.type == "cpu" and "forward" not in module.__dict__:
            module.__dict__["forward"] = _forward_of(module)


def convolved(conv: nn.Conv2d, images: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """What a convolution makes of images with these weights in place of its own."""
    padding = conv.padding
    if isinstance(conv, Conv2dSame):
        sides, steps, spread = list(conv.kernel_size), list(conv.stride), list(conv.dilation)
        images, padding = pad_same(images, sides, steps, spread), (0, 0)
    if conv.padding_mode != "zeros" or isinstance(padding, str):
        plain: Tensor = conv._conv_forward(images, weight, bias)
        return plain
    if _is_depthwise(conv) and is_small(images, conv, padding):
        return _Depthwise.apply(images, weight, bias, conv.stride, padding)  # type: ignore[no-any-return]
    return conv2d(images, weight, bias, conv.stride, padding, conv.dilation, conv.groups)


def is_small(images: Tensor, conv: nn.Conv2d, padding: tuple[int, ...]) -> bool:
    """Whether images lie on a CPU, and a side of the convolution's results is smaller than that of its kernel."""
    if images.device.type != "cpu":
        return False
    sizes = zip(images.shape[2:], conv.kernel_size, conv.stride, padding, strict=True)
    return any((length + 2 * zeros - side) // stride + 1 < side for length, side, stride, zeros in sizes)


def _is_depthwise(module: nn.Module) -> TypeGuard[nn.Conv2d]:
    return (
        isinstance(module, nn.Conv2d)
        and type(module) in (nn.Conv2d, Conv2dSame)
        and 1 < module.groups == module.in_channels == module.out_channels
        and module.dilation == (1, 1)
    )


def _forward_of(conv: nn.Conv2d) -> Any:
    return lambda images: convolved(conv, images, conv.weight, conv.bias)


class _Depthwise(torch.autograd.Function):
    """torch's convolution, with the gradient of the weights worked out by us."""

    @staticmethod
    def forward(ctx: Any, images: Tensor, weight: Tensor, bias: Tensor | None, stride: _Pair, padding: _Pair) -> Tensor:
        ctx.save_for_backward(images, weight)
        ctx.places = stride, padding
        return conv2d(images, weight, bias, stride, padding, groups=len(weight))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        images, weight = ctx.saved_tensors
        stride, padding = ctx.places
        of_images, of_weight, of_bias = ctx.needs_input_grad[:3]
        to_images = None
        if of_images:
            plain, groups = torch.ops.aten.convolution_backward, len(weight)
            only = True, False, False  # the bias's would come with the weights'
            given = gradient, images, weight, None, stride, padding, (1, 1), False, (0, 0), groups, only
            to_images = plain(*given)[0]
        found = to_weight(gradient, images, weight, stride, padding) if of_weight else None
        to_bias = gradient.sum(dim=(0, 2, 3)) if of_bias else None
        return to_images, found, to_bias, None, None


def to_weight(gradient: Tensor, images: Tensor, weight: Tensor, stride: _Pair, padding: _Pair) -> Tensor:
    """Per place in the kernel: the sum of gradients times the pixels that it met, channels last."""
    given, pixels = gradient.permute(0, 2, 3, 1), images.permute(0, 2, 3, 1)
    rows, columns = (
        [
            _met(place, pixels.shape[axis], given.shape[axis], stride[axis - 1], padding[axis - 1])
            for place in range(side)
        ]
        for axis, side in zip((1, 2), weight.shape[2:], strict=True)
    )
    sums = [
        [(given[:, to_row, to_column] * pixels[:, row, column]).sum(dim=(0, 1, 2)) for to_column, column in columns]
        for to_row, row in rows
    ]
    return torch.stack([torch.stack(line) for line in sums]).permute(2, 0, 1)[:, None]


def _met(place: int, pixels: int, results: int, stride: int, padding: int) -> tuple[slice, slice]:
    """The results along an axis for which a place in the kernel lay on a pixel, and those pixels; perhaps none."""
    first = max(0, -((place - padding) // stride))
    last = min(results - 1, (pixels - 1 + padding - place) // stride)
    count = max(0, last - first + 1)
    begin = stride * first + place - padding
    return slice(first, first + count), slice(begin, begin + stride * count, stride) if count else slice(0, 0)
