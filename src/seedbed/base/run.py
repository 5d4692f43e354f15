"""RunContext: all that running work sees of the platform."""

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from seedbed.base.files import fsync_folder, says_when_full


class Stopped(Exception):
    """Raised by work that was asked to stop, after it has made its checkpoint."""


class RunContext(Protocol):
    """What a step, a trainer or any long work is given. Used from the thread that does the work.

    A run that is killed at any moment and started again with the last checkpoint that `checkpoint` returned from
    gives what the unbroken run gives. Work polls `should_stop()` at least once a second where it can, and then makes
    a checkpoint and raises Stopped.
    """

    @property
    def seed(self) -> int:
        """Every random draw of the work derives from it."""
        ...

    @property
    def folder(self) -> Path:
        """A scratch folder that is the work's own."""
        ...

    @property
    def resume(self) -> Path | None:
        """The folder of the last checkpoint of an earlier try, or None on the first."""
        ...

    def report(
        self, metrics: Mapping[str, float] | None = None, *, step: int = 0, total: int = 0, doing: str = ""
    ) -> None:
        """Tell how far the work is (step of total), what it is doing in a few words, and what it measured."""
        ...

    def checkpoint(self, write: Callable[[Path], None], *, step: int) -> None:
        """Keep the state of the work: `write` fills an empty folder, which counts only once it is complete on disk."""
        ...

    def should_stop(self) -> bool:
        """Whether the work was asked to make room."""
        ...


class FolderRun:
    """A run whose traces are files in one folder: what workers use, on any executor, and handy in a notebook.

    metrics.jsonl grows by a line per report; checkpoints/<step>/ appears whole; scratch/ is the work's own.
    Only the newest two checkpoints are kept.
    """

    def __init__(self, root: Path, *, seed: int = 0, resume: Path | None = None) -> None:
        self._root = root
        self._seed = seed
        self._resume = resume
        self._stop = threading.Event()

    @property
    def seed(self) -> int:
        return self._seed

    @property
    def folder(self) -> Path:
        scratch = self._root / "scratch"
        scratch.mkdir(parents=True, exist_ok=True)
        return scratch

    @property
    def resume(self) -> Path | None:
        return self._resume

    def report(
        self, metrics: Mapping[str, float] | None = None, *, step: int = 0, total: int = 0, doing: str = ""
    ) -> None:
        values = {name: float(value) for name, value in (metrics or {}).items()}
        line = {"at": time.time(), "step": step, "total": total, "doing": doing, "values": values}
        with says_when_full(self._root), (self._root / "metrics.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")

    def checkpoint(self, write: Callable[[Path], None], *, step: int) -> None:
        home = self._root / "checkpoints"
        draft, place = home / f".{step:09d}", home / f"{step:09d}"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        with says_when_full(home):
            write(draft)
            _fsync_tree(draft)
        _remove_whole(place)
        draft.rename(place)
        fsync_folder(home)
        for old in sorted(path for path in home.iterdir() if not path.name.startswith("."))[:-2]:
            _remove_whole(old)

    def should_stop(self) -> bool:
        return self._stop.is_set()

    def ask_to_stop(self) -> None:
        """Make `should_stop` true; safe to call from a signal handler."""
        self._stop.set()


class MemoryRun:
    """A run for notebooks and tests: reports are kept in a list, checkpoints under a folder that the caller owns."""

    def __init__(self, folder: Path, *, seed: int = 0, resume: Path | None = None) -> None:
        self.reports: list[dict[str, float]] = []
        self.doing = ""
        self._files = FolderRun(folder, seed=seed, resume=resume)

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
        self.doing = doing
        self.reports.append({"step": step, "total": total, **(metrics or {})})

    def checkpoint(self, write: Callable[[Path], None], *, step: int) -> None:
        self._files.checkpoint(write, step=step)

    def should_stop(self) -> bool:
        return self._files.should_stop()

    def ask_to_stop(self) -> None:
        """Make `should_stop` true."""
        self._files.ask_to_stop()


def _remove_whole(folder: Path) -> None:
    """Take a folder out of sight before its files go, so that who copies it sees all of it or nothing."""
    if folder.exists():
        trash = folder.with_name(f".old-{folder.name}")
        shutil.rmtree(trash, ignore_errors=True)
        folder.rename(trash)
        shutil.rmtree(trash, ignore_errors=True)


def _fsync_tree(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
    fsync_folder(folder)
