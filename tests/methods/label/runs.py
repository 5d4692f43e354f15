"""Runs that are stopped at a step, and where they can be gone on from."""

from pathlib import Path

from seedbed.base.run import MemoryRun


class StopsAfter(MemoryRun):
    """Asks to stop once a step was reported."""

    def __init__(self, folder: Path, step: int, *, seed: int = 0, resume: Path | None = None) -> None:
        super().__init__(folder, seed=seed, resume=resume)
        self._last = step

    def report(self, metrics=None, *, step=0, total=0, doing="") -> None:
        super().report(metrics, step=step, total=total, doing=doing)
        if step >= self._last:
            self.ask_to_stop()


def newest(folder: Path) -> Path:
    """The last checkpoint of a run."""
    return max((folder / "checkpoints").iterdir())
