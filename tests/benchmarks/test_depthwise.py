"""The benchmark of depthwise convolutions: what it measures, how it counts, and what it says where there is no GPU."""

import pytest
import timm
import torch
from benchmarks.depthwise import LAYERS, Layer, by_cudnn, figures_of, measure
from timm.layers.conv2d_same import conv2d_same
from torch import Tensor, nn
from torch.nn import functional


def test_the_layers_are_those_of_the_network_at_128_pixels() -> None:
    network = timm.create_model("tf_efficientnet_lite0").eval()
    seen: list[Layer] = []

    def note(conv: nn.Conv2d, given: tuple[Tensor, ...]) -> None:
        seen.append(Layer(conv.in_channels, given[0].shape[-1], conv.kernel_size[0], conv.stride[0]))

    for module in network.modules():
        if isinstance(module, nn.Conv2d) and module.groups > 1:
            module.register_forward_pre_hook(note)
    with torch.no_grad():
        network(torch.zeros(1, 3, 128, 128))
    told = [Layer(one.channels, one.size, one.side, one.stride) for one in LAYERS for _ in range(one.layers)]
    assert sorted(seen, key=str) == sorted(told, key=str)


@pytest.mark.parametrize("layer", [Layer(2, 8, 3, 1), Layer(2, 8, 3, 2), Layer(2, 8, 5, 2)], ids=str)
def test_the_other_side_pads_as_the_network_does(layer: Layer) -> None:
    images, weight, bias = torch.randn(1, 2, 8, 8), torch.randn(2, 1, layer.side, layer.side), torch.randn(2)
    strides = (layer.stride, layer.stride)
    wanted = functional.relu6(conv2d_same(images, weight, bias, strides, (0, 0), (1, 1), 2))
    torch.testing.assert_close(by_cudnn(layer)(images, weight, bias), wanted)


def test_the_floor_counts_every_byte_once() -> None:
    forward, backward = Layer(channels=10, size=20, side=3, stride=2).floor(images=1000)
    # 4 million pixels and 1 million results of 2 bytes at 4 TB/s; twice that backwards
    assert (forward, backward) == pytest.approx((2.5, 5.0))


def test_figures_are_sums_over_all_layers() -> None:
    times = {f"{who} {way}": value for who, value in (("cuDNN", 6.0), ("ours", 2.0)) for way in ("forward", "backward")}
    floor = {"floor forward": 1.0, "floor backward": 1.0}
    figures = figures_of([{"layers": 1, **times, **floor}, {"layers": 3, **times, **floor}])
    assert figures["depthwise_times_as_fast"] == 3.0 and figures["depthwise_ours_us"] == 16.0


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_it_says_so() -> None:
    with pytest.raises(SystemExit, match="no GPU here"):
        measure(quick=True)
