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
