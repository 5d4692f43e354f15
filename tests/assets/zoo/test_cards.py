import pytest
import torch

from seedbed.assets.zoo import efficientnet_lite
from seedbed.assets.zoo.builder import build_backbone, empty_network
from seedbed.assets.zoo.catalogue import CARDS, card_of_architecture, cards, cards_on_disk
from seedbed.base.errors import NotFound, Unavailable

NAME = "efficientnet_lite0.imagenet"


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_every_row_of_the_catalogue_is_the_card_of_that_name():
    assert [card.name for card in cards()] == list(CARDS)
    assert NAME in [card.name for card in cards_on_disk()]
    assert card_of_architecture("tf_efficientnet_lite0") is CARDS.get(NAME)
    assert card_of_architecture("resnet18") is None


def test_the_card_says_what_is_known_and_what_is_not():
    card = CARDS.get(NAME)
    facts = card.to_json()
    assert facts["licence"] == "unknown"
    assert facts["preprocessing"] == {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5), "size": 224}
    assert facts["on_disk"] is True
    assert facts["size"] == card.find().stat().st_size
    assert facts["parameters"] == sum(part.numel() for part in empty_network(card.architecture, 1000).parameters())


def test_the_packages_tensors_map_one_to_one_onto_timms_network():
    state = efficientnet_lite.read_file(efficientnet_lite.find_file())
    empty_network("tf_efficientnet_lite0", 1000).load_state_dict(state, strict=True)


def test_names_are_mapped_by_stage_and_place():
    assert efficientnet_lite.timm_name("_conv_stem.weight") == "conv_stem.weight"
    assert efficientnet_lite.timm_name("_blocks.0._project_conv.weight") == "blocks.0.0.conv_pw.weight"
    assert efficientnet_lite.timm_name("_blocks.4._project_conv.weight") == "blocks.2.1.conv_pwl.weight"
    assert efficientnet_lite.timm_name("_blocks.15._bn2.bias") == "blocks.6.0.bn3.bias"


def test_a_timm_name_takes_the_weights_of_its_card_and_only_the_head_is_fresh():
    state = efficientnet_lite.read_file(efficientnet_lite.find_file())
    for start in (NAME, "tf_efficientnet_lite0"):
        backbone = build_backbone(start, 5)
        assert backbone.started_from == NAME
        assert torch.equal(backbone.network.conv_stem.weight, state["conv_stem.weight"])
        assert backbone.network.classifier.weight.shape == (5, 1280)


def test_the_same_seed_gives_the_same_head_and_the_global_generator_is_left_alone():
    before = torch.get_rng_state()
    one, again, other = (build_backbone(NAME, 5, seed=seed).network.classifier.weight for seed in (1, 1, 2))
    assert torch.equal(one, again) and not torch.equal(one, other)
    assert torch.equal(before, torch.get_rng_state())


def test_weights_of_a_hub_out_of_reach_are_an_answer_that_names_the_cards_on_disk():
    with pytest.raises(Unavailable, match=NAME):
        build_backbone("resnet18", 5)


def test_from_scratch_needs_no_hub():
    assert build_backbone("resnet18", 5, weights="none").started_from == "scratch"


def test_an_unknown_name_is_answered_with_near_ones():
    with pytest.raises(NotFound, match="resnet18"):
        build_backbone("resnet18x", 5)
