"""Ordering programs to train by turns, and keeping the best of their turns; turns.py is their side of it."""

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]
_LIMIT = 240.0  # seconds without an answer after which a program counts as stuck
_PATIENT = {"OMP_WAIT_POLICY": "passive"}  # threads that wait do not spin: on a busy machine, they hold up the others


def semilearn_command(script: str) -> tuple[list[str], dict[str, str]]:
    """What runs a script of this folder with semilearn, and its environment: in `.venv-peers`, else with `.carry`."""
    path = str(ROOT / "benchmarks" / "peers" / script)
    python, carried = ROOT / ".venv-peers" / "bin" / "python", ROOT / ".carry" / "peers"
    if python.exists():
        return [str(python), path], {}
    if carried.exists():
        return [sys.executable, path], {"PYTHONPATH": str(carried)}
    raise SystemExit("semilearn is not here: run `make peers` first.")


def loaders(unlabelled: int, size: int, *, beside: int = 1) -> int:
    """semilearn's number of loaders: its unlabelled images get twice as many, one per core, where memory allows it.

    Cores and memory are shared by so many runs at the same time.
    """
    batch = 2 * unlabelled * size**2 * 3 * 4
    shared = os.statvfs("/dev/shm")
    room = shared.f_bavail * shared.f_frsize // 2 // (4 * batch)  # every process keeps two batches ready
    return max(1, min(len(os.sched_getaffinity(0)) // 2, room) // beside)


@dataclass(frozen=True)
class Lap:
    """The best of a program's turns."""

    steps_per_s: float
    cpu_s_per_step: float
    gpu_gb: float


class Player:
    """One program that trains by turns."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._name = " ".join(command)
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by close
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **_PATIENT, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
        )

    def order(self, **order: Any) -> None:
        """Tell it what to do."""
        self._pipe(self._process.stdin).write(json.dumps(order) + "\n")
        self._pipe(self._process.stdin).flush()

    def answer(self, limit: float = _LIMIT) -> dict[str, Any]:
        """Its answer to the last order; a program that is stuck is killed."""
        pipe = self._pipe(self._process.stdout)
        if not select.select([pipe], [], [], limit)[0]:  # it answers each order with one line: none lies in a buffer
            self._process.kill()
        line = pipe.readline()
        if not line:
            self._process.wait()
            self._said.seek(0)
            raise RuntimeError(f"{self._name} ended with {self._process.returncode}:\n{self._said.read()[-4000:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Let it end by itself; kill it where it does not."""
        self._pipe(self._process.stdin).close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._pipe(self._process.stdout).close()
        self._said.close()

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


def compare(
    players: Mapping[str, tuple[Player, dict[str, Any]]], *, turns: int, lead: int, steps: int
) -> dict[str, Lap]:
    """The best turns of programs that take turns."""
    for player, job in players.values():
        player.order(train=job)
        player.answer()
    best: dict[str, Lap] = {}
    for _ in range(turns):
        for name, (player, _) in players.items():
            player.order(lead=lead, steps=steps)
            lap = _lap(player.answer())
            print(f"{name}: {lap.steps_per_s:.3g} steps/s", file=sys.stderr, flush=True)
            best[name] = better(best.get(name), lap)
    return best


def _lap(answer: Mapping[str, float]) -> Lap:
    steps = answer["steps"]
    return Lap(steps / answer["seconds"], answer["cpu_seconds"] / steps, answer["gpu_bytes"] / 1e9)


def better(one: Lap | None, other: Lap) -> Lap:
    """The best of both in every respect; the larger memory."""
    if one is None:
        return other
    return Lap(
        max(one.steps_per_s, other.steps_per_s),
        min(one.cpu_s_per_step, other.cpu_s_per_step),
        max(one.gpu_gb, other.gpu_gb),
    )
