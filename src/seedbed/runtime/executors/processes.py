"""Processes of this machine: known by pid, start time and boot, signalled without mistaking one for another."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

from seedbed.runtime.executors.supervisor import boot_id, start_time

MARK = "_SEEDBED_ATTEMPT"  # the environment variable that every process of an attempt inherits


def is_alive(identity: Mapping[str, Any]) -> bool:
    """Whether the very process that `supervisor.identity` described still runs (a pid may be somebody else's now).

    Where there is no /proc, the pid alone must do.
    """
    if identity["started"] is None:
        return psutil.pid_exists(identity["pid"])
    return bool(identity["boot"] == boot_id() and start_time(identity["pid"]) == identity["started"])


def send(identity: Mapping[str, Any], number: signal.Signals) -> bool:
    """Signal that very process; False when it is gone."""
    with contextlib.suppress(ProcessLookupError, OSError), _opened(identity["pid"]) as descriptor:
        if is_alive(identity):
            if descriptor is None:
                os.kill(identity["pid"], number)
            else:
                signal.pidfd_send_signal(descriptor, number)
            return True
    return False


@contextlib.contextmanager
def _opened(pid: int) -> Iterator[int | None]:
    """A descriptor that keeps meaning this process, where the system has them."""
    if sys.platform != "linux":
        yield None
        return
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def marked(mark: str) -> list[int]:
    """The processes that carry an attempt's mark, whoever their parent is by now and whatever session they are in."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return [pid for pid in found if start_time(pid) is not None]


def kill_marked(mark: str, *, patience: float = 2.0) -> bool:
    """Kill every process of an attempt; whether none is left. A fork may slip past one look, so it looks again."""
    deadline = time.monotonic() + patience
    while left := marked(mark):
        if time.monotonic() > deadline:
            return False
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return True
