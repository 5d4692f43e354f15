"""Both runs against the shipped suite, and what FolderRun leaves on disk."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from seedbed.base.clock import ManualClock, SystemClock
from seedbed.base.ids import canonical_json, digest_of, digest_of_bytes, digest_of_file, new_id
from seedbed.base.run import FolderRun, MemoryRun
from seedbed.testing import runs


@pytest.mark.parametrize("make", [FolderRun, MemoryRun])
@pytest.mark.parametrize("check", runs.CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_conformance(make: runs.Make, check: Callable[[runs.Make, Path], None], tmp_path: Path) -> None:
    check(make, tmp_path)


def test_a_folder_run_reports_a_line_each(tmp_path: Path) -> None:
    run = FolderRun(tmp_path)
    run.report({"loss": 1}, step=1, total=2, doing="training")
    run.report(doing="resting")
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [(line["step"], line["doing"], line["values"]) for line in lines] == [
        (1, "training", {"loss": 1.0}),
        (0, "resting", {}),
    ]


def test_only_complete_checkpoints_are_seen_and_the_newest_two_stay(tmp_path: Path) -> None:
    run = FolderRun(tmp_path)

    def seen() -> list[str]:
        return sorted(path.name for path in (tmp_path / "checkpoints").iterdir() if not path.name.startswith("."))

    for step in (1, 2, 10):
        run.checkpoint(lambda folder, step=step: (folder / "s").write_text(str(step)) and None, step=step)  # type: ignore[misc]
    assert seen() == ["000000002", "000000010"]
    with pytest.raises(ZeroDivisionError):
        run.checkpoint(lambda folder: 1 / 0 and None, step=11)
    assert seen() == ["000000002", "000000010"]


def test_a_run_that_was_asked_to_stop_says_so(tmp_path: Path) -> None:
    for run in (FolderRun(tmp_path), MemoryRun(tmp_path)):
        run.ask_to_stop()
        assert run.should_stop()


def test_a_memory_run_keeps_its_reports(tmp_path: Path) -> None:
    run = MemoryRun(tmp_path)
    run.report({"loss": 2.0}, step=3, total=4, doing="x")
    assert run.reports == [{"step": 3, "total": 4, "loss": 2.0}] and run.doing == "x"


def test_ids_are_version_7_uuids_that_sort_by_time() -> None:
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000 and all(len(i) == 36 and i[14] == "7" and i[19] in "89ab" for i in ids)
    assert [i[:8] for i in ids] == sorted(i[:8] for i in ids)


def test_one_text_and_one_digest_per_value(tmp_path: Path) -> None:
    assert canonical_json({"b": 1, "a": [1.5, "é"]}) == '{"a":[1.5,"é"],"b":1}'
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1}) != digest_of({"a": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))
    (tmp_path / "f").write_bytes(b"abc")
    assert digest_of_file(tmp_path / "f") == digest_of_bytes(b"abc")


def test_a_manual_clock_moves_when_it_is_told() -> None:
    clock = ManualClock(5.0)
    clock.advance(2.5)
    assert clock.now() == 7.5
    assert SystemClock().now() > 1.6e9
