import pytest
import timm
import torch
from torch import nn

from seedbed.assets.zoo.backbones import BACKBONES, network_of, plan_network
from seedbed.assets.zoo.builder import build_backbone, empty_network
from seedbed.base.errors import InvalidInput, NotFound, Unavailable

SIZES = {"vit_tiny": (32, 64), "vit_small": (32,), "vit_base": (96,), "resnet18": (32, 64), "resnet50": (32,)}


def shapes_of(network: nn.Module) -> dict[str, torch.Size]:
    return {name: value.shape for name, value in network.state_dict().items()}


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_every_row_names_a_network_of_timm():
    assert all(timm.is_model(record.timm) for record in BACKBONES.values())


@pytest.mark.parametrize(("name", "size"), [(name, size) for name in BACKBONES for size in SIZES.get(name, (64,))])
def test_a_network_is_made_again_from_its_architecture_and_size_alone(name, size):
    with torch.device("meta"):  # shapes without numbers: large networks take seconds to fill
        built = build_backbone(name, 4, weights="none", size=size)
        again = empty_network(built.architecture, 4, size=size)
    assert str(again) == str(built.network)
    assert shapes_of(again) == shapes_of(built.network)


@pytest.mark.parametrize("name", ["vit_tiny", "resnet18"])
def test_weights_move_into_the_network_that_is_made_again(name):
    built = build_backbone(name, 4, weights="none", size=32)
    again = empty_network(built.architecture, 4, size=32)
    again.load_state_dict(built.network.state_dict(), strict=True)
    images = torch.rand(2, 3, 32, 32)
    with torch.no_grad():
        assert torch.equal(built.network.eval()(images), again.eval()(images))


@pytest.mark.parametrize(
    ("name", "size", "patch", "count"),
    [
        ("vit_tiny", 32, 2, 5_392_714),  # the 5.4 M of HARVEST's smallest network
        ("vit_small", 32, 2, 21_402_250),
        ("vit_base", 96, 16, 85_683_466),
        ("vit_base", 224, 16, 85_806_346),
    ],
)
def test_the_vits_are_those_of_the_paper(name, size, patch, count):
    with torch.device("meta"):
        network = empty_network(name, 10, size=size)
    assert network.patch_embed.patch_size == (patch, patch)
    assert network.patch_embed.num_patches == (size // patch) ** 2
    assert sum(part.numel() for part in network.parameters()) == count


def test_patches_grow_with_the_image_so_that_their_number_stays():
    plans = {size: plan_network("vit_tiny", size=size, scratch=True).options for size in (32, 64, 96, 128, 224)}
    assert {size: options["patch_size"] for size, options in plans.items()} == {32: 2, 64: 4, 96: 8, 128: 8, 224: 16}
    assert all(options["img_size"] == size for size, options in plans.items())


def test_an_image_that_does_not_divide_into_patches_is_refused_with_sizes_that_do():
    with pytest.raises(InvalidInput, match="96 or 104"):
        build_backbone("vit_tiny", 4, weights="none", size=100)


def test_a_resnet_from_scratch_sees_small_images_at_full_resolution():
    small = build_backbone("resnet18", 4, weights="none", size=32)
    usual = build_backbone("resnet18", 4, weights="none", size=64)
    assert (small.architecture, usual.architecture) == ("resnet18.small", "resnet18")
    with torch.no_grad():
        assert small.network.forward_features(torch.rand(1, 3, 32, 32)).shape[-1] == 4
        assert usual.network.forward_features(torch.rand(1, 3, 64, 64)).shape[-1] == 2
    assert small.network.conv1.weight.shape == (64, 3, 3, 3)


def test_the_small_stem_is_drawn_from_the_seed():
    one, again, other = (
        build_backbone("resnet18", 4, weights="none", size=32, seed=seed).network.conv1.weight for seed in (1, 1, 2)
    )
    assert torch.equal(one, again) and not torch.equal(one, other)


def test_an_alias_takes_the_weights_of_its_card():
    backbone = build_backbone("efficientnet_lite0", 4, size=64)
    assert backbone.started_from == "efficientnet_lite0.imagenet"
    assert backbone.architecture == "tf_efficientnet_lite0"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("vit_tiny", Unavailable),
        ("resnet18", Unavailable),
        ("efficientnetv2_s", Unavailable),
        ("resnet18.small", InvalidInput),  # whose weights nobody offers, at no other time either
    ],
)
def test_without_weights_nothing_starts_from_scratch_unless_asked(name, error):
    with pytest.raises(error, match="weights 'none'") as answer:
        build_backbone(name, 4, size=32)
    assert "efficientnet_lite0.imagenet" in str(answer.value)


def test_any_other_timm_name_is_taken_as_it_is_and_told_the_size_only_where_it_matters():
    fixed = build_backbone("deit_tiny_patch16_224", 4, weights="none", size=64)
    free = build_backbone("mobilevit_xxs", 4, weights="none", size=64)  # called a vit, but of any size
    assert fixed.network.patch_embed.img_size == (64, 64)
    for backbone in (fixed, free):
        assert backbone.network(torch.rand(2, 3, 64, 64)).shape == (2, 4)


@pytest.mark.parametrize("name", ["vit_tny", "resnet18.nobody_in1k", "vit_tiny.small"])
def test_unknown_names_and_tags_are_answered_with_near_ones(name):
    with pytest.raises(NotFound, match="Did you mean"):
        build_backbone(name, 4, weights="none")


def test_one_network_has_one_name_whatever_it_is_called_by():
    assert network_of("efficientnet_lite0") == network_of("tf_efficientnet_lite0") == "tf_efficientnet_lite0"
    assert network_of("resnet18.a1_in1k") == network_of("resnet18"), "what follows timm's point names weights"
    assert network_of("resnet18") != network_of("resnet18.small"), "another stem is another network"
    assert network_of("vit_tiny") != network_of("vit_tiny_patch16_224"), "its patches depend on the images"


@pytest.mark.parametrize("name", BACKBONES)
def test_the_table_knows_how_many_weights_a_network_has(name):
    with torch.device("meta"):
        network = timm.create_model(BACKBONES[name].timm)
    weights = sum(parameter.numel() for parameter in network.parameters())
    assert BACKBONES[name].millions == pytest.approx(weights / 1e6, rel=0.02)
