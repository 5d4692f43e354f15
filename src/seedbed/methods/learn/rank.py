"""One rank of a training on several: `python -m seedbed.methods.learn.rank FOLDER`, started by torchrun or mpirun.

The folder is the launch's. It has the plan, the images and the labels; the first rank adds metrics.jsonl, checkpoints/
and in the end model/ and trained.json, which comes last, or stopped.json. A rank that fails leaves error-<rank>.json.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import torch.distributed as dist

from seedbed.base.errors import SeedbedError
from seedbed.base.files import write_atomically
from seedbed.base.run import FolderRun, Stopped
from seedbed.methods.learn.devices import choose_device
from seedbed.methods.learn.gang import Gang, joined
from seedbed.methods.learn.model import Model
from seedbed.methods.learn.plan import LABELS, MODEL, STOP, STOPPED, TRAINED, Plan
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import Trained, train

_PATIENCE = 0.25  # seconds between looks at whether to stop


class RankRun:
    """The run that each rank sees: the first one writes, and all agree at which step to stop."""

    def __init__(self, files: FolderRun, stop: Path, gang: Gang) -> None:
        self._files, self._stop, self._gang = files, stop, gang
        self._until_look = 1.0
        self._looked = time.monotonic()
        self._calls = 0

    @property
    def seed(self) -> int:
        return self._files.seed

    @property
    def folder(self) -> Path:
        return self._files.folder

    @property
    def resume(self) -> Path | None:
        return self._files.resume

    def report(
        self, metrics: Mapping[str, float] | None = None, *, step: int = 0, total: int = 0, doing: str = ""
    ) -> None:
        if self._gang.rank == 0:
            self._files.report(metrics, step=step, total=total, doing=doing)

    def checkpoint(self, write: Callable[[Path], None], *, step: int) -> None:
        if self._gang.rank == 0:
            self._files.checkpoint(write, step=step)

    def should_stop(self) -> bool:
        """What the first rank finds, looked up together every so many calls: as many as fit into the patience."""
        self._calls += 1
        if self._calls < self._until_look:
            return False
        each = (time.monotonic() - self._looked) / self._calls
        self._looked, self._calls = time.monotonic(), 0
        stop, self._until_look = self._gang.first_says(self._stop.exists(), max(1.0, _PATIENCE / max(each, 1e-6)))
        return bool(stop)


def main(arguments: list[str]) -> int:
    """Train as one rank of the launch in the folder that is named."""
    folder = Path(arguments[0])
    try:
        plan = Plan.read(folder)
        settings = TrainSettings.from_json(plan.settings)
        device = choose_device(settings.device)
        with joined(device, settings.backend) as gang:
            _work(plan, replace(settings, device=device.type), folder, gang)
    except Exception as error:  # whatever it is, the launch must hear it
        _explain(folder, error)
        sys.stderr.flush()
        os._exit(1)  # a rank that waits for others who wait for it would never end
    return 0


def _work(plan: Plan, settings: TrainSettings, folder: Path, gang: Gang) -> None:
    files = FolderRun(folder, seed=plan.seed, resume=Path(plan.resume) if plan.resume else None)
    images = np.load(plan.images, mmap_mode="r", allow_pickle=False)
    labels = np.load(folder / LABELS, allow_pickle=False)
    try:
        start = Path(plan.start) if plan.start else None
        trained = train(images, labels, settings, RankRun(files, folder / STOP, gang), gang, start=start)
    except Stopped as stopped:
        if gang.rank == 0:
            write_atomically(folder / STOPPED, json.dumps({"message": str(stopped)}).encode())
        return
    if gang.rank == 0:
        write_trained(trained, folder)


def write_trained(trained: Trained, folder: Path) -> None:
    """What `read_trained` reads; complete once trained.json is there."""
    trained.model.save(folder / MODEL)
    facts = {part.name: getattr(trained, part.name) for part in fields(trained) if part.name != "model"}
    write_atomically(folder / TRAINED, json.dumps(facts).encode())


def read_trained(folder: Path, *, device: str) -> Trained:
    """What the first rank wrote."""
    facts = json.loads((folder / TRAINED).read_text())
    lists = {name: tuple(value) for name, value in facts.items() if isinstance(value, list)}
    return Trained(model=Model.load(folder / MODEL, device=device), **{**facts, **lists})


def _explain(folder: Path, error: Exception) -> None:
    traceback.print_exc()
    known = isinstance(error, SeedbedError)
    told = error if isinstance(error, SeedbedError) else SeedbedError(f"{type(error).__name__}: {error}")
    facts = {
        "code": told.code,
        "message": told.message,
        "hint": told.hint,
        "problems": list(told.problems),
        "parted": not known and _parted(error),
        "at": time.time(),
    }
    rank = os.environ.get("RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or "0"
    write_atomically(folder / f"error-{rank}.json", json.dumps(facts).encode())


def _parted(error: Exception) -> bool:
    """Whether it only says that another rank is gone: gloo's own errors have no type of theirs."""
    return isinstance(error, dist.DistError) or any(word in str(error).lower() for word in ("gloo", "nccl"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
