"""Train, evaluate, export, label all and predict as steps: what they leave, and how bad input ends."""

import csv
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from seedbed.assets.data.cache import build_cache
from seedbed.base.errors import Damaged, Failed, InvalidInput, NotFound
from seedbed.base.run import MemoryRun
from seedbed.flows.kinds.data import DataSet, Decoded
from seedbed.flows.kinds.labels import Labels, read_labels
from seedbed.flows.kinds.models import ANSWERED_FILE, ANSWERS, ANSWERS_FILE, Download, Model, Predictions, Report
from seedbed.flows.kinds.zoo import Start
from seedbed.flows.steps import STEPS

QUICK = {"size": 32, "steps": 4, "labelled_batch": 4, "unlabelled_batch": 8, "evaluate_every": 2, "device": "cpu"}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Small tensors gain nothing from a second thread, and a busy machine loses much by it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def do(step: str, folder: Path, params: Mapping[str, Any] | None = None, **inputs: Any) -> Any:
    """A step as a worker does it, in this process."""
    found = STEPS.get(step)
    run = inputs.pop("run", None) or MemoryRun(folder)
    return found(params=found.check_params(params or {}), run=run, **inputs)


@pytest.fixture(scope="module")
def ingested(leaves: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[DataSet, Decoded]:
    made = do("ingest", tmp_path_factory.mktemp("ingest"), {"source": str(leaves), "size": 32})
    return made["data"], made["decoded"]


@pytest.fixture(scope="module")
def decoded(ingested: tuple[DataSet, Decoded]) -> Decoded:
    return ingested[1]


@pytest.fixture(scope="module")
def known(leaves: Path) -> dict[str, str]:
    return read_labels(leaves.parent / "leaves-truth.csv")


def some(known: Mapping[str, str], classes: int, first: int, last: int) -> dict[str, str]:
    """Labels number `first` to `last` of each of the first classes."""
    chosen: dict[str, str] = {}
    for klass in sorted(set(known.values()))[:classes]:
        files = sorted(file for file, its in known.items() if its == klass)
        chosen |= dict.fromkeys(files[first:last], klass)
    return chosen


@pytest.fixture(scope="module")
def trained(decoded: Decoded, known: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A model of two ordered classes, with enough labels to hold some out, and everything that is made of it."""
    folder = tmp_path_factory.mktemp("trained")
    named = sorted(set(known.values()))[:2]
    gently = {"learning_rate": 1e-5}  # in so few steps, the usual rate makes it call everything by one name
    params = {**QUICK, **gently, "few": 5, "values": {named[0]: 0.0, named[1]: 40.0}}
    labels = Labels.write(folder / "labels", some(known, 2, 0, 6))
    test = Labels.write(folder / "test", some(known, 2, 6, 10))
    model = do("train", folder / "train", params, decoded=decoded, labels=labels, holdout=test)
    return {
        "model": model,
        "test": test,
        "report": do("evaluate", folder / "evaluate", model=model, decoded=decoded, test=test),
        "predictions": do("label-all", folder / "all", model=model, decoded=decoded),
        "download": do("export", folder / "export", model=model),
    }


def test_the_report_has_all_that_pages_show(trained: dict[str, Any], decoded: Decoded) -> None:
    facts = trained["report"].facts()
    assert {"accuracy", "precision", "recall", "f1", "ece", "ece_before", "confusion", "roc_auc"} <= facts.keys()
    assert facts["count"] == 8 and facts["values"] == [0.0, 40.0]
    assert facts["mean_absolute_error"] == pytest.approx(40 * (1 - facts["accuracy"]))
    assert 0 <= facts["expected_absolute_error"] <= 40
    assert sum(one["count"] for one in facts["reliability"]) == 8
    assert facts["calibrated_on"] == 2 and facts["temperature"] > 0 and facts["notes"] == []
    for wrong in facts["mistakes"]:
        assert decoded.files[wrong["index"]] == wrong["file"] and wrong["true"] != wrong["called"]
    assert [point["step"] for point in facts["curve"]] == [0, 2, 4]
    assert all("accuracy" in point for point in facts["curve"])
    assert all("loss" in point for point in facts["curve"][1:])


def test_a_model_says_which_learning_rate_it_was_trained_with_and_why(trained: dict[str, Any]) -> None:
    assert trained["model"].values["learning_rate"] == (1e-5,)
    assert trained["model"].values["rate_reason"] == ("as it was set",)


def test_the_curve_of_a_model_of_an_earlier_version_is_empty(tmp_path: Path) -> None:
    assert Model(tmp_path).curve() == []


def test_the_download_has_every_format_and_how_to_use_it(trained: dict[str, Any]) -> None:
    download: Download = trained["download"]
    names = {path.name for path in download.place.iterdir()}
    assert names == {"model.json", "model.safetensors", "model.pt", "model.onnx", "README.txt", "edge.zip"}
    facts = json.loads(download.facts.read_text())
    assert facts["values"] == [0.0, 40.0] and facts["temperature"] == trained["report"].facts()["temperature"]
    assert torch.load(download.place / "model.pt", weights_only=True).keys()


def test_a_model_that_cannot_be_written_as_onnx_ends_with_a_download_too(
    ingested: tuple[DataSet, Decoded], known: Mapping[str, str], tmp_path: Path
) -> None:
    labels = Labels.write(tmp_path / "labels", some(known, 2, 0, 3))
    params = {**QUICK, "size": 64, "start": "csatv2", "weights": "none", "steps": 1}
    model = do("train", tmp_path / "train", params, decoded=ingested[1], labels=labels)
    download = do("export", tmp_path / "export", model=model)
    names = {path.name for path in download.place.iterdir()}
    assert names == {"model.json", "model.safetensors", "model.pt", "README.txt"}
    with pytest.raises(InvalidInput, match=r"has no file model\.onnx") as refused:
        do("predict", tmp_path / "predict", model=download, data=ingested[0])
    assert "README.txt" in refused.value.hint


def test_the_folder_for_a_device_runs_with_one_command_and_says_what_the_service_says(
    trained: dict[str, Any], leaves: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(trained["download"].place / "edge.zip") as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / "model-on-a-device"
    assert not any("seedbed" in line for line in (folder / "predict.py").read_text().splitlines() if "import" in line)
    (tmp_path / "broken.jpg").write_bytes(b"no image")
    # apart from the environment: neither this project nor torch can be found, only what the folder's list names
    blocked = "import sys; sys.modules.update(seedbed=None, torch=None, torchvision=None, timm=None, onnx=None)"
    command = f"{blocked}; sys.path.insert(0, {str(folder)!r}); import predict; sys.exit(predict.main())"
    photos = [str(leaves), str(tmp_path / "broken.jpg"), "--csv", str(tmp_path / "results.csv")]
    done = subprocess.run([sys.executable, "-c", command, *photos], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "broken.jpg: not an image" in done.stderr
    with (tmp_path / "results.csv").open(newline="") as file:
        said = {Path(row["file"]).name: row for row in csv.DictReader(file)}
    expected = {row["file"]: row for row in trained["predictions"].rows()}
    assert said.keys() == expected.keys()
    for name, row in said.items():
        assert float(row["confidence"]) == pytest.approx(float(expected[name]["confidence"]), abs=1e-3)
        assert float(row["value"]) == pytest.approx(float(expected[name]["value"]), abs=0.05)
    assert len(done.stdout.splitlines()) == 60
    alone = subprocess.run([sys.executable, "predict.py", str(min(leaves.glob("*.jpg")))], cwd=folder, check=False)
    assert alone.returncode == 0
    bare = subprocess.run(
        [sys.executable, "-I", "-S", "predict.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert bare.stderr.strip() == "numpy is not installed here. Once: python3 -m pip install -r requirements.txt"


def test_every_image_gets_a_class_a_confidence_and_an_expected_value(
    trained: dict[str, Any], ingested: tuple[DataSet, Decoded], tmp_path: Path
) -> None:
    predictions: Predictions = trained["predictions"]
    rows = predictions.rows()
    assert (
        len(rows) == 60 == sum(len(path.read_text().splitlines()) for path in (predictions.folder / "lists").iterdir())
    )
    answers = np.load(predictions.file(ANSWERS, ANSWERS_FILE), allow_pickle=False)
    assert answers.max(axis=1) == pytest.approx([float(row["confidence"]) for row in rows], abs=1e-5)
    assert predictions.file(ANSWERS, ANSWERED_FILE).read_text().split() == list(ingested[1].images)
    for row in rows:
        second = float(row[f"p({trained['model'].classes[1]})"])
        assert float(row["value"]) == pytest.approx(40 * second, abs=1e-3)
    same = do("predict", tmp_path, model=trained["download"], data=ingested[0]).rows()
    assert [row["file"] for row in same] == [row["file"] for row in rows]
    gaps = [abs(float(one["confidence"]) - float(two["confidence"])) for one, two in zip(rows, same, strict=True)]
    assert max(gaps) < 1e-3


def test_one_image_and_an_archive_are_brought_in_as_a_folder_is(leaves: Path, tmp_path: Path) -> None:
    image = min(leaves.glob("*.jpg"))
    assert len(do("ingest", tmp_path / "one", {"source": str(image), "size": 32})["data"].records) == 1
    archive = shutil.make_archive(str(tmp_path / "all"), "gztar", leaves)
    assert len(do("ingest", tmp_path / "all", {"source": archive, "size": 32})["data"].records) == 60


def test_a_model_of_good_parts_is_judged_against_everything_else(
    decoded: Decoded, known: Mapping[str, str], tmp_path: Path
) -> None:
    good = sorted(set(known.values()))[0]
    labels = Labels.write(tmp_path / "labels", some(known, 6, 0, 6))
    test = Labels.write(tmp_path / "test", some(known, 6, 6, 10))
    params = {**QUICK, "algorithm": "one-class", "good": good}
    model = do("train", tmp_path / "train", params, decoded=decoded, labels=labels, holdout=test)
    assert model.classes == (good, "anomalous") and model.values["labels"] == (6,)
    facts = do("evaluate", tmp_path / "evaluate", model=model, decoded=decoded, test=test).facts()
    assert [sum(row) for row in facts["confusion"]] == [4, 20]
    assert 0 <= facts["roc_auc"] <= 1
    few = "It learnt from only 6 good parts"
    assert facts["notes"][-1].startswith(few) and "20 or more" in facts["notes"][-1]
    with pytest.raises(InvalidInput, match="6 classes") as caught:
        do("train", tmp_path / "again", {**QUICK, "algorithm": "one-class"}, decoded=decoded, labels=labels)
    assert "'good'" in caught.value.hint


def test_labels_of_one_class_only_end_in_a_sentence_that_names_the_way_out(
    decoded: Decoded, known: Mapping[str, str], tmp_path: Path
) -> None:
    labels = Labels.write(tmp_path / "labels", some(known, 1, 0, 6))
    with pytest.raises(InvalidInput) as caught:
        do("train", tmp_path / "train", QUICK, decoded=decoded, labels=labels)
    assert "label images of another class" in str(caught.value) and "one-class" in str(caught.value)


def test_a_class_without_labels_is_named(decoded: Decoded, known: Mapping[str, str], tmp_path: Path) -> None:
    labels = Labels.write(tmp_path / "labels", some(known, 2, 0, 6))
    named = {klass: float(place) for place, klass in enumerate(sorted(set(known.values()))[:3])}
    with pytest.raises(InvalidInput, match="which no label names"):
        do("train", tmp_path / "train", {**QUICK, "values": named}, decoded=decoded, labels=labels)


def test_labels_for_images_that_do_not_exist_are_named(
    decoded: Decoded, known: Mapping[str, str], tmp_path: Path
) -> None:
    labels = Labels.write(tmp_path / "labels", {**some(known, 2, 0, 6), "nowhere.jpg": "rust"})
    with pytest.raises(InvalidInput, match=r"nowhere\.jpg") as caught:
        do("train", tmp_path / "train", QUICK, decoded=decoded, labels=labels)
    assert "bring the missing images in" in caught.value.hint


def test_images_that_are_gone_from_disk_are_named_with_what_to_do(
    trained: dict[str, Any], ingested: tuple[DataSet, Decoded], known: Mapping[str, str], tmp_path: Path
) -> None:
    data, decoded = (
        type(part)(shutil.copytree(part.folder, tmp_path / name), part.values, name=name)
        for part, name in zip(ingested, ("data", "decoded"), strict=True)
    )
    next((data.folder / "images").rglob("*.jpg")).unlink()
    with pytest.raises(NotFound, match="is not in this folder") as missing:
        do("predict", tmp_path / "predict", model=trained["download"], data=data)
    assert "bring the images in again" in missing.value.hint
    with pytest.raises(Damaged, match=r"lost\.jpg is gone from disk"):
        build_cache([tmp_path / "lost.jpg"], tmp_path / "cache", 32)
    next((decoded.folder / "decoded").iterdir()).unlink()
    labels = Labels.write(tmp_path / "labels", some(known, 2, 0, 6))
    with pytest.raises(Damaged, match="decoded images of 'decoded' are gone") as caught:
        do("train", tmp_path / "train", QUICK, decoded=decoded, labels=labels)
    assert "Decode the data set again" in caught.value.hint


def test_a_loss_that_is_no_number_keeps_the_last_good_checkpoint(
    decoded: Decoded, known: Mapping[str, str], tmp_path: Path
) -> None:
    labels = Labels.write(tmp_path / "labels", some(known, 2, 0, 6))
    rate: dict[str, float] = {
        "learning_rate": 1e38,
        "warmup": 0.5,
        "steps": 40,
        "report_every": 100,
        "evaluate_every": 100,
    }
    rate |= {"checkpoint_every": 1}
    with pytest.raises(Failed, match="gone astray; the last checkpoint, if any, is kept") as caught:
        do("train", tmp_path / "train", {**QUICK, **rate}, decoded=decoded, labels=labels)
    assert "smaller learning rate" in caught.value.hint
    kept = sorted((tmp_path / "train" / "checkpoints").iterdir())
    for checkpoint in kept:
        weights = load_file(checkpoint / "state.safetensors")
        assert all(np.isfinite(value).all() for name, value in weights.items() if name.startswith("network."))


def test_memory_that_does_not_suffice_ends_in_a_sentence_and_keeps_the_checkpoint(
    decoded: Decoded, known: Mapping[str, str], tmp_path: Path
) -> None:
    labels = Labels.write(tmp_path / "labels", some(known, 2, 0, 6))
    with pytest.raises(Failed, match="the last checkpoint is kept") as caught:  # more than any address space
        do("train", tmp_path / "train", {**QUICK, "size": 4_000_000}, decoded=decoded, labels=labels)
    assert "smaller batches, which the learning rate follows" in caught.value.hint
    with pytest.raises(Failed) as caught:
        set_too = {**QUICK, "size": 4_000_000, "learning_rate": 0.01}
        do("train", tmp_path / "set", set_too, decoded=decoded, labels=labels)
    assert "smaller batches with a smaller learning rate" in caught.value.hint
    with pytest.raises(Failed, match="does not hold"):
        params = {**QUICK, "size": 4_000_000, "algorithm": "one-class", "good": min(known.values())}
        do("train", tmp_path / "one", params, decoded=decoded, labels=labels)


def test_a_test_on_images_that_were_trained_on_is_refused(
    trained: dict[str, Any], decoded: Decoded, known: Mapping[str, str], tmp_path: Path
) -> None:
    seen = Labels.write(tmp_path / "seen", some(known, 2, 0, 2))
    with pytest.raises(InvalidInput, match="4 of the 4 test images were used in training"):
        do("evaluate", tmp_path / "evaluate", model=trained["model"], decoded=decoded, test=seen)


def test_without_held_out_labels_the_report_says_that_no_temperature_was_fitted(
    decoded: Decoded, known: Mapping[str, str], tmp_path: Path
) -> None:
    labels = Labels.write(tmp_path / "labels", some(known, 6, 0, 3))
    test = Labels.write(tmp_path / "test", some(known, 6, 6, 10))
    model = do("train", tmp_path / "train", QUICK, decoded=decoded, labels=labels, holdout=test)
    report: Report = do("evaluate", tmp_path / "evaluate", model=model, decoded=decoded, test=test)
    facts = report.facts()
    assert facts["temperature"] == 1 and facts["calibrated_on"] == 0 and "ece_before" not in facts
    assert "No temperature was fitted" in facts["notes"][0]


def test_a_training_takes_as_many_steps_as_its_start_needs(
    decoded: Decoded, known: Mapping[str, str], tmp_path: Path
) -> None:
    labels = Labels.write(tmp_path / "labels", some(known, 2, 0, 3))
    start = Start(tmp_path / "start", {"card": ("kindred",), "share": (0.5,)})
    model = do("train", tmp_path / "train", QUICK, decoded=decoded, labels=labels, weights=start)
    assert model.values["steps"] == model.values["planned"] == (QUICK["steps"] / 2,)
