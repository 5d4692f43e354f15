"""The benchmark of distances on a GPU: what it compares, and what it says where there is none."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from benchmarks.otdd_gpu import measure, rows_of
from benchmarks.otdd_inputs import RGB, Timed


@pytest.fixture(autouse=True)
def no_real_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEEDBED_BENCH_DATA", str(tmp_path / "nowhere"))


def test_every_way_to_find_the_distance_is_compared_and_one_device_agrees_with_itself() -> None:
    rows = list(rows_of(RGB, "cpu", times=1))
    ways = {(row["definition"], row["label distances"], row["transport"]) for row in rows}
    assert len(ways) == len(rows) == 8
    assert all(row["value on the CPU"] > 0 and row["s on the GPU"] > 0 for row in rows)
    assert max(row["difference %"] for row in rows) == pytest.approx(0, abs=1e-4)
    assert len({row["images"] for row in rows}) == 1, "all rows can be compared"


def test_rows_are_printed_as_they_are_measured_and_none_is_begun_after_the_minutes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 10.0, 20.0, 70.0])
    monkeypatch.setattr("benchmarks.otdd_gpu.time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("benchmarks.otdd_gpu.timed", lambda *_: Timed(1.0, 2.0, 2.0))
    monkeypatch.setattr("benchmarks.otdd_gpu.Otdd.distance", lambda *_: 1.0)
    with pytest.raises(SystemExit, match="minutes were over"):
        measure(quick=True, minutes=1)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["transport"] for row in rows] == ["exact", "entropic"]


def test_drawn_leaves_are_not_called_real_where_one_of_the_recorded_inputs_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    measured = {"difference %": 0.0, "transport": "entropic", "s on the CPU": 2.0, "s on the GPU": 1.0}
    monkeypatch.setattr("benchmarks.otdd_gpu.rows_of", lambda *_: [measured])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    monkeypatch.setenv("SEEDBED_BENCH_DATA", str(tmp_path))
    (tmp_path / "otdd-reference").mkdir()
    for name, data in zip(RGB, ("synthetic", "real"), strict=True):
        (tmp_path / "otdd-reference" / f"{name}.npz").touch()
        assert measure(quick=False).data == data


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_it_says_so() -> None:
    with pytest.raises(SystemExit, match="no GPU here"):
        measure(quick=True)
