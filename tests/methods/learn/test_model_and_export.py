import json

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from seedbed.assets.zoo.builder import build_backbone
from seedbed.base.errors import Damaged, InvalidInput, NotFound
from seedbed.methods.learn.export import export_onnx, export_safetensors
from seedbed.methods.learn.model import Model
from seedbed.methods.learn.predict import predict


@pytest.fixture(scope="module")
def model(task) -> Model:
    backbone = build_backbone("efficientnet_lite0.imagenet", len(task.classes), seed=1)
    return Model(
        network=backbone.network.eval(),
        architecture=backbone.architecture,
        classes=task.classes,
        size=32,
        preprocessing=backbone.preprocessing,
        started_from=backbone.started_from,
    )


def test_a_loaded_model_is_the_saved_one(model, task, tmp_path):
    export_safetensors(model, tmp_path)
    loaded = Model.load(tmp_path, device="cpu")
    assert loaded.facts() == model.facts()
    assert np.array_equal(predict(loaded, task.images), predict(model, task.images))


def test_the_folder_holds_no_pickle_and_says_what_the_model_is(model, tmp_path):
    model.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "model.safetensors"]
    facts = json.loads((tmp_path / "model.json").read_text())
    assert facts["architecture"] == "tf_efficientnet_lite0"
    assert facts["preprocessing"]["mean"] == [0.5, 0.5, 0.5]


def test_probabilities_add_to_one_whatever_the_batch_and_progress_is_told(model, task):
    told: list[tuple[int, int]] = []
    answers = predict(model, task.images[:10], batch=4, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(4, 10), (8, 10), (10, 10)]
    np.testing.assert_allclose(answers.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(answers, predict(model, task.images[:10]), atol=1e-5)


def test_images_of_another_size_are_brought_to_the_models(model, task):
    larger = task.images[:3].repeat(2, axis=1).repeat(2, axis=2)
    np.testing.assert_allclose(predict(model, larger), predict(model, task.images[:3]), atol=0.1)


def test_no_images_give_no_answers_and_wrong_ones_a_sentence(model, task):
    assert predict(model, task.images[:0]).shape == (0, len(task.classes))
    with pytest.raises(InvalidInput, match="float64"):
        predict(model, task.images / 255)


def test_onnx_takes_raw_pixels_and_agrees_with_torch(model, task, tmp_path):
    path = export_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for images in (task.images[:1], task.images[:13]):
        (answers,) = session.run(["probabilities"], {"images": images})
        np.testing.assert_allclose(answers, predict(model, images), atol=1e-4)
    facts = {entry.key: entry.value for entry in onnx.load(path).metadata_props}
    assert json.loads(facts["classes"]) == list(task.classes)
    assert facts["size"] == "32"


def test_a_missing_or_damaged_model_is_a_sentence(model, tmp_path):
    with pytest.raises(NotFound, match="holds no model"):
        Model.load(tmp_path)
    model.save(tmp_path)
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Damaged, match="cannot be read"):
        Model.load(tmp_path)
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(Damaged, match="architecture"):
        Model.load(tmp_path)


def test_predicting_leaves_the_network_in_the_mode_that_it_was_in(model, task):
    model.network.train()
    predict(model, task.images[:2])
    assert model.network.training
    model.network.eval()
    assert torch.is_grad_enabled()
