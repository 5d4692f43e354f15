"""The script that fills tables on a rented GPU: what it refuses before anything runs."""

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "gpu-tables.sh"


def test_defaults_are_not_begun_before_it_is_said_which_changes_are_tried(tmp_path: Path) -> None:
    unset = {name: value for name, value in os.environ.items() if name != "CHANGES"}
    for environment in (unset, {**unset, "CHANGES": ""}):
        command = ["bash", str(SCRIPT), str(tmp_path / "rows"), "speed=1", "defaults=1"]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20)
        assert ended.returncode == 2 and "Name in CHANGES" in ended.stderr
    assert not (tmp_path / "rows").exists()
