import ast
import dataclasses
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image

from seedbed.assets.zoo.builder import build_backbone
from seedbed.base.errors import Damaged, InvalidInput, NotFound, SeedbedError
from seedbed.methods.learn.export import (
    NotInOnnx,
    export_all,
    export_onnx,
    export_safetensors,
    export_state_dict,
)
from seedbed.methods.learn.guide import guide
from seedbed.methods.learn.model import Model
from seedbed.methods.learn.predict import predict, predict_path


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


def test_logits_are_divided_by_the_temperature_in_torch_and_in_onnx(model, task, tmp_path):
    warm = dataclasses.replace(model, temperature=2.5, calibrated_on=12, values=tuple(range(len(task.classes))))
    warm.save(tmp_path)
    loaded = Model.load(tmp_path, device="cpu")
    assert (loaded.temperature, loaded.calibrated_on, loaded.values) == (2.5, 12, warm.values)
    images = task.images[:5]
    plain = np.log(predict(model, images).astype(np.float64)) / 2.5
    expected = np.exp(plain) / np.exp(plain).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(predict(loaded, images), expected, atol=1e-5)
    path = export_onnx(loaded, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"images": images})[0], expected, atol=1e-4)


def test_a_model_of_an_earlier_version_loads_with_a_temperature_of_one(model, task, tmp_path):
    model.save(tmp_path)
    facts = json.loads((tmp_path / "model.json").read_text())
    for name in ("values", "temperature", "calibrated_on", "head"):
        del facts[name]
    (tmp_path / "model.json").write_text(json.dumps(facts))
    loaded = Model.load(tmp_path, device="cpu")
    assert (loaded.temperature, loaded.values, loaded.calibrated_on) == (1.0, (), 0)
    assert np.array_equal(predict(loaded, task.images[:3]), predict(model, task.images[:3]))


def test_the_state_dict_loads_with_weights_only_and_is_the_models(model, tmp_path):
    found = torch.load(export_state_dict(model, tmp_path / "model.pt"), weights_only=True)
    own = model.network.state_dict()
    assert found.keys() == own.keys() and all(torch.equal(found[name], own[name]) for name in own)


def test_the_code_in_the_readme_of_a_download_runs_and_answers_as_seedbed_does(model, task, tmp_path):
    warm = dataclasses.replace(model, temperature=1.7, calibrated_on=5)
    export_all(warm, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("model.json", "model.safetensors", "model.pt", "model.onnx", "README.txt")
    }
    ways = _code_in((tmp_path / "README.txt").read_text())
    assert len(ways) == 3
    photos = _photographed(task.images[0], tmp_path / "photos")
    answers = _run([way.replace("image.jpg", f"photos/{photo.name}") for photo in photos for way in ways], tmp_path)
    for number, answer in enumerate(answers):
        (product,) = predict_path(warm, photos[number // len(ways)]).probabilities
        assert tuple(answer) == task.classes
        np.testing.assert_allclose(list(answer.values()), product, atol=1e-4)


def test_a_network_that_onnx_has_no_words_for_is_taken_away_without_and_the_readme_says_why(tmp_path, capfd):
    made = build_backbone("csatv2", 3, weights="none", size=64)
    model = Model(made.network.eval(), made.architecture, ("a", "b", "c"), 64, made.preprocessing)
    (tmp_path / "model.onnx").write_bytes(b"of an earlier model")
    export_all(model, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"model.json", "model.safetensors", "model.pt", "README.txt"}
    text = (tmp_path / "README.txt").read_text()
    assert "There is no model.onnx. The network 'csatv2' cannot be written as ONNX for images of 64 px: " in text
    assert "adaptive_avg_pool2d" in text and "onnxruntime" not in text and len(_code_in(text)) == 2
    assert capfd.readouterr().out == ""  # the exporter would print its graph
    with pytest.raises(NotInOnnx, match="cannot be written as ONNX"):
        export_onnx(model, tmp_path / "model.onnx")


def _photographed(image: NDArray[np.uint8], folder: Path) -> list[Path]:
    """The image as JPEGs: as it is, and larger than a model takes, with grain, held upright, turned, and in grey."""
    folder.mkdir()
    grain = np.random.default_rng(5).integers(-60, 60, (400, 520, 3))
    large = np.asarray(Image.fromarray(image).resize((520, 400))) + grain
    photo, turned = Image.fromarray(large.clip(0, 255).astype(np.uint8)), Image.Exif()
    turned[0x0112] = 6
    Image.fromarray(image).save(folder / "small.jpg", quality=95)
    photo.save(folder / "large.jpg")
    photo.save(folder / "turned.jpg", exif=turned)
    photo.convert("L").save(folder / "grey.jpg")
    return sorted(folder.iterdir())


def _code_in(text: str) -> list[str]:
    """Blocks of indented lines."""
    blocks, lines = [], []
    for line in [*text.splitlines(), "end"]:
        if line.startswith("    ") or (lines and not line):
            lines.append(line[4:])
        elif lines:
            blocks.append("\n".join(lines))
            lines = []
    return blocks


def _run(codes: list[str], folder: Path) -> list[dict[str, float]]:
    """What each prints, on a line; each has its own names, and all one process, which imports torch only once."""
    each = "import sys\nfor code in sys.argv[1:]: exec(compile(code, 'README.txt', 'exec'), {'__name__': '__main__'})"
    command = [sys.executable, "-c", each, *codes]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [ast.literal_eval(line) for line in done.stdout.splitlines()]


def test_one_image_a_folder_and_an_archive_get_the_same_answers(model, task, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(4):
        Image.fromarray(task.images[number]).save(folder / f"{number}.png")
    (folder / "broken.jpg").write_bytes(b"no image")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, path.name)
    of_folder = predict_path(model, folder, batch=3)
    assert of_folder.files == ("0.png", "1.png", "2.png", "3.png") and list(of_folder.refused) == ["broken.jpg"]
    np.testing.assert_allclose(of_folder.probabilities, predict(model, task.images[:4]), atol=1e-5)
    of_archive = predict_path(model, tmp_path / "all.zip")
    assert of_archive.files == of_folder.files
    np.testing.assert_allclose(of_archive.probabilities, of_folder.probabilities, atol=1e-5)
    (one,) = predict_path(model, folder / "2.png").probabilities
    np.testing.assert_allclose(one, of_folder.probabilities[2], atol=1e-5)


def test_files_that_cannot_be_read_are_named_and_not_waited_for(model, task, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(2):
        Image.fromarray(task.images[number]).save(folder / f"{number}.png")
    (folder / "loop.png").symlink_to("loop.png")

    def swap(done: int, total: int) -> None:
        if done == 1:  # of what was listed, the second has not been read yet
            (folder / "1.png").unlink()
            os.mkfifo(folder / "1.png")

    answers = predict_path(model, folder, batch=1, on_progress=swap)
    assert answers.files == ("0.png",) and list(answers.refused) == ["1.png", "loop.png"]
    assert "pipe" in answers.refused["1.png"] and "symbolic links" in answers.refused["loop.png"]


def test_an_archive_that_reaches_outside_and_a_folder_without_images_are_refused(model, tmp_path):
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr("../../out.png", b"x")
    with pytest.raises(SeedbedError):
        predict_path(model, tmp_path / "evil.zip")
    assert not (tmp_path.parent / "out.png").exists()
    (tmp_path / "bad.png").write_bytes(b"")
    with pytest.raises(InvalidInput, match="No image in"):
        predict_path(model, tmp_path / "bad.png")


@pytest.mark.slow
@pytest.mark.parametrize(("start", "in_timm"), [("vit_tiny", True), ("resnet18", False)])
def test_the_readme_of_networks_made_for_small_images_runs_too(start, in_timm, task, tmp_path):
    made = build_backbone(start, 3, weights="none", size=32)
    parts = {"architecture": made.architecture, "preprocessing": made.preprocessing, "size": 32}
    Model(network=made.network.eval(), classes=("a", "b", "c"), **parts).save(tmp_path)
    loaded = Model.load(tmp_path, device="cpu")
    export_state_dict(loaded, tmp_path / "model.pt")
    Image.fromarray(task.images[0]).save(tmp_path / "image.jpg")
    text = guide(loaded)
    assert ("timm.create_model" in text) == in_timm
    last = _code_in(text)[-1] + ("" if in_timm else "\nprint({})")
    (answer,) = _run([last], tmp_path)
    assert len(answer) == (3 if in_timm else 0)
