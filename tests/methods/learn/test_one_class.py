"""Stripes that are good, and stripes with a scratch."""

import math
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from seedbed.base.errors import InvalidInput
from seedbed.base.run import MemoryRun, Stopped
from seedbed.methods.learn.clouds import Cloud
from seedbed.methods.learn.export import export_all
from seedbed.methods.learn.launch import train_on_ranks
from seedbed.methods.learn.model import Model
from seedbed.methods.learn.one_class import ANOMALOUS, threshold_of, train_one_class
from seedbed.methods.learn.predict import predict
from seedbed.methods.learn.settings import TrainSettings

SIZE, KNOWN, NEW = 64, 24, 24


def stripes(count: int, *, scratched: bool, seed: int) -> NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:SIZE, :SIZE]
    images = np.empty((count, SIZE, SIZE, 3), np.uint8)
    for image in images:
        pitch, phase = rng.uniform(0.5, 0.7), rng.uniform(0, 2 * np.pi)
        grey = 128 + 50 * np.sin(pitch * (y + 0.1 * x) + phase) + rng.normal(0, 8, (SIZE, SIZE))
        if scratched:
            turn, (left, top), half = rng.uniform(0, np.pi), rng.uniform(20, 44, 2), rng.uniform(8, 16)
            along = (x - left) * np.cos(turn) + (y - top) * np.sin(turn)
            across = (y - top) * np.cos(turn) - (x - left) * np.sin(turn)
            grey[(np.abs(along) < half) & (np.abs(across) < 1)] += 60
        image[:] = np.clip(grey[..., None] + np.array([0, 5, 10]), 0, 255)
    return images


def settings(**changes: object) -> TrainSettings:
    chosen: dict[str, object] = {"classes": ("good",), "algorithm": "one-class", "size": SIZE, "device": "cpu"}
    return TrainSettings(**(chosen | changes))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def images() -> NDArray[np.uint8]:
    return np.concatenate(
        [
            stripes(KNOWN, scratched=False, seed=1),
            stripes(NEW, scratched=False, seed=2),
            stripes(NEW, scratched=True, seed=3),
        ]
    )


@pytest.fixture(scope="module")
def labels() -> NDArray[np.int64]:
    return np.array([0] * KNOWN + [-1] * 2 * NEW)


@pytest.fixture(scope="module")
def model(images, labels, tmp_path_factory) -> Model:
    return train_on_ranks(images, labels, settings(), MemoryRun(tmp_path_factory.mktemp("run"))).model


def test_scratches_are_told_from_good_stripes_although_none_was_seen(model, images):
    new = predict(model, images[KNOWN:])[:, 1]
    scratched = np.array([0] * NEW + [1] * NEW)
    assert model.classes == ("good", ANOMALOUS)
    assert roc_auc_score(scratched, new) > 0.9
    assert (new[:NEW] < 0.5).mean() > 0.8  # the threshold lets good ones pass
    assert (new[NEW:] > 0.5).mean() > 0.6


def test_a_distance_at_the_threshold_is_half_an_anomaly(model):
    network = model.network
    network.distance = lambda images: torch.stack([network.threshold, 2 * network.threshold, network.threshold / 2])
    try:
        half, far, near = network(torch.zeros(3, 3, SIZE, SIZE)).softmax(dim=1)[:, 1].tolist()
    finally:
        del network.distance
    assert half == pytest.approx(0.5) and near < 0.5 < far


def test_it_is_saved_loaded_and_exported_like_any_model(model, images, tmp_path):
    export_all(model, tmp_path)
    loaded = Model.load(tmp_path, device="cpu")
    assert np.array_equal(predict(loaded, images[-4:]), predict(model, images[-4:]))
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    (answers,) = session.run(None, {"images": images[-4:]})
    np.testing.assert_allclose(answers, predict(model, images[-4:]), atol=1e-3)
    found = torch.load(tmp_path / "model.pt", weights_only=True)
    loaded.network.load_state_dict(found)
    assert "not one of timm's" in (tmp_path / "README.txt").read_text()


@pytest.mark.parametrize("name", ["test_nfnet", "convit_tiny"])
def test_of_a_network_without_stages_what_its_head_sees_is_looked_at(name, images, labels, tmp_path: Path):
    model = train_one_class(images, labels, settings(start=name, weights="none"), MemoryRun(tmp_path)).model
    assert model.head["stages"] == [] and model.head["channels"] == [model.network.backbone.num_features]
    model.save(tmp_path)
    assert np.array_equal(predict(Model.load(tmp_path, device="cpu"), images[-4:]), predict(model, images[-4:]))


def test_labels_of_no_good_part_change_nothing(model, images, labels, tmp_path):
    fewer = train_one_class(images[:KNOWN], labels[:KNOWN], settings(), MemoryRun(tmp_path))
    own, other = model.network.state_dict(), fewer.model.network.state_dict()
    assert all(torch.equal(own[name], other[name]) for name in own)


def test_fewer_false_alarms_are_a_higher_threshold(model, images, labels, tmp_path):
    strict = train_one_class(images, labels, settings(options={"false_alarms": 0.001}), MemoryRun(tmp_path))
    assert strict.model.network.threshold > model.network.threshold


def test_the_threshold_of_two_distances_computed_by_hand():
    # logs are 0 and 2: mean 1, deviation sqrt(2); Student's 95 % point for one degree of freedom is 6.3138
    wanted = math.exp(1 + 6.3138 * math.sqrt(2) * math.sqrt(1 + 1 / 2))
    assert threshold_of(np.exp([0.0, 2.0]), 0.05) == pytest.approx(wanted, rel=1e-3)


def test_as_many_good_parts_pass_the_threshold_as_was_asked_for():
    rng = np.random.default_rng(0)
    beyond = [(rng.lognormal(3, 0.2, 200) > threshold_of(rng.lognormal(3, 0.2, 12), 0.1)).mean() for _ in range(300)]
    assert np.mean(beyond) == pytest.approx(0.1, abs=0.02)


def test_a_cloud_counts_distances_in_deviations():
    cloud = Cloud(2)
    cloud.mean.copy_(torch.tensor([1.0, 1.0]))
    cloud.whitening.copy_(torch.tensor([[1 / 2, 0.0], [0.0, 1.0]]))
    assert cloud(torch.tensor([[1.0, 1.0], [5.0, 1.0], [1.0, 4.0]])).tolist() == pytest.approx([0, 2, 3])


def test_too_few_good_parts_and_unknown_options_are_sentences(images, labels, tmp_path):
    with pytest.raises(InvalidInput, match="at least 4 are needed"):
        train_one_class(images[:3], labels[:3], settings(), MemoryRun(tmp_path))
    with pytest.raises(InvalidInput, match="false_alarms"):
        train_one_class(images, labels, settings(options={"false_alarm": 0.1}), MemoryRun(tmp_path))
    with pytest.raises(InvalidInput, match="must lie between 0"):
        train_one_class(images, labels, settings(options={"false_alarms": 0.7}), MemoryRun(tmp_path))
    with pytest.raises(InvalidInput, match="name it with 'good'"):
        train_one_class(images, labels, settings(classes=("good", "bad")), MemoryRun(tmp_path))


def test_good_parts_that_are_all_copies_of_one_are_refused(images, labels, tmp_path: Path):
    copies = np.concatenate([np.repeat(images[:1], KNOWN, axis=0), images[KNOWN:]])
    with pytest.raises(InvalidInput, match=f"The {KNOWN} images of good parts all look the same"):
        train_one_class(copies, labels, settings(), MemoryRun(tmp_path))


def test_it_stops_when_it_is_asked_to(images, labels, tmp_path: Path):
    run = MemoryRun(tmp_path)
    run.ask_to_stop()
    with pytest.raises(Stopped):
        train_one_class(images, labels, settings(), run)
