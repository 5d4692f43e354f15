"""Our trainer by turns, through the same call that everyone uses; run by benchmarks.ssl_speed."""

import contextlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.turns import OverError, Turns
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import train


class TurnsRun:
    """A run whose reports wait for their turn: a report comes when the steps before it are done."""

    seed = 0
    resume = None

    def __init__(self, turns: Turns, folder: Path) -> None:
        self._turns = turns
        self.folder = folder

    def report(
        self, metrics: Mapping[str, float] | None = None, *, step: int = 0, total: int = 0, doing: str = ""
    ) -> None:
        self._turns.after(step)

    def checkpoint(self, write: Callable[[Path], None], *, step: int) -> None:
        """Nothing is kept: the peer keeps nothing either in the steps that are measured."""

    def should_stop(self) -> bool:
        return False


def settings_of(job: dict[str, Any]) -> TrainSettings:
    """A job in our words."""
    never = 10 * job["steps"]
    return TrainSettings(
        classes=tuple(f"class {number}" for number in range(10)),
        start=job["start"],
        weights=job["weights"],
        algorithm=job["algorithm"],
        options=job["options"],
        size=job["size"],
        steps=job["steps"],
        labelled_batch=job["labelled"],
        unlabelled_batch=job["unlabelled"],
        learning_rate=1e-4,
        head_start=0.0,  # a step is as fast with any head, and a regression on noise takes long
        held_out=0.0,
        patience=0,
        compile=job["compile"],
        report_every=job["report_every"],
        evaluate_every=never,
        checkpoint_every=never,
    )


def play(job: dict[str, Any], turns: Turns) -> None:
    """Train until the turns are over."""
    with np.load(job["images"]) as file:
        images, labels = file["images"], file["labels"]
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(OverError):
        train(images, labels, settings_of(job), TurnsRun(turns, Path(folder)))


def main() -> None:
    """Train what is ordered."""
    turns = Turns()
    for job in turns.jobs():
        play(job, turns)


if __name__ == "__main__":
    main()
