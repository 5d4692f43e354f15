"""Depthwise convolutions whose results are smaller than their kernel: the same numbers, found in another way."""

import copy
from itertools import product

import pytest
import timm
import torch
from timm.layers.conv2d_same import Conv2dSame
from torch import nn
from torch.nn.functional import conv2d

from seedbed.methods.learn.folding import fold_norms, unfold_norms
from seedbed.methods.learn.small_maps import is_small, quicken, to_weight

SHAPES = [
    (height, width, side, stride, zeros)
    for height, width, side, stride, zeros in product((1, 2, 3, 4, 7), (1, 2, 5), (3, 5, 7), (1, 2, 3), (0, 1, 2, 3))
    if min(height, width) + 2 * zeros >= side
]


def test_the_gradient_of_the_weights_is_torchs_for_every_shape():
    torch.manual_seed(0)
    for height, width, side, stride, zeros in SHAPES:
        images = torch.randn(3, 4, height, width, dtype=torch.float64)
        weight = torch.randn(4, 1, side, side, dtype=torch.float64, requires_grad=True)
        made = conv2d(images, weight, None, stride, zeros, groups=4)
        gradient = torch.randn_like(made)
        (wanted,) = torch.autograd.grad(made, weight, gradient)
        found = to_weight(gradient, images, weight, (stride, stride), (zeros, zeros))
        torch.testing.assert_close(found, wanted, msg=f"{height} x {width} by {side}, stride {stride}, zeros {zeros}")


@pytest.mark.parametrize(
    "conv",
    [
        nn.Conv2d(4, 4, 5, padding=2, groups=4),
        nn.Conv2d(4, 4, 7, padding=3, groups=4, bias=False),
        nn.Conv2d(4, 4, 5, padding=2, groups=4, padding_mode="reflect"),
        nn.Conv2d(4, 4, 3, padding="same", groups=4),
        nn.Conv2d(4, 4, 3, padding=2, dilation=2, groups=4),
        nn.Conv2d(4, 4, 3, padding=1, groups=2),
        Conv2dSame(4, 4, 5, stride=2, groups=4),
    ],
    ids=str,
)
def test_a_quickened_convolution_has_the_results_and_gradients_of_a_plain_one(conv):
    torch.manual_seed(0)
    images = torch.randn(2, 4, 4, 4).contiguous(memory_format=torch.channels_last).requires_grad_()
    quick = copy.deepcopy(conv)
    quicken(quick)
    plain, ours = conv(images), quick(images)
    assert torch.equal(plain, ours)
    wanted = torch.autograd.grad(plain.square().sum(), [images, *conv.parameters()])
    found = torch.autograd.grad(ours.square().sum(), [images, *quick.parameters()])
    torch.testing.assert_close(found, wanted)


def test_frozen_weights_get_no_gradient_and_images_do():
    conv = nn.Conv2d(4, 4, 5, padding=2, groups=4).requires_grad_(False)
    quicken(conv)
    images = torch.randn(2, 4, 2, 2, requires_grad=True)
    conv(images).sum().backward()
    assert images.grad is not None and conv.weight.grad is None and conv.bias.grad is None


def test_a_map_is_small_where_a_side_of_the_results_is_shorter_than_the_kernel():
    conv = nn.Conv2d(4, 4, 5, padding=2, groups=4)
    sizes = {(4, 9): True, (9, 4): True, (5, 5): False}
    assert {size: is_small(torch.zeros(1, 4, *size), conv, (2, 2)) for size in sizes} == sizes


def test_every_depthwise_convolution_of_a_network_is_quickened_and_unfolding_brings_it_back():
    network = timm.create_model("convnext_atto", num_classes=3).eval()
    images, parameter = torch.randn(2, 3, 64, 64), network.stages[3].blocks[0].conv_dw.weight
    plain = network(images)
    (wanted,) = torch.autograd.grad(plain.square().sum(), parameter)
    fold_norms(network, 64)
    quicken(network)
    assert torch.equal(network(images), plain)
    depthwise = [module for module in network.modules() if isinstance(module, nn.Conv2d) and module.groups > 1]
    assert depthwise and all("forward" in module.__dict__ for module in depthwise)
    (found,) = torch.autograd.grad(network(images).square().sum(), parameter)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-6)
    unfold_norms(network)
    assert not any("forward" in module.__dict__ for module in network.modules())
