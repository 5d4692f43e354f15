import pytest
import timm
import torch
from benchmarks.small_maps import LAYERS, Layer, here
from torch import nn

from seedbed.methods.learn.settings import TrainSettings


def test_the_layers_are_those_of_the_default_network_whose_results_are_smaller_than_their_kernel():
    found: dict[Layer, int] = {}

    def look(conv: nn.Module, given: tuple[torch.Tensor, ...], result: torch.Tensor) -> None:
        assert isinstance(conv, nn.Conv2d)
        if conv.groups > 1 and result.shape[-1] < conv.kernel_size[0]:
            padded = (result.shape[-1] - 1) * conv.stride[0] + conv.kernel_size[0]
            pixels = result.shape[-1] if conv.stride[0] == 1 else padded
            layer = Layer(conv.groups, pixels, conv.kernel_size[0], conv.stride[0])
            found[layer] = found.get(layer, 0) + 1

    network = timm.create_model("tf_efficientnet_lite0", num_classes=2).eval()
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            module.register_forward_hook(look)
    size = TrainSettings().size
    network(torch.zeros(1, 3, size, size))
    assert found == {Layer(one.channels, one.pixels, one.side, one.stride): one.layers for one in LAYERS}


@pytest.mark.slow
def test_it_measures_layers_and_steps():
    found = here(quick=True)
    assert len(found["layers"]) == len(LAYERS)
    assert all(row["difference"] < 1e-5 and row["times as fast"] > 0 for row in found["layers"])
    assert min(found["step"]) > 0
