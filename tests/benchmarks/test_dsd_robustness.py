"""What the benchmark of robustness makes of tables of distances."""

import numpy as np
import pytest
from benchmarks.dsd_robustness import Scale, differences, distances, figures, fill, histogram, jobs_of, lines, within
from benchmarks.few_labels import Rows

TINY = Scale(sets=("drawn-1", "drawn-2"), drawn=(), units=(20, 30), unit=30, sides=(14, 28), leaves=20)


def test_rows_are_divided_by_their_largest_entry_and_differences_are_over_the_mean_of_the_two():
    one, other = np.array([[0.0, 2.0], [4.0, 0.0]]), np.array([[0.0, 4.0], [8.0, 0.0]])
    assert differences([one, other]).tolist() == [0, 0, 0, 0]  # only the scale is another
    third = np.array([[1.0, 2.0], [4.0, 0.0]])
    assert differences([one, third]).tolist() == [200, 0, 0, 0]  # 0 and 0.5: 0.5 over 0.25
    assert len(differences([one, other, third])) == 3 * 4


def test_bins_hold_5_percent_each_and_the_last_all_that_lies_beyond():
    values = np.array([0.0, 4.99, 5.0, 12.0, 24.9, 25.0, 200.0])
    assert histogram(values) == [2, 1, 1, 0, 1, 2]
    assert within(values) == pytest.approx(200 / 7)


def test_a_staircase_takes_its_part_of_the_units_that_were_computed():
    scale = Scale(sets=("a", "b"), drawn=(), units=(10,), unit=10)
    block = np.arange(16.0).reshape(4, 4)
    rows = [
        {"side": 28, "unit": 10, "set": "a", "counts": {"a": 40, "b": 45}, "distances": {"b": block.tolist()}},
        {"side": 28, "unit": 10, "set": "b", "counts": {"b": 45}, "distances": {}},
    ]
    found = {stairs: distances(rows, scale, 28, 10, stairs) for stairs in ("one unit", "default", "up to 4 units")}
    assert [table[0, 1] for table in found.values()] == [0, block[:2, :2].mean(), block.mean()]
    assert distances(rows[:1], scale, 28, 10) is None  # a row is missing


def test_a_table_of_drawn_sets_is_computed_once_and_read_again(tmp_path):
    rows = Rows(tmp_path / "rows.jsonl")
    fill(rows, TINY, minutes=5)
    before = rows.path.read_bytes()
    fill(rows, TINY, minutes=5)
    assert rows.path.read_bytes() == before and len(list(rows)) == len(list(jobs_of(TINY))) == 6
    shown = figures(list(rows), TINY)
    assert set(shown) == {"units_within_5_pct", "sizes_within_5_pct", "stairs_within_5_pct"}
    assert [line["within 5 %"] for line in lines(list(rows), TINY)] == [f"{value:.1f}" for value in shown.values()]
