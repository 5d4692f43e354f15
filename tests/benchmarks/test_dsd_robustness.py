"""What the benchmark of robustness makes of tables of distances."""

import numpy as np
import pytest
from benchmarks.distance_tables import Scale, differences, distances, histogram, same_order, to_its_like, within
from benchmarks.dsd_robustness import figures, fill, jobs_of, lines
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
    block, own = np.arange(16.0).reshape(4, 4), np.ones((4, 4)) - np.eye(4)
    known = {"a": own.tolist(), "b": block.tolist()}
    rows = [
        {"side": 28, "unit": 10, "set": "a", "counts": {"a": 40, "b": 45}, "distances": known},
        {"side": 28, "unit": 10, "set": "b", "counts": {"b": 45}, "distances": {"b": own.tolist()}},
    ]
    found = [
        distances(rows, scale, 28, 10, stairs, noise="kept") for stairs in ("one unit", "default", "up to 4 units")
    ]
    assert [table[0, 1] for table in found] == [0, block[:2, :2].mean(), block.mean()]
    assert distances(rows[:1], scale, 28, 10, noise="kept") is None  # a row is missing


def test_noise_is_that_of_own_units_and_of_one_unit_what_was_found_for_it():
    scale = Scale(sets=("a", "b"), drawn=(), units=(10,), unit=10)
    own = [[0.0, 6.0], [6.0, 0.0]]
    rows = [
        {"side": 28, "unit": 10, "set": "a", "counts": {"a": 20}, "distances": {"a": own, "b": [[10.0], [10.0]]}},
        {"side": 28, "unit": 10, "set": "b", "counts": {"b": 11}, "distances": {"b": [[0.0]]}},
    ]
    assert distances(rows, scale, 28, 10) is None  # nothing is known of the noise of b
    rows.append({"side": 28, "unit": 10, "noise_of": "b", "noise": 8.0})
    table = distances(rows, scale, 28, 10)
    assert table.tolist() == [[0, np.sqrt(50)], [np.sqrt(50), 0]]  # 100 less half of 36 and half of 64
    assert distances(rows, scale, 28, 10, noise="kept", own_units=True).tolist() == [[3, 10], [10, 0]]


def test_a_set_is_compared_with_two_other_units_of_itself():
    scale = Scale(sets=("a", "b"), drawn=(), units=(10,), unit=10)
    own = np.full((4, 4), 5.0)
    own[[0, 1, 2, 3], [1, 0, 3, 2]] = 3.0
    far = np.full((4, 1), 8.0)
    rows = [
        {"side": 28, "unit": 10, "set": "a", "counts": {"a": 40}, "distances": {"a": own.tolist(), "b": far.tolist()}},
        {"side": 28, "unit": 10, "set": "b", "counts": {"b": 10}, "distances": {"b": [[0.0]]}},
        {"side": 28, "unit": 10, "noise_of": "b", "noise": 0.0},
    ]
    assert to_its_like(rows, scale, noise="kept") == pytest.approx(100 * 5 / 8)
    noise = (3 + 5 + 5 + 5 + 5 + 3) / 6  # of all four units, in the distance to b
    assert to_its_like(rows, scale) == pytest.approx(100 * 4 / np.sqrt(64 - noise**2 / 2))
    assert same_order(rows, scale) is None  # of one other set


def test_a_table_of_drawn_sets_is_computed_once_and_read_again(tmp_path):
    rows = Rows(tmp_path / "rows.jsonl")
    fill(rows, TINY, minutes=5)
    before = rows.path.read_bytes()
    fill(rows, TINY, minutes=5)
    assert rows.path.read_bytes() == before and len(list(jobs_of(TINY))) == 12
    assert sum("set" in row for row in rows) == 6
    assert {(row["side"], row["unit"]) for row in rows if "noise_of" in row} == {(28, 20)}  # of 30 there are 2 units
    shown = figures(list(rows), TINY)
    told = lines(list(rows), TINY)
    for prefix, column in (("", "within 5 %"), ("paper_", "noise kept: within 5 %")):
        wanted = [shown[f"{prefix}{what}_within_5_pct"] for what in ("units", "sizes", "stairs")]
        assert [line[column] for line in told] == [f"{value:.1f}" for value in wanted]
