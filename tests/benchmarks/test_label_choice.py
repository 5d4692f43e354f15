import numpy as np
import pytest
from benchmarks.embedded import Embedded, rows_for
from benchmarks.label_choice import BUDGETS, DEFAULT, RANDOM, Scale, chosen_rows, differences, figures, note, table

from benchmarks import label_choice, label_gain
from seedbed.testing.choosers import choices


@pytest.fixture
def data():
    """A set of four clear classes."""
    train, test = choices(images=400, spread=0.3), choices(images=400, spread=0.3)
    truth = np.arange(400) % 4
    return Embedded("clear", train.embeddings, truth, test.embeddings, truth, 4)


def test_seeds_have_other_images_to_choose_from(data):
    first, again, other = (rows_for(data, seed) for seed in (0, 0, 1))
    assert len(first) == 320 and np.array_equal(first, again) and not np.array_equal(first, other)


@pytest.mark.parametrize("method", [DEFAULT, RANDOM])
def test_a_larger_budget_contains_the_smaller_one_and_no_image_twice(data, method):
    rows = rows_for(data, 0)
    few, more = (chosen_rows(data, rows, method, 0, most) for most in (2, 5))
    assert few.tolist() == more[:8].tolist() and len(set(more.tolist())) == 20


def test_a_run_measures_each_budget_that_leaves_half_of_the_images(data, monkeypatch):
    monkeypatch.setattr(label_choice, "embedded", lambda name, most: data)
    job = {"trainer": label_choice.HEAD, "method": RANDOM, "set": "clear", "seed": 0, "images": 400}
    row = label_choice.run({**job, "labels": [1, 10, 40, 50]})
    assert row["budgets"] == [1, 10, 40]  # 160 of 320 images, not 200
    assert all(0.25 < value <= 1 for value in row["accuracy"])


def _rows(ours, theirs):
    """Rows of two sets and two seeds with such accuracies by budget."""
    return {
        (method, name, seed, budget): value + seed
        for name in ("one", "two")
        for seed in (0, 1)
        for method, values in ((DEFAULT, ours), (RANDOM, theirs))
        for budget, value in zip(BUDGETS, values, strict=True)
    }


def test_the_figures_of_a_case_by_hand():
    scale = Scale(sets=("one", "two"), seeds=(0, 1), methods=(DEFAULT, RANDOM))
    found = _rows([40, 50, 60, 70], [30, 40, 56, 68])
    shown = figures(found, scale)
    assert shown["default_minus_random_points"] == pytest.approx((10 + 10 + 4 + 2) / 4)
    assert shown["default_minus_random_low_points"] == pytest.approx(6.5)  # every pair is the same
    assert shown["worst_budget_minus_random_low_points"] == pytest.approx(2)
    # 40 at 1: random has it at 2. 50 at 2: ln 5 / 2 of the way from 40 to 56. 70 lies beyond: at least 10
    assert shown["labels_random_needs_times"] == pytest.approx(
        np.median([2, 2 * 2.5 ** (10 / 16) / 2, 5 * 2 ** (4 / 12) / 5, 1])
    )
    assert differences(found, scale, DEFAULT, 5) == {("one", 0): 4, ("one", 1): 4, ("two", 0): 4, ("two", 1): 4}
    assert "no set at any budget" in note(found, scale)
    assert [line["mean"] for line in table(found, scale)[:2]] == ["40.5", "30.5"]


def test_where_the_default_loses_is_said():
    scale = Scale(sets=("one", "two"), seeds=(0, 1), methods=(DEFAULT, RANDOM))
    shown = note(_rows([40, 50, 60, 70], [30, 51, 56, 68]), scale)
    assert "behind random on: one at 2 (-1.0), two at 2 (-1.0)." in shown


def test_the_gain_that_is_measured_is_that_of_more_labels_of_the_class(data):
    said, measured = label_gain.said_and_measured(data, 1, seed=0, draws=1)
    assert said.shape == measured.shape == (4,)
    assert measured.mean() > 0  # labels help
