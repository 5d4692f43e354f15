"""Frozen BatchNorm at no cost: its scale and shift become part of the convolution before it.

With frozen statistics a norm is a number per channel to multiply by and one to add, so that norm(conv(x)) is another
convolution of x. The weights of both are still what is trained and saved, and get the same gradients; what is saved is
one pass over the activations forwards and two backwards. On a GPU, a depthwise convolution with a ReLU6 behind its norm
becomes one kernel of ours (see `depthwise`), and one of single pixels, in half precision, a product of matrices.
"""

import copy
from collections.abc import Callable
from typing import Any

import torch
from timm.layers.conv2d_same import Conv2dSame
from torch import Tensor, nn
from torch.nn import functional

from seedbed.methods.learn.depthwise.operator import depthwise, suits, usable
from seedbed.methods.learn.small_maps import convolved

_Norm = nn.BatchNorm2d
_Forward = Callable[[Tensor], Tensor]


def fold_norms(network: nn.Module, size: int) -> int:
    """Let every frozen norm that directly follows a convolution work inside it; how many do.

    Parameters and their names stay as they are. A copy of a folded network must be unfolded and folded anew.
    """
    if not any(isinstance(module, _Norm) and _foldable(module) for module in network.modules()):
        return 0
    pairs = _pairs(network, size)
    for conv, norm in pairs:
        folded, after = _folded(conv, norm), _after(norm)
        if _is_one_kernel(conv, norm):
            folded, after = _in_one_kernel(conv, norm, folded, after), _unchanged
        elif _is_product(conv, norm):
            folded, after = _product(conv, norm, folded, after), _unchanged
        conv.__dict__["forward"], norm.__dict__["forward"] = folded, after
    return len(pairs)


def unfold_norms(network: nn.Module) -> None:
    """Undo `fold_norms`, and leave what some networks of timm say themselves of how a part of theirs is called."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d | _Norm):
            module.__dict__.pop("forward", None)


def bake_norms(network: nn.Module, size: int) -> int:
    """Work every such norm into the weights of its convolution for good; how many were.

    For a network that will only be asked: it is spared working out the same weights for every batch. The names of its
    parameters stay, their values do not.
    """
    if not any(isinstance(module, _Norm) and _foldable(module) for module in network.modules()):
        return 0
    pairs = _pairs(network, size)
    for conv, norm in pairs:
        weight, bias = _weights_inside(conv, norm)
        conv.weight = nn.Parameter(weight.detach(), requires_grad=False)
        conv.bias = nn.Parameter(bias.detach(), requires_grad=False)
        norm.__dict__["forward"] = _after(norm)
    return len(pairs)


def _weights_inside(conv: nn.Conv2d, norm: _Norm) -> tuple[Tensor, Tensor]:
    """Weights and biases of the convolution that does the work of both."""
    mean, variance = norm.running_mean, norm.running_var
    assert mean is not None and variance is not None
    scale = norm.weight * torch.rsqrt(variance + norm.eps)
    return conv.weight * scale.view(-1, 1, 1, 1), norm.bias - mean * scale


def _is_one_kernel(conv: nn.Conv2d, norm: _Norm) -> bool:
    """Whether a kernel of ours does the work of a convolution, its norm and the activation behind that."""
    side = conv.kernel_size[0]
    around = 0 if isinstance(conv, Conv2dSame) else side // 2  # the former pads by what the images need
    return (
        1 < conv.groups == conv.in_channels == conv.out_channels
        and conv.kernel_size in ((3, 3), (5, 5))
        and conv.stride in ((1, 1), (2, 2))
        and conv.dilation == (1, 1)
        and conv.padding == (around, around)
        and conv.padding_mode == "zeros"
        and _drops_nothing(norm)
        and type(getattr(norm, "act", None)) is nn.ReLU6
        and usable(conv.weight.device)
    )


def _in_one_kernel(conv: nn.Conv2d, norm: _Norm, folded: _Forward, after: _Forward) -> _Forward:
    """That kernel, for images that it takes on the device of the weights; for any others `folded` and `after`."""
    device, same = conv.weight.device, isinstance(conv, Conv2dSame)

    def forward(images: Tensor) -> Tensor:
        if images.device != device or not suits(images):
            return after(folded(images))
        return depthwise(images, *_weights_inside(conv, norm), stride=conv.stride[0], same=same)

    return forward


def _unchanged(images: Tensor) -> Tensor:
    return images


def _folded(conv: nn.Conv2d, norm: _Norm) -> _Forward:
    return lambda images: convolved(conv, images, *_weights_inside(conv, norm))


def _is_product(conv: nn.Conv2d, norm: _Norm) -> bool:
    """Whether a convolution looks at every pixel by itself, on a device where a product of matrices does so sooner."""
    return (
        _products_pay(conv.weight.device)
        and conv.kernel_size == conv.stride == (1, 1)
        and conv.groups == 1
        and conv.padding == (0, 0)
        and _drops_nothing(norm)
    )


def _products_pay(device: torch.device) -> bool:
    """A GPU's product adds biases as it goes, for which its convolution passes over the results once more."""
    return device.type == "cuda"


def _product(conv: nn.Conv2d, norm: _Norm, folded: _Forward, after: _Forward) -> _Forward:
    """The product in half precision; in full, `folded` and `after`, as torch lets convolutions alone use TF32."""
    act: Any = copy.copy(getattr(norm, "act", None)) or _unchanged
    if getattr(act, "inplace", False):
        act.inplace = False  # most would copy what they were given first, for their gradients

    def forward(images: Tensor) -> Tensor:
        if not _in_half(images):
            return after(folded(images))
        weight, bias = _weights_inside(conv, norm)
        pixels = images.permute(0, 2, 3, 1)
        results: Tensor = act(functional.linear(pixels.flatten(0, 2), weight.flatten(1), bias))
        return results.view(*pixels.shape[:3], len(weight)).permute(0, 3, 1, 2)

    return forward


def _in_half(images: Tensor) -> bool:
    return torch.is_autocast_enabled(images.device.type) or images.dtype in (torch.bfloat16, torch.float16)


def _drops_nothing(norm: _Norm) -> bool:
    return type(getattr(norm, "drop", None)) in (type(None), nn.Identity)


def _after(norm: _Norm) -> _Forward:
    """What timm's norms do after normalising: an activation, perhaps."""
    drop: Any = getattr(norm, "drop", None)
    act: Any = getattr(norm, "act", None)

    def forward(images: Tensor) -> Tensor:
        images = drop(images) if drop is not None else images
        return act(images) if act is not None else images

    return forward


def _pairs(network: nn.Module, size: int) -> list[tuple[nn.Conv2d, _Norm]]:
    """Convolutions whose result goes into a frozen norm, seen in one look at an empty image."""
    made: dict[int, nn.Conv2d] = {}
    kept: list[Tensor] = []  # so that no tensor takes the place of one that is gone
    pairs: list[tuple[nn.Conv2d, _Norm]] = []

    def after_conv(conv: nn.Module, given: Any, result: Tensor) -> None:
        made[id(result)] = conv  # type: ignore[assignment]
        kept.append(result)

    def before_norm(norm: nn.Module, given: tuple[Tensor, ...]) -> None:
        conv = made.get(id(given[0]))
        if conv is not None and isinstance(norm, _Norm):
            pairs.append((conv, norm))

    hooks = [
        module.register_forward_hook(after_conv)
        if isinstance(module, nn.Conv2d)
        else module.register_forward_pre_hook(before_norm)
        for module in network.modules()
        if _foldable(module)
    ]
    device = next(network.parameters()).device
    with torch.no_grad():
        network(torch.zeros(1, 3, size, size, device=device).contiguous(memory_format=torch.channels_last))
    for hook in hooks:
        hook.remove()
    return pairs


def _foldable(module: nn.Module) -> bool:
    if isinstance(module, nn.Conv2d):
        return type(module) in (nn.Conv2d, Conv2dSame) and module.bias is None
    return isinstance(module, _Norm) and not module.training and module.affine and module.running_mean is not None
