"""Attempts as processes of this machine, each under a supervisor that outlives the server."""

import contextlib
import fcntl
import json
import math
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seedbed.base.errors import Conflict, Failed
from seedbed.base.files import write_atomically
from seedbed.runtime.executors import machine, supervisor
from seedbed.runtime.executors.processes import MARK, is_alive, kill_marked, send
from seedbed.runtime.executors.protocol import AttemptSpec, Exited, Handle, Lost, Node, Printed, Running, Status

NODE = "local"
# What a worker inherits of the server's environment: nothing that could carry a password of the database or of a store.
_INHERITED = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH"}
_INHERITED_PREFIXES = ("LC_", "XDG_", "OMP_", "MKL_", "OPENBLAS_", "TORCH_", "CUDA_", "NVIDIA_", "NCCL_", "PYTHON")
_START_TIMEOUT = 30.0


class LocalExecutor:
    """Runs attempts here. Amounts of 0 (gpus: -1) mean what the machine has; a log keeps `log_limit` bytes at most.

    A handle is `{"folder": ..., "supervisor": {"pid", "started", "boot"}, "cores": [...]}`; everything else is read
    from the attempt's folder, so that any object of this class can take over any handle. Each attempt gets cores of
    its own while there are enough; those of attempts that another process started are known once they were polled.
    """

    def __init__(self, *, cpus: float = 0.0, memory: int = 0, gpus: int = -1, log_limit: int = 64 << 20) -> None:
        self._capacity = machine.capacity(cpus=cpus, memory=memory, gpus=gpus)
        self._log_limit = log_limit
        self._cores: dict[str, list[int]] = {}  # of the attempts that run, by folder
        self._children: set[int] = set()  # supervisors that this process must put away when they end

    def nodes(self) -> list[Node]:
        """This machine."""
        return [Node(NODE, self._capacity)]

    def start(self, attempt: AttemptSpec) -> Handle:
        """Start an attempt under a new supervisor and wait until it says that the worker runs."""
        self._reap()
        folder = attempt.folder.absolute()
        folder.mkdir(parents=True, exist_ok=True)
        cores = self._choose_cores(attempt.resources.cpus)
        _write_plan(folder, attempt, cores, self._log_limit)
        pid, said = _spawn(folder)
        self._children.add(pid)
        if not said and not _begun(folder):
            raise _not_started(folder, attempt)
        self._cores[str(folder)] = cores
        return _handle(folder, cores)

    def recover(self, folder: Path) -> Handle | None:
        """The handle of an attempt that has begun; else revoke its place, under the lock that it would begin with."""
        folder = folder.absolute()
        folder.mkdir(parents=True, exist_ok=True)
        deadline = time.monotonic() + _START_TIMEOUT
        while not _begun(folder):
            with _locked(folder) as locked:
                if locked and not _begun(folder):
                    write_atomically(folder / "revoked", b"")
                    return None
            if time.monotonic() > deadline:
                raise Failed(f"The supervisor in {folder} neither begins nor ends.")
            time.sleep(0.01)
        return _handle(folder, list(_read(folder / "start.json").get("cores", [])))

    def poll(self, handle: Handle) -> Status:
        """What the attempt's folder and the process table say."""
        self._reap()
        folder = Path(handle["folder"])
        alive = is_alive(handle["supervisor"])  # before the look at the exit: else it may end in between
        if ended := _read(folder / "exit.json"):
            self._cores.pop(str(folder), None)
            return Exited(ended["code"], ended["signal"], ended["reason"], ended.get("memory", 0))
        if alive or not self._is_gone(handle):
            self._cores.setdefault(str(folder), list(handle["cores"]))
            return Running(_modified(folder / "heartbeat"))
        self._cores.pop(str(folder), None)
        if handle["supervisor"]["boot"] != supervisor.boot_id():
            return Lost("The machine was restarted while it ran.")
        return Lost("The process that watched over it was killed.")

    def stop(self, handle: Handle, grace: float) -> None:
        """Leave the wish in the attempt's folder, then wake the supervisor, which does the rest."""
        folder = Path(handle["folder"])
        if folder.exists() and not (folder / "exit.json").exists():
            wish = {"grace": max(0.0, grace), "at": time.time()}
            known = _read(folder / "stop.json")  # which the supervisor may not have read yet
            if not known or wish["at"] + wish["grace"] < known["at"] + known["grace"]:
                write_atomically(folder / "stop.json", json.dumps(wish).encode())
            send(handle["supervisor"], signal.SIGTERM)

    def logs(self, handle: Handle, offset: int = 0, limit: int = 1 << 20) -> Printed:
        """A piece of log.txt, out of which the supervisor may have cut the middle."""
        folder = Path(handle["folder"])
        cut = _read(folder / "log.json")
        head, removed = int(cut.get("head", 0)), int(cut.get("removed", 0))
        place = offset if offset < head else max(head, offset - removed)
        try:
            with (folder / "log.txt").open("rb") as file:
                file.seek(place)
                text = file.read(limit)
        except FileNotFoundError:
            text = b""
        end = place + len(text)
        return Printed(text, (end if end < head else end + removed) if text else offset)

    def _is_gone(self, handle: Handle) -> bool:
        """Whether nothing is left of an attempt whose supervisor died: the kernel killed the worker with it, but not
        what the worker had started."""
        worker = _read(Path(handle["folder"]) / "supervisor.json").get("worker")
        if worker:
            send(worker, signal.SIGKILL)
        return kill_marked(handle["folder"]) and not (worker and is_alive(worker))

    def _choose_cores(self, cpus: float) -> list[int]:
        """The cores that the fewest running attempts have."""
        users = dict.fromkeys(machine.cores(), 0)
        for cores in self._cores.values():
            for core in cores:
                users[core] = users.get(core, 0) + 1
        allowed = machine.cores()
        return sorted(sorted(allowed, key=lambda core: users[core])[: max(1, math.ceil(cpus))])

    def _reap(self) -> None:
        for pid in list(self._children):
            with contextlib.suppress(ChildProcessError):
                if not os.waitpid(pid, os.WNOHANG)[0]:
                    continue
            self._children.discard(pid)


def _write_plan(folder: Path, attempt: AttemptSpec, cores: list[int], log_limit: int) -> None:
    """start.json, written once: whoever writes it first is the one who starts the folder."""
    plan = {
        "command": attempt.command,
        "environment": _environment(attempt, folder),
        "memory": attempt.resources.memory,
        "cores": cores,
        "grace": attempt.grace,
        "log_limit": log_limit,
    }
    try:
        descriptor = os.open(folder / "start.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise Conflict(
            f"Attempt {attempt.fence} of job {attempt.job} was started before.",
            hint="Each try needs a folder and a fencing number of its own.",
        ) from None
    with os.fdopen(descriptor, "w") as file:
        json.dump(plan, file)


def _environment(attempt: AttemptSpec, folder: Path) -> dict[str, str]:
    gpus = machine.visible_gpus(os.environ)
    kept = {k: v for k, v in os.environ.items() if k in _INHERITED or k.startswith(_INHERITED_PREFIXES)}
    return {
        **kept,
        "CUDA_VISIBLE_DEVICES": ",".join(gpus[number] if number < len(gpus) else "-1" for number in attempt.gpu_ids),
        **attempt.environment,
        MARK: str(folder),
    }


def _spawn(folder: Path) -> tuple[int, bool]:
    """The supervisor's pid, and whether it said that the worker runs."""
    heard, says = os.pipe()
    try:
        log = str(folder / "supervisor.log")
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", supervisor.__file__, str(folder)],
            {"PATH": os.defpath},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
                (os.POSIX_SPAWN_DUP2, says, supervisor.READY),
            ],
            setsid=True,
        )
        os.close(says)
        says = -1
        return pid, os.read(heard, 4) == b"runs"
    finally:
        os.close(heard)
        if says >= 0:
            os.close(says)


def _not_started(folder: Path, attempt: AttemptSpec) -> Failed:
    if (folder / "revoked").exists():
        return Failed(f"Attempt {attempt.fence} of job {attempt.job} lost its place before it began.")
    with contextlib.suppress(OSError):
        words = (folder / "supervisor.log").read_text(errors="replace").strip().splitlines()[-1:]
        return Failed(f"Attempt {attempt.fence} of job {attempt.job} could not be started.", problems=words)
    return Failed(f"Attempt {attempt.fence} of job {attempt.job} could not be started.")


def _begun(folder: Path) -> bool:
    return (folder / "supervisor.json").exists()


def _handle(folder: Path, cores: list[int]) -> dict[str, Any]:
    known: Mapping[str, Any] = _read(folder / "supervisor.json")
    return {"folder": str(folder), "supervisor": dict(known["supervisor"]), "cores": cores}


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Hold the lock that a supervisor holds for life; False when somebody else has it."""
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
