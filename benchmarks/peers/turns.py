"""Trainings that take turns: each runs some steps when told to, measures them, and waits.

Two programs on one machine are compared fairly when they run by turns, within seconds of each other, and without their
start-up. A program reads orders from its standard input, a line of JSON each, and answers with a line per order:

    {"train": {...}}            begin that training; answered once it is warm
    {"lead": 32, "steps": 20}   go on for 32 + 20 steps; answered with seconds, CPU seconds and peak GPU memory of 20

The lead is for programs that prepare batches while they wait: what lies ready is used up before the clock starts.

This file needs nothing but Python and torch: it also runs in the environments of peers.
"""

import gc
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

_TICKS = os.sysconf("SC_CLK_TCK")
_NEVER = (-1, 0.0, 0.0)  # step, seconds, CPU seconds


class OverError(Exception):
    """This training is not wanted any more."""


class Turns:
    """The orders of one program. `jobs` gives the trainings; a training calls `after` when steps are done."""

    def __init__(self) -> None:
        self._answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # whatever else the program prints is no answer
        self._order: dict[str, Any] = {}
        self._warm = self._from = self._until = 0
        self._began = _NEVER
        self._waiting = False

    def jobs(self) -> Iterator[dict[str, Any]]:
        """The trainings that are ordered, one after another."""
        self._read()
        while self._order:
            job = self._order["train"]
            self._warm, self._waiting, self._began = job["warm"], False, _NEVER
            _forget_memory()
            yield job

    def after(self, step: int) -> None:
        """So many steps are done since the training began; waits for the next order when it is time."""
        if not self._waiting:
            if step < self._warm:
                return
            self._waiting = True
            self._answer({"ready": step})
            self._next(step)
        elif step >= self._until:
            self._answer(self._measured(step))
            self._next(step)
        if step >= self._from > self._began[0]:
            self._began = step, time.perf_counter(), cpu_seconds()

    def _next(self, step: int) -> None:
        self._read()
        if "steps" not in self._order:
            raise OverError
        self._from = step + self._order["lead"]
        self._until = self._from + self._order["steps"]

    def _measured(self, step: int) -> dict[str, float]:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        began_at, seconds, cpu = self._began
        seconds, cpu = time.perf_counter() - seconds, cpu_seconds() - cpu
        memory = torch.cuda.max_memory_reserved() if torch.cuda.is_available() else 0
        return {"steps": step - began_at, "seconds": seconds, "cpu_seconds": cpu, "gpu_bytes": memory}

    def _read(self) -> None:
        line = sys.stdin.readline()
        self._order = json.loads(line) if line.strip() else {}

    def _answer(self, answer: dict[str, Any]) -> None:
        self._answers.write(json.dumps(answer) + "\n")
        self._answers.flush()


def _forget_memory() -> None:
    """What the last training took of a GPU's memory does not count for the next."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def cpu_seconds() -> float:
    """CPU time of this process and of its living children: loaders of images are not free."""
    return time.process_time() + _cpu_below(os.getpid(), list(_processes()))


def _cpu_below(parent: int, processes: list[tuple[int, int, float]]) -> float:
    return sum(cpu + _cpu_below(process, processes) for process, above, cpu in processes if above == parent)


def _processes() -> Iterator[tuple[int, int, float]]:
    """Number, parent and CPU seconds of every process."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        yield int(stat.parent.name), int(fields[1]), (int(fields[11]) + int(fields[12])) / _TICKS
