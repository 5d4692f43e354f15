"""Bringing images in by command, in process and over the network."""

import json
import time
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from tests.faces.cli.conftest import Asked, Seedbed
from tests.faces.servers import Server, run


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve small pictures in two class folders, and a file that is no picture."""
    folder = tmp_path_factory.mktemp("pictures") / "leaves"
    random = np.random.default_rng(0)
    for number in range(12):
        place = folder / ("rust" if number % 2 else "well")
        place.mkdir(parents=True, exist_ok=True)
        pixels = random.integers(0, 255, (48, 48, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(place / f"{number}.png")
    (folder / "rust" / "broken.jpg").write_bytes(b"no picture")
    return folder


def test_a_folder_becomes_a_data_set_with_findings(asked: Asked, seedbed: Seedbed, leaves: Path) -> None:
    job = asked("data", "add", str(leaves), "--name", "leaves")
    assert job["state"] == "done"
    shown = asked("data", "show", "leaves")
    assert shown["images"] == 12
    assert "broken.jpg" in json.dumps(shown["findings"])
    assert [one["name"] for one in asked("data", "list")] == [shown["name"]]
    assert "rust" in seedbed("data", "show", "leaves").stdout


def test_a_data_set_is_shown_in_words(seedbed: Seedbed, asked: Asked, leaves: Path) -> None:
    asked("data", "add", str(leaves), "--name", "leaves")
    shown = seedbed("data", "show", "leaves").stdout
    assert "{" not in shown and "[" not in shown
    lines = {line.split("  ")[0]: line.split("  ")[-1].strip() for line in shown.splitlines()}
    assert (lines["images"], lines["formats"], lines["width"]) == ("12", "PNG 12", "48 pixels")
    assert (lines["rust"], lines["well"]) == ("6", "6")
    assert "broken.jpg" in shown


def test_labels_of_images_that_are_not_in_the_data_set_are_refused_all_at_once(
    asked: Asked, seedbed: Seedbed, leaves: Path, tmp_path: Path
) -> None:
    asked("projects", "create", "fields", "-c", "rust", "-c", "well")
    asked("data", "add", str(leaves), "--name", "leaves", "--project", "fields")
    (tmp_path / "labels.csv").write_text("file,class\nrust/1.png,rust\nrust/77.png,rust\nwell/78.png,well\n")
    refused = seedbed("projects", "label", "import", "fields", str(tmp_path / "labels.csv"))
    assert refused.returncode == 2
    assert "2 of the labelled images are not in" in refused.stderr and "rust/77.png, well/78.png" in refused.stderr
    assert asked("projects", "show", "fields")["classes"] == {"rust": 0, "well": 0}


def test_images_that_were_in_already_are_named_by_the_data_set_that_they_are(
    asked: Asked, seedbed: Seedbed, leaves: Path, tmp_path: Path
) -> None:
    uuid = asked("data", "add", str(leaves), "--name", "same-leaves")["outputs"]["data"]
    Image.new("RGB", (20, 20)).save(tmp_path / "new.png")
    newer = asked("data", "add", str(tmp_path), "--name", "same-leaves")
    assert newer["outputs"]["data"] != uuid
    again = seedbed("data", "add", str(leaves), "--name", "same-leaves").stdout.strip()
    shown = again.removeprefix(f"same-leaves is in: {again[-36:]}. Look at it: seedbed ")
    assert asked(*shown.split())["images"] == 12, "not the newest of that name, which has one image"


def test_labels_of_a_file_and_a_group_reach_the_training(
    asked: Asked, seedbed: Seedbed, leaves: Path, home: Path, tmp_path: Path
) -> None:
    table = _table(leaves)
    asked("data", "add", str(table), "--name", "listed")
    jobs = asked("train", "listed", "--labels", str(table), "--group", "plot", "--detach")
    sampled = next(job for job in jobs if job["step"] == "sample-labels")
    assert sampled["spec"]["params"]["group"] == "plot"
    (labels,) = [uuid for name, uuid in sampled["spec"]["inputs"].items() if name != "data"]
    assert asked("store", "show", labels)["arrays"]["count"]["items"] == [12]
    assert not list((home / "uploads").glob("*")), "the upload is used up"
    for job in jobs:
        seedbed("jobs", "cancel", job["id"], "--yes")
    missing = seedbed("train", "listed", "--labels", str(tmp_path / "none.csv"))
    assert missing.returncode == 5 and "none.csv" in missing.stderr


def test_predictions_are_not_written_over_a_file_nor_promised_by_a_detached_job(
    seedbed: Seedbed, tmp_path: Path
) -> None:
    (tmp_path / "out.csv").write_text("mine")
    taken = seedbed("predict", "model", "data", "--out", str(tmp_path / "out.csv"))
    assert taken.returncode == 6 and "out.csv" in taken.stderr
    assert seedbed("predict", "model", "data", "--out", str(tmp_path / "new.csv"), "--detach").returncode == 2


def test_what_is_neither_a_file_nor_a_data_set_is_called_that(seedbed: Seedbed) -> None:
    wrong = seedbed("predict", "model", "nowhere")
    assert wrong.returncode == 5 and "There is no file, folder or data set 'nowhere'." in wrong.stderr


def test_over_the_network_a_list_brings_its_images_and_a_labels_file_is_sent(
    server: Server, asked: Asked, leaves: Path
) -> None:
    away = {"SEEDBED_URL": server.url, "SEEDBED_TOKEN": server.token}
    table = _table(leaves)
    assert asked("data", "add", str(table), "--name", "sent-list", **away)["state"] == "done"
    shown = asked("data", "show", "sent-list", **away)
    assert shown["images"] == 12 and shown["statistics"]["columns"] == {"plot": 4}
    jobs = asked("train", "sent-list", "--labels", str(table), "--detach", **away)
    assert {"sample-labels", "train"} <= {job["step"] for job in jobs}
    for job in jobs:
        asked("jobs", "cancel", job["id"], "--yes", **away)


def test_over_the_network_a_recipe_is_sent_its_images_and_its_labels(
    server: Server, asked: Asked, seedbed: Seedbed, leaves: Path, tmp_path: Path
) -> None:
    away = {"SEEDBED_URL": server.url, "SEEDBED_TOKEN": server.token}
    table = tmp_path / "LABELS.CSV"
    table.write_text(_table(leaves).read_text())
    before = {path.name for path in (server.home / "uploads").glob("*")}
    jobs = asked("recipe", "few-labels", "-p", f"source={leaves}", "-p", f"labels={table}", "--detach", **away)
    steps = {job["step"]: job for job in jobs}
    for job in jobs[2:]:
        asked("jobs", "cancel", job["id"], "--yes", **away)
    labels = asked("store", "show", steps["sample-labels"]["spec"]["inputs"]["truth"], **away)
    assert labels["arrays"]["count"]["items"] == [12]
    asked("jobs", "logs", steps["sample-labels"]["id"], "--follow", **away)
    assert asked("jobs", "show", steps["sample-labels"]["id"], **away)["state"] == "done", "it found its images"
    left = {path.name for path in (server.home / "uploads").glob("*")} - before
    assert len(left) <= 1, "the labels are a bundle, and of the images whoever cleans will hear"
    missing = seedbed("recipe", "few-labels", "-p", f"source={leaves}", "-p", f"labels={tmp_path / 'no.csv'}", **away)
    assert missing.returncode == 5 and "no.csv" in missing.stderr


def test_a_recipe_says_that_it_uses_only_some_of_the_labels(asked: Asked, seedbed: Seedbed, leaves: Path) -> None:
    some = seedbed("recipe", "few-labels", "-p", f"source={leaves}", "-p", "labels_per_class=3", "--detach")
    assert "used of each class: 3." in some.stderr and "labels_per_class=N" in some.stderr
    every = seedbed("recipe", "few-labels", "-p", f"source={leaves}", "-p", "labels_per_class=0", "--detach")
    assert every.returncode == 0 and "are used of each class" not in every.stderr
    for job in asked("jobs", "list", "--state", "waiting"):
        seedbed("jobs", "cancel", job["id"], "--yes")


def _table(leaves: Path) -> Path:
    """A list of the pictures with their classes and where they grew."""
    names = sorted(path.relative_to(leaves).as_posix() for path in leaves.rglob("*.png"))
    rows = [f"{name},{name.partition('/')[0]},{number // 3}" for number, name in enumerate(names)]
    table = leaves / "list.csv"
    table.write_text("\n".join(["file,class,plot", *rows]))
    return table


def test_a_folder_that_is_not_there_is_said_in_a_sentence(seedbed: Seedbed, tmp_path: Path) -> None:
    done = seedbed("data", "add", str(tmp_path / "nowhere"))
    assert done.returncode == 5 and "nowhere" in done.stderr


def test_over_the_network_the_folder_is_uploaded_and_the_upload_goes_once_it_is_in(
    server: Server, leaves: Path, tmp_path: Path
) -> None:
    away = {"SEEDBED_URL": server.url, "SEEDBED_TOKEN": server.token}
    uploads = server.home / "uploads"
    before = set(uploads.glob("*"))
    done = run(tmp_path / "not-used", "data", "add", str(leaves), "--name", "sent-leaves", "--json", **away)
    assert done.returncode == 0, done.stderr
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {server.token}"}, timeout=30) as http:
        assert http.get("/api/v1/data/sent-leaves").json()["images"] == 12
        picture = http.get("/api/v1/data/sent-leaves/images/3/thumbnail?size=32")
        assert picture.headers["content-type"] == "image/jpeg" and picture.content[:2] == b"\xff\xd8"
        records = http.get("/api/v1/data/sent-leaves/records?limit=5").json()
        assert len(records) == 5
        assert http.get("/api/v1/data/sent-leaves/images/99/thumbnail").status_code == 404
    until = time.monotonic() + 30
    while set(uploads.glob("*")) - before:
        assert time.monotonic() < until, "the upload is still there"
        time.sleep(0.1)
