"""The script that fills tables on a rented GPU: what it refuses before anything runs, and when it stops what does."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "gpu-tables.sh"


def test_defaults_are_not_begun_before_it_is_said_which_changes_are_tried(tmp_path: Path) -> None:
    unset = {name: value for name, value in os.environ.items() if name != "CHANGES"}
    for environment in (unset, {**unset, "CHANGES": ""}):
        command = ["bash", str(SCRIPT), str(tmp_path / "rows"), "speed=1", "defaults=1"]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20)
        assert ended.returncode == 2 and "Name in CHANGES" in ended.stderr
    assert not (tmp_path / "rows").exists()


def test_rows_of_what_is_asked_for_are_joined_and_no_others(tmp_path: Path) -> None:
    for folder in ("scripts", "programs", "benchmarks/rows", ".carry/rows"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "benchmarks" / "RESULTS.md").touch()
    (tmp_path / "benchmarks" / "rows" / "ssl_accuracy.jsonl").write_text("1\n2\n")
    (tmp_path / "benchmarks" / "rows" / "transfers.jsonl").write_text("9\n")
    (tmp_path / ".carry" / "rows" / "ssl_accuracy.jsonl").write_text("2\n3\n")
    script = shutil.copy(SCRIPT, tmp_path / "scripts")
    measures = tmp_path / "programs" / "python3"
    measures.write_text(
        f'#!/bin/sh\nif [ "$1" = -c ]; then exec "{sys.executable}" "$@"; fi\n'
        'echo 4 >> "$SEEDBED_BENCH_ROWS/ssl_accuracy.jsonl"\n'
    )
    measures.chmod(0o755)
    path = {"PATH": f"{measures.parent}:{os.environ['PATH']}"}
    command = ["bash", script, str(tmp_path / "rows"), "accuracy=1"]
    ended = subprocess.run(command, env={**os.environ, **path}, capture_output=True, text=True, timeout=50)
    assert ended.returncode == 0, ended.stderr
    for folder in ("rows", ".carry/rows"):
        rows = {path.name: path.read_text().split() for path in (tmp_path / folder).glob("*.jsonl")}
        assert rows == {"ssl_accuracy.jsonl": ["1", "2", "3", "4"]}


@pytest.mark.parametrize("asked", ["distances=1", "depthwise=1", "distances=0"])
def test_a_table_without_rows_is_stopped_when_its_seconds_are_over(asked: str, tmp_path: Path) -> None:
    for folder in ("scripts", "programs", "benchmarks/rows"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "benchmarks" / "RESULTS.md").touch()
    (tmp_path / "benchmarks" / "rows" / "other.jsonl").write_text("{}\n")
    script = shutil.copy(SCRIPT, tmp_path / "scripts")
    endless = tmp_path / "programs" / "python3"
    endless.write_text(f'#!/bin/sh\nif [ "$1" = -c ]; then exec "{sys.executable}" "$@"; fi\nexec sleep 60\n')
    endless.chmod(0o755)
    path = {"PATH": f"{endless.parent}:{os.environ['PATH']}"}
    began = time.monotonic()
    command = ["bash", script, str(tmp_path / "rows"), asked]
    ended = subprocess.run(command, env={**os.environ, **path}, capture_output=True, text=True, timeout=50)
    name, seconds = asked.split("=")
    assert ended.returncode == 0 and f"{name} was stopped: its {seconds} s are over." in ended.stdout, ended.stderr
    assert time.monotonic() - began < 30
