"""A real process, a real SIGKILL, the same bits."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

RUN = Path(__file__).with_name("killed_run.py")


def start(*arguments: Path) -> subprocess.Popen[bytes]:
    for folder in arguments[:1]:
        folder.mkdir()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    return subprocess.Popen([sys.executable, str(RUN), *map(str, arguments)], env=environment)


def reported(folder: Path) -> int:
    metrics = folder / "metrics.jsonl"
    return metrics.read_bytes().count(b"\n") if metrics.exists() else 0


def test_a_killed_run_goes_on_from_its_checkpoint_and_ends_with_the_same_bits(tmp_path):
    first = start(tmp_path / "first")
    try:
        kill_at = random.Random().randint(5, 24)
        while reported(tmp_path / "first") < kill_at:
            assert first.poll() is None, "the run ended before it could be killed"
            time.sleep(0.005)
        first.send_signal(signal.SIGKILL)
        first.wait()
    finally:
        first.kill()
    assert first.returncode == -signal.SIGKILL
    complete = [path for path in (tmp_path / "first" / "checkpoints").iterdir() if not path.name.startswith(".")]
    whole, resumed = start(tmp_path / "whole"), start(tmp_path / "second", max(complete))
    assert (whole.wait(), resumed.wait()) == (0, 0)
    one, other = (tmp_path / name / "model" / "model.safetensors" for name in ("whole", "second"))
    assert one.read_bytes() == other.read_bytes(), f"killed after step {kill_at}, resumed from {max(complete).name}"
    assert reported(tmp_path / "second") < 30
