"""The synthetic leaves: the same by seed, and not to be told apart by their colours alone."""

import csv
import time
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.neighbors import KNeighborsClassifier

from seedbed.assets.data.synthetic import CLASSES, draw_leaves, write_leaves


def test_a_seed_gives_the_same_leaves_and_a_larger_count_adds_to_them() -> None:
    few, labels, names = draw_leaves(3, seed=1, size=32)
    more, _, _ = draw_leaves(12, seed=1, size=32)
    assert np.array_equal(few, more[: len(few)])
    assert not np.array_equal(few, draw_leaves(3, seed=2, size=32)[0])
    assert np.bincount(labels).tolist() == [3] * len(names) and names == CLASSES


def test_nearest_neighbours_on_thumbnails_stay_under_60_percent_and_drawing_is_fast() -> None:
    start = time.process_time()
    pictures, labels, _ = draw_leaves(60, seed=4, size=96)
    assert (time.process_time() - start) / len(pictures) < 0.02  # CPU seconds a picture, with room for busy machines
    thumbnails = pictures.reshape(-1, 8, 12, 8, 12, 3).mean((2, 4)).reshape(len(pictures), -1)
    half = len(pictures) // 2
    nearest = KNeighborsClassifier(1).fit(thumbnails[:half], labels[:half])
    assert nearest.score(thumbnails[half:], labels[half:]) < 0.6


def test_written_leaves_have_neutral_names_and_their_truth_lies_beside_the_folder(tmp_path: Path) -> None:
    truth = write_leaves(tmp_path / "leaves", 2, seed=3, size=32)
    with truth.open() as file:
        rows = list(csv.DictReader(file))
    assert truth.parent == tmp_path and len(rows) == 2 * len(CLASSES)
    assert sorted(row["file"] for row in rows) == sorted(path.name for path in (tmp_path / "leaves").iterdir())
    assert not any(row["class"] in row["file"] for row in rows)
    pictures, labels, _ = draw_leaves(2, seed=3, size=32)
    for row in rows:
        with Image.open(tmp_path / "leaves" / row["file"]) as image:
            nearest = int(np.abs(pictures - np.asarray(image, float)).mean((1, 2, 3)).argmin())
        assert CLASSES[labels[nearest]] == row["class"]
