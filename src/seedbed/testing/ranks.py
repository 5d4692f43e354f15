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

from seedbed.assets.zoo.builder import build_backbone
from seedbed.methods.learn.algorithm import make_algorithm
from seedbed.methods.learn.feed import Feed
from seedbed.methods.learn.gang import Gang, joined
from seedbed.methods.learn.group import ALONE, Group
from seedbed.methods.learn.learner import Learner
from seedbed.methods.learn.pool import Pool, divide
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.task import make_task

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


def compare(algorithm: str, options: Options, settings: TrainSettings, gang: Gang) -> float:
    """What `differences` tells of one algorithm; called by every rank."""
    own = replace(settings, algorithm=algorithm, options=options, precision="fp32", clip=1e9, device="cpu")
    (feed, alone), (slices, together) = (_learner(own, group) for group in (ALONE, gang))
    worst = 0.0
    for step in range(own.steps):
        together.load({name: value.clone() for name, value in alone.tensors().items()})
        alone.advance(feed.at(step), step)
        together.advance(slices.at(step), step)
        worst = max(worst, _apart(_gradients(alone), _gradients(together)))
        worst = max(worst, _apart(alone.algorithm.state(), together.algorithm.state()))
    return worst


def _learner(settings: TrainSettings, group: Group) -> tuple[Feed, Learner]:
    """A run on noise, up to its first step."""
    draw = np.random.default_rng(_SEED)
    images = draw.integers(0, 256, (_IMAGES, settings.size, settings.size, 3), dtype=np.uint8)
    labels = np.where(np.arange(_IMAGES) < _IMAGES // 3, np.arange(_IMAGES) % len(settings.classes), -1)
    parts = divide(labels, share=0.0, few=1, classes=len(settings.classes), seed=_SEED)
    algorithm = make_algorithm(settings.algorithm, make_task(labels, settings, _CPU), settings.options)
    feed = Feed(
        Pool(images, settings.size, _CPU),
        parts,
        labelled=settings.labelled_batch,
        unlabelled=settings.unlabelled_batch if algorithm.views.unlabelled else 0,
        seed=_SEED,
        device=_CPU,
        group=group,
    )
    backbone = build_backbone(
        settings.start, len(settings.classes), weights=settings.weights, seed=_SEED, size=settings.size
    )
    rate, whole = settings.learning_rate, torch.from_numpy(labels)
    return feed, Learner(
        backbone, algorithm, whole, settings, steps=settings.steps, rate=rate, seed=_SEED, device=_CPU, group=group
    )


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
        found = {name: compare(name, options, settings, gang) for name, options in ask["algorithms"].items()}
        if gang.rank == 0:
            (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
