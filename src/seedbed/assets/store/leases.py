"""Write leases: somebody is bringing files in, so gc keeps its hands off what has been touched since."""

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from seedbed.base.ids import new_id

_ELSEWHERE = 6 * 3600.0  # how long a lease of another machine is believed


@dataclass(frozen=True)
class Lease:
    """Who writes since when: a process is known by its machine, its pid and its start time."""

    path: Path
    host: str
    pid: int
    born: float
    started: float

    @property
    def live(self) -> bool:
        """Whether the writer may still be at work."""
        if self.host != socket.gethostname():
            return time.time() - self.started < _ELSEWHERE
        return _born(self.pid) == self.born


@contextlib.contextmanager
def write_lease(folder: Path) -> Iterator[None]:
    """Hold a lease for the length of the block. It is not synced: after a crash of the machine no writer lives."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{new_id()}.json"
    draft = path.with_suffix(".draft")
    me = {"host": socket.gethostname(), "pid": os.getpid(), "born": _born(os.getpid()), "started": time.time() - 1}
    draft.write_text(json.dumps(me))
    draft.rename(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def all_leases(folder: Path) -> list[Lease]:
    """Every lease on disk, live or stale."""
    found = []
    for path in folder.glob("*.json") if folder.exists() else ():
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError):
            value = json.loads(path.read_text())
            found.append(Lease(path, value["host"], value["pid"], value["born"], value["started"]))
    return found


def spared_since(folder: Path) -> float:
    """Files touched at or after this instant belong to a live writer; infinity where nobody writes."""
    return min((lease.started for lease in all_leases(folder) if lease.live), default=float("inf"))


def _born(pid: int) -> float:
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return -1.0
