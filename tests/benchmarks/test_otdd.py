"""The benchmark of distances: what it calls exact is what our distance is, and the pictures it leaves."""

from pathlib import Path
from typing import get_args

import pytest
from benchmarks.otdd import RECORDED, compared, exactly, growth, measure, pairs, solver_seconds
from benchmarks.otdd_inputs import RGB, reference, timed
from benchmarks.pictures import lines, picture

from seedbed.methods.similarity.otdd import Definition, LabelDistance, Otdd

DEFINITIONS = get_args(Definition)


@pytest.fixture(autouse=True)
def no_real_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEEDBED_BENCH_DATA", str(tmp_path / "nowhere"))


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("labels", ["gaussian", "exact"])
def test_what_it_compares_with_is_the_same_distance_computed_apart(
    labels: LabelDistance, definition: Definition
) -> None:
    ours, theirs = (reference(name).units[0] for name in ("cifar10", "fruit10"))
    wanted, seconds = exactly(ours, theirs, labels)[definition]
    assert Otdd(definition, labels).distance(ours, theirs) == pytest.approx(wanted, rel=1e-3)
    assert seconds > 0


def test_a_wrong_value_of_either_definition_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.otdd.RECORDED", {RGB: {"gaussian": RECORDED[RGB]["gaussian"]}})
    right, off = Otdd.distance, {"paper": 2, "reference": 3}
    monkeypatch.setattr(Otdd, "distance", lambda how, *units: right(how, *units) * off[how.definition])
    errors = {row["definition"]: row["error %"] for row in pairs(quick=True)}
    assert errors == {"reference": pytest.approx(200, abs=1), "paper": pytest.approx(100, abs=1)}


def test_prices_change_how_long_the_solver_takes_and_not_what_it_finds() -> None:
    ours, theirs = (reference(name).units[0] for name in ("cifar10", "fruit10"))
    assert min(solver_seconds((ours, theirs), Otdd("reference"))) > 0  # it refuses values that differ


def test_signatures_are_timed_apart_and_memory_stands_beside_what_was_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.otdd.RECORDED", {RGB: {"gaussian": RECORDED[RGB]["gaussian"]}})
    row, paper = pairs(quick=False)
    assert row["s of both signatures"] > 0 and row.keys() == paper.keys()
    assert 0 < row["of it libraries"] < row["peak MB"] and row["recorded peak MB"] == 1556
    assert paper["definition"] == "paper" and paper["recorded"] == "", "OTDD's own implementation has another one"


def test_drawn_leaves_are_not_called_real_where_recorded_inputs_are_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    row = {"pair": "cifar10 / fruit10", "seconds": 1.0, "error %": 0.0}
    ways = [{"label distances": way, "definition": definition} for way in RECORDED[RGB] for definition in DEFINITIONS]
    monkeypatch.setattr("benchmarks.otdd.pairs", lambda **_: [row | way for way in ways])
    monkeypatch.setattr("benchmarks.otdd.signatures", lambda names: names)
    for finding in ("matrix", "ranking"):
        monkeypatch.setattr(f"benchmarks.otdd.{finding}", lambda _: (1.0, ""))
    monkeypatch.setattr("benchmarks.otdd.growth", lambda *_: {})
    monkeypatch.setattr("benchmarks.otdd.available", list)
    monkeypatch.setenv("SEEDBED_BENCH_DATA", str(tmp_path))
    (tmp_path / "otdd-reference").mkdir()
    for name in {name for pair in compared(quick=True) for name in pair}:
        assert measure(quick=True).data == "synthetic"
        (tmp_path / "otdd-reference" / f"{name}.npz").touch()
    assert measure(quick=True).data == "real"
    monkeypatch.setattr("benchmarks.otdd.available", lambda _: [])
    assert measure(quick=True).data == "synthetic", "the sets of the matrix are missing"


def test_the_best_of_several_runs_counts() -> None:
    waits = iter([0.0, 1.0, 2.0])
    assert timed(lambda: next(waits), 3).value == 2.0


def test_growth_is_measured_and_drawn(tmp_path: Path) -> None:
    points = growth({"images": (20, 40), "dimensions": (5, 10)}, {"images": 30, "classes": 3, "dimensions": 8})
    assert [value for value, _ in points["images"]] == [20, 40]
    assert all(seconds > 0 for found in points.values() for _, seconds in found)
    drawn = [picture("growth", lines(points, "CPU seconds"), tmp_path / name).read_bytes() for name in ("a", "b")]
    assert drawn[0] == drawn[1] and b"dimensions" in drawn[0]
