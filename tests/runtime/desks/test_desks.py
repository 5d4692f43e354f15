"""Desks: what every pool must satisfy, and that none outlives its server."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from seedbed.runtime.desks.desks import Desks
from seedbed.testing import desks
from seedbed.testing.desks import ROW, is_alive, wait_until

SERVER = f"""
import sys, threading
from seedbed.runtime.desks.desks import Desks
pool = Desks({ROW!r})
print(pool.ask("a", {{}})["pid"], flush=True)
threading.Thread(target=pool.ask, args=("b", {{"rest": 600}}), kwargs={{"timeout": 900}}, daemon=True).start()
while "b" not in pool.processes():
    pass
print(pool.processes()["b"], flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("check", desks.CHECKS)
def test_desks_keep_what_a_pool_promises(check: Callable[..., None]) -> None:
    check(Desks)


def test_desks_end_with_their_server_even_when_that_is_killed() -> None:
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        resting, busy = (int(server.stdout.readline()) for _ in range(2))
        assert is_alive(resting) and is_alive(busy)
        server.send_signal(signal.SIGKILL)
        server.wait()
    for pid in (resting, busy):
        wait_until(lambda pid=pid: _ended(pid), f"desk {pid} is gone")  # type: ignore[misc]


def test_a_desk_starts_without_the_database_and_without_any_learning() -> None:
    code = "import sys, seedbed.runtime.desks.process; print(','.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split(",")
    assert not {"torch", "sqlalchemy", "sklearn", "fastapi", "numpy"} & set(loaded)


def _ended(pid: int) -> bool:
    """Gone, or ended and waiting for its new parent to hear of it."""
    if not is_alive(pid):
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
