import copy

import pytest
import timm
import torch
from timm.layers.norm_act import BatchNormAct2d
from torch import nn

from seedbed.methods.learn import folding
from seedbed.methods.learn.folding import bake_norms, fold_norms, unfold_norms


@pytest.fixture
def network() -> nn.Module:
    torch.manual_seed(0)
    made = timm.create_model("tf_efficientnet_lite0", num_classes=3).eval()
    for module in made.modules():  # statistics as after training, not 0 and 1
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(std=0.1)
            module.running_var.uniform_(0.5, 2)
    return made


@pytest.fixture
def products(monkeypatch) -> list[torch.Tensor]:
    """Products of matrices are taken as on a GPU in half precision; what is added to each, as it is computed."""
    seen: list[torch.Tensor] = []
    linear = folding.functional.linear

    def watched(pixels, weight, bias):
        if not isinstance(bias, nn.Parameter):  # which a head's is
            seen.append(bias)
        return linear(pixels, weight, bias)

    monkeypatch.setattr(folding.functional, "linear", watched)
    monkeypatch.setattr(folding, "_products_pay", lambda device: True)
    monkeypatch.setattr(folding, "_in_half", lambda images: True)
    return seen


def singles(network: nn.Module) -> int:
    """The convolutions that look at every pixel by itself."""
    return sum(isinstance(module, nn.Conv2d) and module.kernel_size == (1, 1) for module in network.modules())


def test_every_norm_works_inside_its_convolution_and_answers_and_gradients_stay(network):
    check_folding(network)


def test_so_it_is_where_single_pixels_are_products_of_matrices(network, products):
    check_folding(network)
    assert len(products) == singles(network) > 10


def test_in_full_precision_there_are_no_products(network, products, monkeypatch):
    monkeypatch.setattr(folding, "_in_half", lambda images: False)
    check_folding(network)
    assert not products


def check_folding(network: nn.Module) -> None:
    folded, images = copy.deepcopy(network), torch.randn(4, 3, 40, 40)
    assert fold_norms(folded, 40) == sum(isinstance(module, nn.BatchNorm2d) for module in network.modules())
    answers = [made(images) for made in (network, folded)]
    torch.testing.assert_close(*answers, rtol=1e-4, atol=1e-5)
    for answer in answers:
        answer.square().sum().backward()
    largest = max(float(parameter.grad.abs().max()) for parameter in network.parameters())
    for (name, plain), inside in zip(network.named_parameters(), folded.parameters(), strict=True):
        assert (plain.grad - inside.grad).abs().max() < 1e-4 * largest, name


def test_on_a_cpu_every_layer_is_computed_by_torch_with_the_same_bits_as_baked(network):
    images, baked = torch.randn(2, 3, 40, 40), copy.deepcopy(network)
    bake_norms(baked, 40)
    fold_norms(network, 40)
    assert torch.equal(network(images), baked(images))


def test_unfolding_brings_the_network_back(network, monkeypatch):
    monkeypatch.setattr(folding, "_products_pay", lambda device: True)
    images = torch.randn(2, 3, 40, 40)
    before = network(images)
    fold_norms(network, 40)
    unfold_norms(network)
    assert torch.equal(before, network(images))


def test_unfolding_leaves_a_network_its_own_ways_of_calling_parts():
    network = timm.create_model("fasternet_t0", num_classes=3).eval()
    images = torch.rand(2, 3, 32, 32)
    with torch.no_grad():
        said = network(images)
        assert fold_norms(network, 32) > 0
        unfold_norms(network)
        assert torch.equal(network(images), said)


def test_norms_that_learn_their_statistics_are_left_alone(network):
    assert fold_norms(network.train(), 40) == 0


def test_networks_without_such_norms_are_left_alone():
    assert fold_norms(timm.create_model("vit_tiny_patch16_224", img_size=32, num_classes=3).eval(), 32) == 0


def test_baked_norms_are_part_of_the_weights_for_good(network):
    images = torch.randn(2, 3, 40, 40)
    before = network(images)
    norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    assert bake_norms(network, 40) == len(norms)
    for norm in norms:
        norm.running_mean.fill_(9)  # nobody looks at it any more
    torch.testing.assert_close(network(images), before, rtol=1e-4, atol=1e-5)


def test_norms_that_still_learn_are_not_baked(network):
    assert bake_norms(network.train(), 40) == 0


def test_activations_behind_products_keep_what_they_were_given(products):
    network = timm.create_model("mobilenetv3_small_050", num_classes=3).eval()
    acts = [module.act for module in network.modules() if isinstance(module, BatchNormAct2d)]
    before = [getattr(act, "inplace", None) for act in acts]
    in_place: list[bool] = []
    for act in acts:
        act.register_forward_pre_hook(lambda module, given: in_place.append(getattr(module, "inplace", False)))
    images = torch.randn(2, 3, 32, 32)
    pairs = folding._pairs(network, 32)
    behind = [
        norm.act for conv, norm in pairs if folding._is_product(conv, norm) and getattr(norm.act, "inplace", False)
    ]
    in_place.clear()
    said = network(images)
    usual = in_place.count(True)
    fold_norms(network, 32)
    in_place.clear()
    torch.testing.assert_close(network(images), said, rtol=1e-4, atol=1e-5)
    assert in_place.count(True) == usual - len(behind) and len(behind) > 5
    assert [getattr(act, "inplace", None) for act in acts] == before
