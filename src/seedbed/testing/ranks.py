"""Whether several ranks do what one does with the whole batch, for any algorithm and network.

`differences` starts real processes that meet over gloo. Each of them also trains alone, on whole batches; at every step
the ranks take over the state of the one that is alone, all compute the gradients of the same global batch, and these
are compared.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seedbed.base.run import MemoryRun
from seedbed.methods.learn.gang import Gang, joined
from seedbed.methods.learn.group import ALONE, Group
from seedbed.methods.learn.learner import Learner
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import TrainingRun

_IMAGES, _SEED = 48, 5
_CPU = torch.device("cpu")
Options = Mapping[str, float]


def differences(
    algorithms: Mapping[str, Options], settings: TrainSettings, folder: Path, *, ranks: int = 2
) -> dict[str, float]:
    """The largest difference between the gradients of several ranks and of one, relative to the largest gradient.

    By algorithm, over `settings.steps` steps; `algorithms` maps names to options. The batches of the settings are
    those of all ranks together. Ranks have one thread each. Files go into the folder, which is made.
    """
    folder.mkdir(parents=True)
    ask = {"settings": settings.to_json(), "algorithms": {name: dict(options) for name, options in algorithms.items()}}
    (folder / "ask.json").write_text(json.dumps(ask))
    run_ranks("seedbed.testing.ranks", folder, ranks=ranks)
    found: dict[str, float] = json.loads((folder / "found.json").read_text())
    return found


def run_ranks(module: str, folder: Path, *, ranks: int) -> None:
    """Run a module with the folder as its argument, as several processes that torchrun brings together."""
    together = ["--standalone", "--nproc-per-node", str(ranks), "--max-restarts", "0"]
    command = [sys.executable, "-m", "torch.distributed.run", *together, "-m", module, str(folder)]
    subprocess.run(command, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})


def compare(algorithm: str, options: Options, settings: TrainSettings, gang: Gang, folder: Path) -> float:
    """What `differences` tells of one algorithm; called by every rank."""
    same: dict[str, Any] = {"held_out": 0.0, "precision": "fp32", "clip": 1e9, "device": "cpu"}
    own = replace(settings, algorithm=algorithm, options=options, **same)
    alone, together = (_begun(own, group, folder) for group in (ALONE, gang))
    worst = 0.0
    for step in range(own.steps):
        together.learner.load({name: value.clone() for name, value in alone.learner.tensors().items()})
        for run in (alone, together):
            run.learner.advance(run.feed.at(step), step)
        worst = max(worst, _apart(_gradients(alone.learner), _gradients(together.learner)))
        worst = max(worst, _apart(alone.learner.algorithm.state(), together.learner.algorithm.state()))
    return worst


def _begun(settings: TrainSettings, group: Group, folder: Path) -> TrainingRun:
    """A run on noise, before its first step."""
    draw = np.random.default_rng(_SEED)
    images = draw.integers(0, 256, (_IMAGES, settings.size, settings.size, 3), dtype=np.uint8)
    labels = np.where(np.arange(_IMAGES) < _IMAGES // 3, np.arange(_IMAGES) % len(settings.classes), -1)
    together = replace(settings, ranks=group.ranks, scaling="strong")
    run = TrainingRun(images, labels, together, MemoryRun(folder, seed=_SEED), group)
    run.begin()
    return run


def _gradients(learner: Learner) -> dict[str, Tensor]:
    named = learner.network.named_parameters()
    return {name: parameter.grad for name, parameter in named if parameter.grad is not None}


def _apart(ones: Mapping[str, Tensor], others: Mapping[str, Tensor]) -> float:
    """The largest difference, relative to the largest value; of nothing, 0."""
    if set(ones) != set(others):
        return float("inf")
    largest = max((float(value.abs().max()) for value in ones.values() if value.numel()), default=0.0)
    differences = ((ones[name].double() - others[name].double()).abs() for name in ones)
    return max((float(each.max()) for each in differences if each.numel()), default=0.0) / max(largest, 1e-30)


def main(arguments: list[str]) -> None:
    """One rank."""
    folder = Path(arguments[0])
    ask: dict[str, Any] = json.loads((folder / "ask.json").read_text())
    settings = TrainSettings.from_json(ask["settings"])
    with joined(_CPU) as gang:
        found = {name: compare(name, options, settings, gang, folder) for name, options in ask["algorithms"].items()}
        if gang.rank == 0:
            (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
