"""Weights from elsewhere become cards that training starts from, or a sentence says what does not fit."""

import json
import os
import pickle
import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from seedbed.assets.zoo.builder import build_backbone, depends_on_size, empty_network
from seedbed.assets.zoo.importers import About, card_of, keep_file, keep_from_hub, read_state
from seedbed.assets.zoo.records import CARD_FILE, WEIGHTS_FILE, KeptCard, check_card_name, read_card
from seedbed.base.errors import Damaged, InvalidInput, NotFound, Unavailable, Unsafe
from seedbed.base.ids import digest_of_file

NETWORK = "test_resnet"  # timm's smallest
ABOUT = About("wheat", trained_on="wheat 2025", classes=("rust", "well"), signature="abc", images=40, accuracy=0.9)


@pytest.fixture(scope="module")
def state() -> dict[str, torch.Tensor]:
    torch.manual_seed(3)
    return dict(empty_network(NETWORK, 2).state_dict())


@pytest.fixture
def safe(state: dict[str, torch.Tensor], tmp_path: Path) -> Path:
    save_file(state, tmp_path / "wheat.safetensors")
    return tmp_path / "wheat.safetensors"


def test_a_kept_card_says_all_that_is_known_of_the_weights(safe: Path, tmp_path: Path) -> None:
    kept = keep_file(safe, NETWORK, tmp_path / "kept", ABOUT)
    assert read_card(tmp_path / "kept" / CARD_FILE) == kept
    assert kept.digest == digest_of_file(tmp_path / "kept" / WEIGHTS_FILE)
    assert (kept.size, kept.outputs, kept.accuracy) == ((tmp_path / "kept" / WEIGHTS_FILE).stat().st_size, 2, 0.9)
    assert kept.parameters == sum(part.numel() for part in empty_network(NETWORK, 2).parameters())
    assert KeptCard.from_json(json.loads(json.dumps(kept.to_json()))) == kept


def test_training_starts_from_a_kept_card_with_its_own_weights(
    safe: Path, state: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    keep_file(safe, NETWORK, tmp_path / "kept", ABOUT)
    backbone = build_backbone(card_of(tmp_path / "kept"), 5, size=32)
    found = backbone.network.state_dict()
    assert backbone.started_from == "wheat" and backbone.architecture == NETWORK
    assert found["fc.weight"].shape[0] == 5
    assert all(torch.equal(found[name], value) for name, value in state.items() if not name.startswith("fc."))


@pytest.mark.parametrize("wrap", [None, "state_dict", "model"])
def test_a_pytorch_state_dict_is_read_without_unpickling(
    state: dict[str, torch.Tensor], tmp_path: Path, wrap: str | None
) -> None:
    torch.save({wrap: state, "epoch": 3} if wrap else state, tmp_path / "wheat.pth")
    keep_file(tmp_path / "wheat.pth", NETWORK, tmp_path / "kept", ABOUT)
    kept = load_file(tmp_path / "kept" / WEIGHTS_FILE)
    assert kept.keys() == state.keys() and all(torch.equal(kept[name], state[name]) for name in state)


def test_weights_without_a_head_are_taken_too(state: dict[str, torch.Tensor], tmp_path: Path) -> None:
    save_file({name: value for name, value in state.items() if not name.startswith("fc.")}, tmp_path / "w.safetensors")
    assert keep_file(tmp_path / "w.safetensors", NETWORK, tmp_path / "kept", ABOUT).outputs == 0
    assert build_backbone(card_of(tmp_path / "kept"), 3).network.state_dict()["fc.weight"].shape[0] == 3


def test_a_file_that_could_run_code_is_refused(tmp_path: Path) -> None:
    torch.save({"weight": torch.zeros(1), "run": os.system}, tmp_path / "bad.pt")
    with pytest.raises(Unsafe, match="code of strangers"):
        keep_file(tmp_path / "bad.pt", NETWORK, tmp_path / "kept", ABOUT)


def test_everything_that_does_not_fit_is_named(state: dict[str, torch.Tensor], tmp_path: Path) -> None:
    wrong = {**state, "extra.weight": torch.zeros(1)}
    del wrong["bn1.bias"]
    wrong["bn1.weight"] = torch.zeros(3)
    wrong["conv1.0.weight"] = torch.full_like(state["conv1.0.weight"], float("nan"))
    save_file(wrong, tmp_path / "w.safetensors")
    with pytest.raises(InvalidInput, match="do not fit timm's 'test_resnet'") as refused:
        keep_file(tmp_path / "w.safetensors", NETWORK, tmp_path / "kept", ABOUT)
    told = " ".join(refused.value.problems)
    for part in ("'bn1.bias' is missing", "'extra.weight' is not part", "'bn1.weight' is 3;", "no numbers"):
        assert part in told
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("name", "content", "error", "said"),
    [
        ("none.safetensors", None, NotFound, "There is no file"),
        ("weights.txt", b"x", InvalidInput, "no ending"),
        ("weights.safetensors", b"xxxxxxxxxxxx", Damaged, "cannot be read"),
        ("weights.pt", b"xxxxxxxxxxxx", Damaged, "not what torch.save writes"),
        ("weights.pth", pickle.dumps({"a": 1}, 4), Damaged, "not what torch.save writes"),
        ("weights.pt", b"", Damaged, "weights.pt is empty"),
        ("weights.safetensors", b"", Damaged, "weights.safetensors is empty"),
    ],
)
def test_files_that_are_no_weights_are_refused_in_a_sentence(
    tmp_path: Path, name: str, content: bytes | None, error: type[Exception], said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=said):
        keep_file(tmp_path / name, NETWORK, tmp_path / "kept", ABOUT)


@pytest.mark.parametrize("legacy", [False, True])
def test_a_damaged_pytorch_file_is_refused_in_a_sentence_wherever_the_damage_is(
    tmp_path: Path, *, legacy: bool
) -> None:
    torch.save({"weight": torch.zeros(20)}, tmp_path / "w.pt", _use_new_zipfile_serialization=not legacy)
    whole, chance, told = (tmp_path / "w.pt").read_bytes(), random.Random(0), set()
    for _ in range(300):
        broken = bytearray(whole[: chance.randrange(1, len(whole) + 1)])
        for _ in range(chance.choice((1, 3, 20))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        (tmp_path / "w.pt").write_bytes(broken)
        try:
            read_state(tmp_path / "w.pt")
        except (Damaged, Unsafe, InvalidInput) as refused:
            told.add(type(refused))
            assert "\n" not in refused.message and refused.message.endswith(".") and refused.hint
    assert Damaged in told


@pytest.mark.parametrize("shape", [(), (0, 64), (7,)])
def test_a_head_of_another_shape_is_named(
    state: dict[str, torch.Tensor], tmp_path: Path, shape: tuple[int, ...]
) -> None:
    save_file({**state, "fc.weight": torch.zeros(shape)}, tmp_path / "w.safetensors")
    with pytest.raises(InvalidInput) as refused:
        keep_file(tmp_path / "w.safetensors", NETWORK, tmp_path / "kept", ABOUT)
    assert any(problem.startswith("'fc.weight' is ") and "must be" in problem for problem in refused.value.problems)


def test_a_list_of_tensors_is_no_state_dict(tmp_path: Path) -> None:
    torch.save([torch.zeros(2)], tmp_path / "w.pt")
    with pytest.raises(InvalidInput, match="no table of tensors"):
        keep_file(tmp_path / "w.pt", NETWORK, tmp_path / "kept", ABOUT)


def test_a_hub_that_cannot_be_reached_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(Unavailable, match="cannot be reached"):
        keep_from_hub("resnet18", tmp_path / "kept", ABOUT)
    with pytest.raises(NotFound, match="no network named 'resnett'"):
        keep_from_hub("resnett", tmp_path / "kept", ABOUT)


def test_weights_made_for_one_size_are_not_used_at_another(tmp_path: Path) -> None:
    assert depends_on_size("vit_tiny") and not depends_on_size("resnet18")
    save_file(dict(empty_network("test_vit", 2, size=64).state_dict()), tmp_path / "w.safetensors")
    keep_file(tmp_path / "w.safetensors", "test_vit", tmp_path / "kept", ABOUT, made_at=64)
    card = card_of(tmp_path / "kept")
    assert build_backbone(card, 3, size=64).started_from == "wheat"
    with pytest.raises(InvalidInput, match="made for images of 64 px, not of 96 px"):
        build_backbone(card, 3, size=96)


def test_a_file_for_a_network_of_one_size_says_that_size(tmp_path: Path) -> None:
    save_file(dict(empty_network("test_vit", 2).state_dict()), tmp_path / "w.safetensors")
    assert keep_file(tmp_path / "w.safetensors", "test_vit", tmp_path / "kept", ABOUT).made_at == 160
    with pytest.raises(InvalidInput, match="made for images of 160 px, not of 96 px"):
        build_backbone(card_of(tmp_path / "kept"), 3, size=96)


@pytest.mark.parametrize("name", ["", "auto", "none", "pretrained", "a/b", "x" * 200, "efficientnet_lite0.imagenet"])
def test_names_that_would_be_mistaken_for_something_else_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot have this name"):
        check_card_name(name, frozenset({"efficientnet_lite0.imagenet"}))


def test_a_record_that_is_none_is_damaged(tmp_path: Path) -> None:
    (tmp_path / CARD_FILE).write_text('{"format": 1, "name": "x"}')
    with pytest.raises(Damaged, match="not a card's record"):
        read_card(tmp_path / CARD_FILE)
