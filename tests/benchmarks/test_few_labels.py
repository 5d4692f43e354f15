import io
import zipfile

import numpy as np
import pytest
from benchmarks.few_labels import Rows, available, choose, interval, load_set
from PIL import Image


@pytest.fixture
def real(tmp_path, monkeypatch):
    """A folder of real data with one small set: 3 + 1 images of 'ash', 2 + 1 of 'birch'."""
    (tmp_path / "images").mkdir()
    with zipfile.ZipFile(tmp_path / "images" / "trees.zip", "w") as archive:
        for part, kind, count in (("train", "ash", 3), ("train", "birch", 2), ("test", "ash", 1), ("test", "birch", 1)):
            for number in range(count):
                picture = io.BytesIO()
                Image.new("RGB", (20, 20), (100 * (kind == "birch"), number, 0)).save(picture, "png")
                archive.writestr(f"{part}/{kind}/{number}.png", picture.getvalue())
    monkeypatch.setenv("SEEDBED_BENCH_DATA", str(tmp_path))
    return tmp_path


def test_a_set_is_its_images_at_a_size_with_numbers_for_its_classes(real):
    trees = load_set("trees", 8)
    assert trees.classes == ("ash", "birch")
    assert trees.images_train.shape == (5, 8, 8, 3) and trees.images_test.shape == (2, 8, 8, 3)
    assert trees.labels_train.tolist() == [0, 0, 0, 1, 1] and trees.labels_test.tolist() == [0, 1]
    assert trees.images_train[:, 4, 4, 0].tolist() == [0, 0, 0, 100, 100]


def test_only_sets_that_are_there_are_available(real):
    assert available(["oaks", "trees"]) == ["trees"]
    with pytest.raises(FileNotFoundError, match="SEEDBED_BENCH_DATA"):
        load_set("oaks", 8)


def test_a_budget_takes_as_many_of_every_class_and_a_class_gives_at_most_half():
    labels = np.repeat([0, 1, 2], [10, 20, 5])
    chosen, marked = choose(labels, 5, seed=0)
    assert np.bincount(chosen[chosen >= 0]).tolist() == [5, 5, 2] and marked
    assert ((chosen == labels) | (chosen == -1)).all()
    assert not choose(labels, 2, seed=0)[1]


def test_a_larger_budget_contains_the_smaller_one_and_seeds_differ():
    labels = np.repeat([0, 1], 40)
    few, more, other = (choose(labels, *asked)[0] >= 0 for asked in ((5, 3), (20, 3), (5, 4)))
    assert (more | ~few).all() and (few != other).any()


def test_no_budget_keeps_every_label():
    labels = np.array([0, 1, 1])
    assert choose(labels, 0, seed=0)[0].tolist() == [0, 1, 1]


def test_rows_outlast_a_kill_in_the_middle_of_a_line(tmp_path):
    rows = Rows(tmp_path / "rows" / "some.jsonl")
    rows.append({"set": "trees", "seed": 0, "error": 0.25})
    with rows.path.open("a") as file:
        file.write('{"set": "trees", "seed": 1, "err')
    assert rows.done({"set": "trees", "seed": 0}) and not rows.done({"set": "trees", "seed": 1})
    rows.append({"set": "trees", "seed": 1, "error": 0.5})
    assert [(row["seed"], row["error"]) for row in rows] == [(0, 0.25), (1, 0.5)]
    assert all(row["commit"] and row["machine"]["torch"] for row in rows)


def test_an_interval_of_equal_differences_is_that_difference_and_of_others_holds_their_mean():
    assert interval([2.0, 2.0, 2.0]) == (2.0, 2.0)
    low, high = interval([1.0, 2.0, 6.0])
    assert 1.0 <= low < 3.0 < high <= 6.0
