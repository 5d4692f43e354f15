"""One of two ranks that benchmarks.scaling measures: gradients against one process, and seconds per step.

What is timed takes turns: one rank alone while the other waits, both without a word between them (what two processes
can do at most on this machine), and both together.
"""

import json
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

from seedbed.base.run import MemoryRun
from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.gang import Gang, joined
from seedbed.methods.learn.group import ALONE, Group
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import TrainingRun
from seedbed.testing.ranks import compare

CPU = torch.device("cpu")
_LENIENT = {"threshold": 0.2, "memory": 0.5, "align": 1.0}  # pseudo-labels of a fresh network count, statistics move


def begun(settings: TrainSettings, group: Group, folder: Path) -> TrainingRun:
    """A run on noise, before its first step."""
    draw = np.random.default_rng(0)
    count = 4 * max(settings.global_batches())
    images = draw.integers(0, 256, (count, settings.size, settings.size, 3), dtype=np.uint8)
    labels = np.where(np.arange(count) % 4 > 0, np.arange(count) % len(settings.classes), -1)
    run = TrainingRun(images, labels, settings, MemoryRun(folder), group)
    run.begin()
    return run


class Timed:
    """A run whose steps are timed, from a moment when all ranks are ready."""

    def __init__(self, run: TrainingRun) -> None:
        self._run, self._step = run, 0
        self.best = float("inf")

    def lap(self, steps: int, *, takes_part: bool = True) -> None:
        """Some steps of which the mean time counts, if it is the best so far."""
        dist.barrier()
        start = time.perf_counter()
        for _ in range(steps if takes_part else 0):
            self._run.learner.advance(self._run.feed.at(self._step), self._step)
            self._step += 1
        dist.barrier()
        self.best = min(self.best, (time.perf_counter() - start) / steps)


def seconds(settings: TrainSettings, gang: Gang, folder: Path, *, laps: int, steps: int) -> dict[str, float]:
    """Seconds of a step with the settings' batches: alone, two that do not talk, weak and strong scaling."""
    alone = Timed(begun(settings, ALONE, folder))
    apart = Timed(begun(settings, ALONE, folder))
    weak, strong = (
        Timed(begun(replace(settings, ranks=gang.ranks, scaling=scaling), gang, folder))
        for scaling in ("weak", "strong")
    )
    for _ in range(laps):
        alone.lap(steps, takes_part=gang.rank == 0)
        for timed in (apart, weak, strong):
            timed.lap(steps)
    return {"alone": alone.best, "apart": apart.best, "weak": weak.best, "strong": strong.best}


def _options(algorithm: str) -> dict[str, float]:
    known = {part.name for part in fields(ALGORITHMS.get(algorithm))}  # type: ignore[arg-type]
    return {name: value for name, value in _LENIENT.items() if name in known}


def main(folder: Path) -> None:
    """Do what ask.json asks; the first rank writes found.json."""
    ask = json.loads((folder / "ask.json").read_text())
    with joined(CPU) as gang:
        compared = TrainSettings.from_json(ask["compared"])
        timed = TrainSettings.from_json(ask["timed"])
        found = {
            "differences": {name: compare(name, _options(name), compared, gang, folder) for name in ALGORITHMS},
            "seconds": {
                batch: seconds(
                    replace(timed, labelled_batch=batch, unlabelled_batch=batch), gang, folder, **ask["pace"]
                )
                for batch in ask["batches"]
            },
        }
        if gang.rank == 0:
            (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
