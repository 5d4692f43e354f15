"""Signature, ranking and import as steps: near data sets come first, and nothing is advised that may cost time."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from seedbed.assets.zoo.builder import empty_network
from seedbed.assets.zoo.measured import measured_starts
from seedbed.assets.zoo.records import CARD_FILE, WEIGHTS_FILE, read_card
from seedbed.base.errors import InvalidInput, Unsafe
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.zoo import SIGNATURE_FILE, Signature
from tests.flows.zoo_parts import NETWORK, SIDE, decoded, do, keep, shortlist, signature

CURVE = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.88, 0.9]
Ranked = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Signature]:
    """Fields of another year, and screens."""
    folder = tmp_path_factory.mktemp("behind")
    return {
        "kindred": signature(folder / "a", "fields", seed=9, name="fields of last year"),
        "screens": signature(folder / "b", "screens", seed=9, name="screens"),
    }


def measured(behind: str, faster: bool) -> list[dict[str, Any]]:
    """Records of trainings on six data sets, from the usual weights and from some that were as near as that."""
    runs = []
    for number in range(6):
        common = {"target": f"set {number}", "baseline": NETWORK, "alike": "x", "architecture": NETWORK}
        evidence = {"target": f"set {number}", "source": behind, "ratio": 0.3, "scores": {}, "source_images": 24,
                    "target_images": 24}  # fmt: skip
        runs.append({**common, "start": NETWORK, "curve": CURVE})
        runs.append({**common, "start": behind, "curve": CURVE[5:] if faster else CURVE, "evidence": evidence})
    return runs


@pytest.fixture
def ranked(behind: dict[str, Signature], tmp_path: Path) -> Ranked:
    """Rank two cards for new fields; gives the ranking's facts, and the start."""

    number = count()

    def rank(outcomes: Any = (), *, reference: bool = True, **params: Any) -> dict[str, Any]:
        place = tmp_path / str(next(number))
        new = decoded(place / "new", "fields", name="new fields")
        mine = do("signature", place / "sign", {"space": "pixels"}, decoded=new)
        listed = shortlist(place / "list", {"screens": behind["screens"], "kindred": behind["kindred"],
                                               "unknown": None}, outcomes)  # fmt: skip
        asked = {"network": NETWORK, "size": SIDE, "scored": 0, "measured": False, **params}
        found = do(
            "rank-weights", place / "rank", asked,
            decoded=new, signature=mine, shortlist=listed, baseline=behind["screens"] if reference else None,
        )  # fmt: skip
        return {**found["ranking"].facts(), "chosen": found["start"]}

    return rank


@pytest.mark.parametrize("space", ["pixels", "features"])
def test_a_signature_says_what_it_was_made_of(tmp_path: Path, space: str) -> None:
    made = do("signature", tmp_path, {"space": space}, decoded=decoded(tmp_path / "d", "fields", name="wheat"))
    assert made.values["data"] == ("wheat",) and made.values["classes"] == ("even", "odd") and made.images == 24
    assert made.values["space"][0] == ("pixels-28" if space == "pixels" else "efficientnet_lite0.imagenet@96 of 32 px")


def test_a_signature_is_of_the_labels_that_are_given(tmp_path: Path) -> None:
    images = decoded(tmp_path / "d", "fields")
    labels = Labels.write(tmp_path / "l", {images.images[0]: "rust", images.images[3]: "well"})
    made = do("signature", tmp_path, {"space": "pixels"}, decoded=images, labels=labels)
    assert made.images == 2 and made.values["classes"] == ("rust", "well")
    empty = Labels.write(tmp_path / "e", {})
    with pytest.raises(InvalidInput, match="'my fields' has no labelled image"):
        do("signature", tmp_path, {"space": "pixels", "name": "my fields"}, decoded=images, labels=empty)


def test_the_nearest_data_set_comes_first_and_what_cannot_be_compared_is_left_out(ranked: Ranked) -> None:
    facts = ranked()
    assert [one["name"] for one in facts["ranked"]] == ["kindred", "screens"]
    near, far = facts["ranked"]
    assert near["ratio"] < 1 and far["ratio"] == pytest.approx(1.0) and near["dsd"] < far["dsd"] == 1.0
    assert near["expectation"]["low"] < near["expectation"]["epoch_ratio"] < near["expectation"]["high"]
    assert facts["left_out"] == {"unknown": "Its data set has no signature."}
    assert facts["baseline_data"] == "screens" and facts["target"] == "new fields"


def test_nothing_is_advised_before_it_is_known_to_save_time(ranked: Ranked) -> None:
    facts = ranked(reference=False)
    assert facts["advice"]["start"] == NETWORK and facts["advice"]["as_good"]
    assert "is as good" in facts["advice"]["reason"] and "the setting baseline" in facts["advice"]["reason"]
    assert facts["chosen"].kept is None and facts["chosen"].values["card"] == (NETWORK,)
    assert all(one["ratio"] is None for one in facts["ranked"])


def test_weights_that_cannot_be_compared_are_not_said_to_be_missing(tmp_path: Path) -> None:
    new = decoded(tmp_path / "new", "fields", name="new fields")
    mine = do("signature", tmp_path / "sign", {"space": "pixels"}, decoded=new)
    listed = shortlist(tmp_path / "list", {"unknown": None})
    found = do("rank-weights", tmp_path / "rank", {"network": NETWORK, "scored": 0}, decoded=new, signature=mine,
               shortlist=listed)  # fmt: skip
    advice = found["ranking"].facts()["advice"]
    assert advice["start"] == NETWORK
    assert advice["reason"].endswith("as far as is known: none of the other weights could be compared.")


def test_what_was_measured_decides(ranked: Ranked) -> None:
    facts = ranked(measured("other", faster=True))
    assert facts["learnt_from"] == {"outcomes": 6, "targets": 6}
    assert facts["advice"]["start"] == "kindred" and facts["advice"]["expected_saving"] > 0.2
    assert "expected to save" in facts["advice"]["reason"]
    kept = facts["chosen"].kept
    assert kept and read_card(kept / CARD_FILE).name == "kindred" and (kept / WEIGHTS_FILE).is_file()


def test_a_start_that_is_surely_faster_takes_fewer_steps_where_nobody_said_how_long_to_train(ranked: Ranked) -> None:
    asked, free = ranked(measured("other", faster=True)), ranked(measured("other", faster=True), shorten=True)
    (high,) = [one["expectation"]["high"] for one in free["ranked"] if one["name"] == "kindred"]
    assert high < 1 and free["advice"]["share_of_steps"] == free["chosen"].share == high
    assert asked["advice"]["share_of_steps"] == asked["chosen"].share == 1
    as_good = ranked(reference=False, shorten=True)
    assert as_good["advice"]["share_of_steps"] == as_good["chosen"].share == 1


def test_starts_that_were_measured_elsewhere_count_until_there_are_others(ranked: Ranked) -> None:
    before = len(measured_starts())
    assert ranked(measured("other", faster=True), measured=True)["learnt_from"]["outcomes"] == before + 6


def test_starts_that_saved_nothing_speak_against_the_next(ranked: Ranked) -> None:
    assert ranked(measured("other", faster=False))["advice"]["start"] == NETWORK


def test_weights_that_take_longer_to_read_than_they_save_are_not_taken(ranked: Ranked) -> None:
    facts = ranked(measured("other", faster=True), seconds=10.0, loading={"kindred": 60.0, NETWORK: 0.1})
    assert facts["advice"]["start"] == NETWORK and "reading its weights" in facts["advice"]["reason"]
    assert facts["ranked"][0]["end"] == pytest.approx(60 + 10 * facts["ranked"][0]["expectation"]["epoch_ratio"])


def test_a_card_is_made_of_a_state_dict_or_the_reason_is_told(tmp_path: Path) -> None:
    save_file(dict(empty_network(NETWORK, 3).state_dict()), tmp_path / "w.safetensors")
    params = {"name": "wheat", "path": str(tmp_path / "w.safetensors"), "architecture": NETWORK, "licence": "MIT"}
    made = do("import-weights", tmp_path / "run", {**params, "trained_on": "wheat 2025", "accuracy": 0.9})
    kept = read_card(made.kept / CARD_FILE)
    assert (kept.name, kept.licence, kept.trained_on, kept.accuracy) == ("wheat", "MIT", "wheat 2025", 0.9)
    assert kept.source == "w.safetensors" and kept.signature == ""
    with pytest.raises(InvalidInput, match="cannot be used") as refused:
        do("import-weights", tmp_path, {"name": "x", "path": "/a", "hub": "b"})
    assert "either path" in refused.value.problems[0]
    with pytest.raises(InvalidInput, match="Give one of a model"):
        do("import-weights", tmp_path, {"name": "x"})
    torch.save({"evil": json.loads}, tmp_path / "w.pt")
    with pytest.raises(Unsafe, match="code of strangers"):
        do("import-weights", tmp_path, {"name": "x", "path": str(tmp_path / "w.pt"), "architecture": NETWORK})


def test_training_starts_from_the_weights_that_it_is_given_and_can_be_kept_itself(tmp_path: Path) -> None:
    images = decoded(tmp_path / "d", "fields")
    labels = Labels.write(tmp_path / "l", {one: "ab"[row % 2] for row, one in enumerate(images.images[:12])})
    listed = shortlist(tmp_path / "list", {"wheat": None})
    quick = {"start": NETWORK, "size": SIDE, "steps": 2, "labelled_batch": 4, "unlabelled_batch": 4, "device": "cpu"}
    sign = signature(tmp_path / "s", "fields")
    start = do("rank-weights", tmp_path / "r", {"network": NETWORK, "scored": 0}, decoded=images, signature=sign,
               shortlist=listed)["start"]  # fmt: skip
    with_named = do(
        "train", tmp_path / "t0", {**quick, "weights": "none"}, decoded=images, labels=labels, weights=start
    )
    assert with_named.values["started_from"] == ("scratch",), "a start without weights changes nothing"
    keep(tmp_path / "kept" / "weights", "wheat")
    from_card = type(start)(tmp_path / "kept", {"card": ("wheat",)})
    model = do("train", tmp_path / "t", quick, decoded=images, labels=labels, weights=from_card)
    assert model.values["started_from"] == ("wheat",) and model.values["best_step"][0] <= 2
    made = do("import-weights", tmp_path / "i", {"name": "mine", "accuracy": 0.5}, model=model, signature=sign)
    kept = read_card(made.kept / CARD_FILE)
    assert kept.classes == ("a", "b") and kept.lineage["started_from"] == "wheat" and kept.trained_on == "fields"
    saved = load_file(model.file("model", "model.safetensors"))
    assert all(torch.equal(value, saved[name]) for name, value in load_file(made.kept / WEIGHTS_FILE).items())


def test_a_ranking_counts_all_labelled_images_of_which_signatures_look_at_some(tmp_path: Path) -> None:
    new = decoded(tmp_path / "new", "fields", name="new fields")
    few = {"space": "pixels", "most": 8}
    mine = do("signature", tmp_path / "sign", few, decoded=new)
    behind = do("signature", tmp_path / "behind", few, decoded=decoded(tmp_path / "old", "fields", seed=9))
    listed = shortlist(tmp_path / "list", {})
    cards = {"ours": {"images": 900, "lineage": {"started_from": "x"}}, "brought": {"images": 700}, "bare": {}}
    for number, (name, about) in enumerate(cards.items()):
        place = listed.folder / "cards" / f"{number:05d}"
        keep(place, name, **about)
        (place / SIGNATURE_FILE).write_bytes(behind.path.read_bytes())
    found = do("rank-weights", tmp_path / "rank", {"network": NETWORK, "size": SIDE, "scored": 0}, decoded=new,
               signature=mine, shortlist=listed)["ranking"].facts()  # fmt: skip
    evidence = {one["name"]: one["evidence"] for one in found["ranked"]}
    assert {name: facts["source_images"] for name, facts in evidence.items()} == {
        "ours": 24,
        "brought": 700,
        "bare": 24,
    }
    assert {facts["target_images"] for facts in evidence.values()} == {24}


def test_the_features_of_the_nearest_are_looked_at_too(ranked: Ranked) -> None:
    near, far = ranked(network="efficientnet_lite0.imagenet", scored=1)["ranked"]
    assert {"log-evidence", "h-score", "knn"} <= near["scores"].keys() and far["scores"] == {}
    assert near["evidence"]["scores"] == near["scores"] and near["evidence"]["target"] == "new fields"
