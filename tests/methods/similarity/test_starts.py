"""Ranking starts: a first look at many, a full one at the nearest, and outcomes paired from finished trainings."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from seedbed.assets.zoo.builder import empty_network
from seedbed.assets.zoo.card import Card, Preprocessing
from seedbed.assets.zoo.catalogue import CARDS
from seedbed.assets.zoo.importers import read_state
from seedbed.base.errors import Damaged
from seedbed.methods.similarity.evidence import Evidence, Outcome
from seedbed.methods.similarity.predictor import Expectation
from seedbed.methods.similarity.signature import Glimpse, Signature, glimpse, signature_of
from seedbed.methods.similarity.starts import (
    Source,
    Starts,
    Target,
    Time,
    _looked_at,
    _scores_of,
    outcomes_of,
    rank_starts,
)

SPACE = "numbers"
NAME = "efficientnet_lite0.imagenet"
OUTCOMES = [  # epochs fell with the distance
    Outcome(Evidence(f"t{number}", f"s{number} {ratio}", ratio, {}, 20, 20), epoch_ratio=ratio)
    for number in range(8)
    for ratio in (0.2, 0.5, 0.9)
]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def signature(name: str, centre: float, *, seed: int = 0, space: str = SPACE) -> Signature:
    draws = np.random.default_rng(seed)
    labels = np.arange(20) % 2
    rows = draws.normal(size=(20, 12)) + centre + 3 * labels[:, None]
    return signature_of(rows, labels, ("a", "b"), name=name, space=space)


def source(folder: Path, name: str, centre: float, **more: object) -> Source:
    made = signature(f"data behind {name}", centre, seed=len(name), **more)  # type: ignore[arg-type]
    made.save(folder / f"{name}.safetensors")
    card = Card(name, "test_resnet", "", f"data behind {name}", 2, 1, 1, Preprocessing(), lambda: None, lambda _: {})
    return Source(card, folder / f"{name}.safetensors", images=20)


def ranked(sources: list[Source], reference: Signature | None, usual: str = "usual", **more: object) -> Starts:
    pixels = np.zeros((20, 8, 8, 3), dtype=np.uint8)
    target = Target(signature("new", 0.0, seed=99), pixels, np.arange(20) % 2, 8)
    given = {"target": target, "scored": 0, **more}
    return rank_starts(sources=sources, baseline=usual, reference=reference, **given)  # type: ignore[arg-type]


def test_a_glimpse_is_the_sketch_of_the_whole(tmp_path: Path) -> None:
    made = source(tmp_path, "one", 1.0)
    seen = glimpse(made.signature)
    whole = Signature.load(made.signature)
    assert seen.space == SPACE and seen.noises == whole.noises and whole.noises
    assert all(np.array_equal(value, vars(whole.sketch)[part]) for part, value in vars(seen.sketch).items())
    (tmp_path / "bad").write_bytes(b"12345678")
    with pytest.raises(Damaged, match="no signature"):
        glimpse(tmp_path / "bad")


def test_of_many_the_nearest_are_measured_and_the_others_left_out(tmp_path: Path) -> None:
    sources = [source(tmp_path, f"far {number}", 5.0 + number) for number in range(40)] + [
        source(tmp_path, "twin", 0.1)
    ]
    found = ranked(sources, signature("usual data", 3.0), exact_for=5)
    assert [one.name for one in found.ranked][:1] == ["twin"] and len(found.ranked) == 5
    assert len(found.left_out) == 36 and all("first look" in why for why in found.left_out.values())
    assert all(one.exact for one in found.ranked) and found.ranked[0].ratio < 1 < found.ranked[-1].ratio


def test_many_sketches_are_compared_by_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources, threads = [source(tmp_path, "near", 0.1), source(tmp_path, "far", 5.0)], []
    square = Glimpse.square
    monkeypatch.setattr(Glimpse, "square", lambda *of: threads.append(torch.get_num_threads()) or square(*of))
    torch.set_num_threads(2)
    try:
        ranked(sources, None)
        assert threads == [1, 1] and torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_of_many_labelled_images_only_those_that_are_looked_at_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seedbed.methods.similarity.starts._LOOKED_AT", 8)
    draws = np.random.default_rng(0)
    pixels, rows = draws.integers(0, 256, (60, 8, 8, 3), dtype=np.uint8), np.arange(0, 60, 3)
    labels, mine = np.arange(20) % 2, signature("new", 0.0)
    few, all_of_them = Target.of(mine, pixels, rows, labels, 8), Target(mine, pixels[rows], labels, 8)
    assert few.images.shape == (8, 8, 8, 3) and len(few.labels) == 8
    assert _scores_of(few, NAME) == _scores_of(all_of_them, NAME) != {}


def test_a_ranking_looks_at_as_many_images_as_measured_starts_did_unless_they_are_large() -> None:
    assert [len(_looked_at(5000, size)) for size in (64, 128, 224, 1024)] == [1000, 1000, 326, 256]
    assert len(_looked_at(90, 64)) == 90


def test_one_broken_signature_does_not_end_a_ranking(tmp_path: Path) -> None:
    good, other, broken = (source(tmp_path, name, 0.1) for name in ("good", "other", "broken"))
    broken.signature.write_bytes(b"broken")
    signature("x", 0.0, space="elsewhere").save(other.signature)
    found = ranked([good, other, broken], signature("usual data", 3.0, space="elsewhere"))
    assert [one.name for one in found.ranked] == ["good"] and found.ranked[0].ratio is None
    assert "another way (elsewhere, not numbers)" in found.left_out["other"]
    assert "cannot be read" in found.left_out["broken"] and "another way" in found.left_out["usual data"]
    assert found.advice.start == "usual"


def test_weights_that_cannot_be_read_are_not_advised_however_near_they_are(tmp_path: Path) -> None:
    (tmp_path / "weights.safetensors").write_bytes(b"broken")
    near, far = source(tmp_path, "near", 0.1), source(tmp_path, "far", 2.0)
    broken = replace(near.card, find=lambda: tmp_path / "weights.safetensors", read=read_state)
    good = replace(CARDS.get(NAME), name="far", trained_on="data behind far")
    sources = [replace(near, card=broken), replace(far, card=good)]
    found = ranked(sources, signature("usual data", 9.0), usual=NAME, outcomes=OUTCOMES, scored=2)
    assert [one.name for one in found.ranked] == ["far"] and found.advice.start == "far"
    assert "cannot be read" in found.left_out["near"]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Source]:
    """Two cards of a network whose usual weights only the hub has, which cannot be reached."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "nothing was fetched"))
    save_file(dict(empty_network("test_resnet", 2).state_dict()), tmp_path / "w.safetensors")
    sources = [source(tmp_path, "wheat", 2.0), source(tmp_path, "rust", 4.0)]
    usable = {"find": lambda: tmp_path / "w.safetensors", "read": read_state}
    return [replace(one, card=replace(one.card, **usable)) for one in sources]


@pytest.mark.parametrize("time", [Time(), Time(training=60.0, loading={"wheat": 600.0, "rust": 600.0})])
def test_where_the_usual_weights_cannot_be_had_the_best_of_those_that_can_is_advised(
    kept: list[Source], time: Time
) -> None:
    advice = ranked(kept, signature("usual data", 1.0), usual="test_resnet", scored=2, time=time).advice
    assert (advice.start, advice.expected_saving, advice.expectation) == ("wheat", 0.0, None)
    assert advice.reason == (
        "ImageNet's weights of test_resnet cannot be had here; of the cards that were opened, wheat is expected to "
        "take the fewest epochs."
    )


def test_in_place_of_the_usual_weights_only_a_card_that_could_be_opened_is_advised(kept: list[Source]) -> None:
    (wheat, rust), reference = kept, signature("usual data", 4.5)
    no_wheat, no_rust = (replace(one, card=replace(one.card, find=lambda: None)) for one in kept)
    slower = [replace(one, epoch_ratio=9.0 if one.evidence.ratio < 0.8 else 0.2) for one in OUTCOMES]  # the nearer
    given = {"usual": "test_resnet", "scored": 1, "outcomes": slower}
    first = ranked([wheat, no_rust], reference, **given)
    assert [one.name for one in first.ranked] == ["wheat", "rust"] and first.advice.start == "wheat"
    second = ranked([no_wheat, rust], reference, **given)
    assert [one.name for one in second.ranked] == ["rust"] and second.advice.start == "rust"
    neither = ranked([no_wheat, no_rust], reference, **given)
    assert neither.advice.start == "test_resnet" and list(neither.left_out) == ["wheat", "rust"]


def test_usual_weights_that_cannot_be_had_are_advised_where_no_others_can_be_either(kept: list[Source]) -> None:
    reference, gone = signature("usual data", 1.0), {"find": lambda: None}
    broken = [replace(one, card=replace(one.card, **gone)) for one in kept]
    found = ranked(broken, reference, usual="test_resnet", scored=2)
    assert found.advice.start == "test_resnet" and list(found.left_out) == ["wheat", "rust"]
    (only,) = ranked([broken[0], kept[1]], reference, usual="test_resnet", scored=2).ranked
    assert only.name == "rust"


def test_labels_of_one_class_do_not_say_that_weights_cannot_be_had(kept: list[Source]) -> None:
    one_class = {"target": Target(signature("new", 0.0), np.zeros((20, 8, 8, 3), np.uint8), np.zeros(20, np.int64), 8)}
    found = ranked(kept, signature("usual data", 1.0), usual=NAME, scored=2, **one_class)
    assert found.advice.start == NAME and not found.left_out and not any(one.scores for one in found.ranked)


def test_a_target_that_is_the_baselines_own_data_has_a_ratio_all_the_same(tmp_path: Path) -> None:
    found = ranked([source(tmp_path, "far", 9.0)], signature("new", 0.0, seed=99))
    assert found.ranked[0].ratio == 100.0 and found.advice.start == "usual"


@pytest.mark.parametrize(
    ("usual", "called"),
    [
        *((name, "ImageNet") for name in (NAME, "efficientnet_lite0", "resnet18", "vit_small", "resnet18.a1_in1k")),
        *((name, name) for name in ("vit_small_patch14_dinov2", "resnet18.nosuch")),
    ],
)
def test_weights_that_learnt_from_imagenet_are_called_that(tmp_path: Path, usual: str, called: str) -> None:
    found = ranked([source(tmp_path, "far", 9.0)], signature("usual data", 3.0), usual=usual)
    assert found.advice.start == usual and found.advice.reason.startswith(f"{called} is as good: no other weights")
    assert found.advice.reason.endswith("times as far away as those of ImageNet.")  # the data set stands for that


def test_nothing_is_said_of_distances_that_nobody_knows(tmp_path: Path) -> None:
    faster = [replace(one, epoch_ratio=one.epoch_ratio / 3) for one in OUTCOMES]
    found = ranked([source(tmp_path, "near", 0.1)], None, outcomes=faster)
    assert found.advice.start == "near" and found.ranked[0].ratio is None
    assert found.advice.reason.startswith("By what came of earlier starts, near is expected to save ")
    slower = [replace(one, epoch_ratio=9.0) for one in OUTCOMES]
    reason = ranked([source(tmp_path, "other", 0.1)], None, outcomes=slower).advice.reason
    assert "as far as is known" in reason and reason.endswith("make none of the others surely faster.")


def test_progress_ends_at_its_end(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    ranked([source(tmp_path, "far", 9.0)], None, on_progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] and len({total for _, total in told}) == 1


def test_an_estimated_end_is_reading_and_training() -> None:
    time = Time(training=60.0, loading={"near": 5.0}, in_memory=frozenset({"cached"}))
    near, cached = (Expectation(name, 0.5, epoch_ratio=0.5, low=0.3, high=0.9) for name in ("near", "cached"))
    assert time.end(near) == 35.0 and time.end(cached) == 30.0
    assert time.usual_end("near") == 65.0 and time.usual_end("usual") == 60.0


def test_a_shortened_training_is_estimated_by_the_steps_that_it_takes() -> None:
    time = Time(training=100.0, loading={"near": 15.0}, shortened=True)
    sure, unsure = (Expectation("near", 0.5, epoch_ratio=0.5, low=0.3, high=high) for high in (0.9, 1.2))
    assert time.end(sure) == 105.0 > time.usual_end("usual")  # it is expected after 65, and goes on for longer
    assert time.end(unsure) == 65.0  # it would not be taken, nor shortened


@pytest.mark.parametrize(
    ("loading", "start", "said"),
    [
        ({}, "near", "near comes from images"),
        ({"near": 60.0}, "cached", "near would take fewer epochs, but its weights are not in memory"),
        ({"near": 200.0, "cached": 200.0}, "usual", "usual ends first"),
    ],
)
def test_what_is_in_memory_is_taken_where_it_ends_first(
    tmp_path: Path, loading: dict[str, float], start: str, said: str
) -> None:
    sources = [source(tmp_path, "near", 2.0), source(tmp_path, "cached", 4.0)]
    time = Time(training=100.0, loading=loading, in_memory=frozenset({"cached"}))
    found = ranked(sources, signature("usual data", 9.0), outcomes=OUTCOMES, time=time)
    assert found.advice.start == start and said in found.advice.reason


def test_outcomes_are_runs_against_those_from_the_baseline_alone() -> None:
    def run(start: str, curve: list[float], target: str = "t", alike: str = "x", net: str = "a") -> dict[str, object]:
        evidence = {"target": target, "source": start, "ratio": 0.5}
        return {"target": target, "start": start, "baseline": "usual", "alike": alike, "architecture": net,
                "curve": curve, "evidence": evidence if start != "usual" else None}  # fmt: skip

    slow, quick = [0.5, 0.6, 0.7, 0.8], [0.6, 0.8]
    (outcome,) = outcomes_of([
        run("usual", slow), run("near", quick),
        run("near", quick, alike="other settings"), run("near", quick, target="other"), run("near", []),
        run("near", quick, net="b"),
    ])  # fmt: skip
    assert outcome.epoch_ratio == pytest.approx(2 / 4) and outcome.gain_points == pytest.approx(0.0)
    assert outcome.evidence.source == "near" and outcome.architecture == "a"
    called = [run("usual", slow, net="efficientnetv2_s"), run("near", quick, net="tf_efficientnetv2_s")]
    assert [one.epoch_ratio for one in outcomes_of(called)] == [outcome.epoch_ratio], "one network by two names"
    assert outcomes_of([run("near", quick)]) == []
