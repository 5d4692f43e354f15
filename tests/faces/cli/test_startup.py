"""How fast the command line answers, and what it loads for that."""

import json
import subprocess
import sys
import time

HEAVY = ("torch", "fastapi", "sqlalchemy", "httpx", "pydantic", "nicegui", "numpy", "rich.console")


def test_help_answers_in_under_half_a_second() -> None:
    best = 9.9
    for _ in range(5):
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "seedbed.faces.cli.main", "--help"], capture_output=True, check=True
        )
        best = min(best, time.perf_counter() - began)
    assert b"Usage" in done.stdout
    assert best < 0.5


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, json, seedbed.faces.cli.main as main\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert json.loads(done.stdout) == []
