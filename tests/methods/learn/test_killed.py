"""A real process, a real SIGKILL, the same bits."""

import multiprocessing
import random
import signal
import time
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from tests.methods.learn.killed_run import STEPS, main

# one process imports torch; those that train, and are killed, are copies of it, which start at once
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload([main.__module__])


def start(folder: Path, resume: Path | None = None) -> ForkServerProcess:
    folder.mkdir()
    process = SERVER.Process(target=main, args=(folder, resume), daemon=True)
    process.start()
    return process


def ended(process: ForkServerProcess) -> int | None:
    process.join()
    return process.exitcode


def reported(folder: Path) -> int:
    metrics = folder / "metrics.jsonl"
    return metrics.read_bytes().count(b"\n") if metrics.exists() else 0


def test_a_killed_run_goes_on_from_its_checkpoint_and_ends_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    first = start(tmp_path / "first")
    kill_at = random.Random().randint(5, STEPS - 4)
    while reported(tmp_path / "first") < kill_at:
        assert first.is_alive(), "the run ended before it could be killed"
        time.sleep(0.005)
    first.kill()
    assert ended(first) == -signal.SIGKILL
    complete = [path for path in (tmp_path / "first" / "checkpoints").iterdir() if not path.name.startswith(".")]
    whole, resumed = start(tmp_path / "whole"), start(tmp_path / "second", max(complete))
    assert (ended(whole), ended(resumed)) == (0, 0)
    one, other = (tmp_path / name / "model" / "model.safetensors" for name in ("whole", "second"))
    assert one.read_bytes() == other.read_bytes(), f"killed after step {kill_at}, resumed from {max(complete).name}"
    assert reported(tmp_path / "second") < STEPS
