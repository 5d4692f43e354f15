"""The demonstration, small, by its command."""

import json
from pathlib import Path

import pytest

from tests.faces.servers import run

SMALL = ("-p", "count_per_class=12", "-p", "labels_per_class=4", "-p", 'train={"steps": 6}')


@pytest.mark.slow
def test_the_demo_ends_with_a_model_that_labels_a_picture(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = run(home, "demo", "--no-serve", "--json", *SMALL)
    assert done.returncode == 0, done.stderr
    jobs = {job["name"]: job for job in json.loads(done.stdout)}
    assert all(job["state"] == "done" for job in jobs.values())
    again = " ".join(run(home, "demo", "--no-serve", *SMALL).stdout.split())  # from the store, in words
    assert "leaves.train" in again and "given 24 labels and" in again and "of the test images are right" in again
    (download,) = [uuid for job in jobs.values() for name, uuid in job["outputs"].items() if name == "download"][:1]
    leaf = _a_picture(home, tmp_path)
    guesses = json.loads(run(home, "predict", download, str(leaf), "--json").stdout)["guesses"]
    assert abs(sum(guess["probability"] for guess in guesses) - 1) < 1e-3
    said = run(home, "predict", download, "leaves", "--out", str(tmp_path / "said.csv"))
    assert said.returncode == 0, said.stderr
    assert "The predictions are in" in said.stderr and "store get" not in said.stdout, "they are where they are wanted"
    lines = (tmp_path / "said.csv").read_text().splitlines()
    assert lines[0].startswith("file,class,confidence,p(") and len(lines) > 12
    (tmp_path / "mixed").mkdir()
    leaf.rename(tmp_path / "mixed" / "leaf.jpg")
    (tmp_path / "mixed" / "bad.jpg").write_text("no image")
    mixed = run(home, "predict", download, str(tmp_path / "mixed"))
    assert mixed.returncode == 0 and "1 file could not be read: bad.jpg" in " ".join(
        (mixed.stdout + mixed.stderr).split()
    )


def _a_picture(home: Path, folder: Path) -> Path:
    picture = next(
        path for path in (home / "files").rglob("*") if path.is_file() and path.read_bytes()[:2] == b"\xff\xd8"
    )
    leaf = folder / "leaf.jpg"
    leaf.write_bytes(picture.read_bytes())
    return leaf
