"""Training on several ranks: one process each, started together, ended together, and heard through one run.

Nothing here computes, so nothing here loads torch before the ranks are on their way.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput, SeedbedError, Unavailable, family
from seedbed.base.registry import Registry
from seedbed.base.run import RunContext, Stopped
from seedbed.methods.learn.plan import IMAGES, LABELS, STOP, STOPPED, TRAINED, Plan
from seedbed.methods.learn.settings import ONE_CLASS, TrainSettings

if TYPE_CHECKING:
    from seedbed.methods.learn.trainer import Trained

_LOOK = 0.05  # seconds between looks at what the ranks wrote
_LINGER = 30.0  # seconds that ranks may take to end, once they were told to or have written their result
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_RANK = "seedbed.methods.learn.rank"
_HEAVY: Registry[Any] = Registry(
    "part",
    {
        "train": "seedbed.methods.learn.trainer:train",
        ONE_CLASS: "seedbed.methods.learn.one_class:train_one_class",
        "read": f"{_RANK}:read_trained",
    },
)


def train_on_ranks(
    images: NDArray[np.uint8],
    labels: NDArray[np.integer],
    settings: TrainSettings,
    run: RunContext,
    start: Path | None = None,
) -> "Trained":
    """`train` on as many ranks as the settings say: in this process for one, else in processes of their own.

    Reports and checkpoints of the first rank go through `run`, and its wish to stop reaches all ranks, which make one
    checkpoint at the same step. When a rank dies all end, and Unavailable says so: the next try goes on from the last
    checkpoint. Images that are a memory-mapped .npy file are not copied. The threads of this process are shared out.
    `start` as for `train`.
    """
    settings.check()
    if settings.ranks == 1 or settings.algorithm == ONE_CLASS:  # which looks at each image once, and needs no ranks
        part = ONE_CLASS if settings.algorithm == ONE_CLASS else "train"
        alone: Trained = _HEAVY.get(part)(images, labels, settings, run, start=start)
        return alone
    folder = _fresh(run.folder / "ranks")
    np.save(folder / LABELS, labels)
    resume = str(run.resume.absolute()) if run.resume else ""
    card = str(start.absolute()) if start else ""
    Plan(settings.to_json(), run.seed, _file_of(images, folder), resume, card).write(folder)
    process = subprocess.Popen(_command(settings, folder), env=_environment(settings))
    try:
        read = _HEAVY.get("read")  # loads torch here while the ranks do
        _follow(process, folder, run)
    finally:
        _end(process)
    if (folder / TRAINED).exists():  # a rank that did its work may still abort on its way out
        trained: Trained = read(folder, device=settings.device)
        return trained
    raise _why_not(folder, settings.ranks)


def _follow(process: "subprocess.Popen[bytes]", folder: Path, run: RunContext) -> None:
    """Pass on what the ranks write and the wish to stop, until they have ended."""
    relay, deadline = Relay(folder, run), float("inf")
    while process.poll() is None and time.monotonic() < deadline:
        relay.pass_on()
        if run.should_stop():
            (folder / STOP).touch()
        if deadline == float("inf") and ((folder / TRAINED).exists() or (folder / STOPPED).exists()):
            deadline = time.monotonic() + _LINGER
        time.sleep(_LOOK)
    relay.pass_on()


class Relay:
    """Hands what the first rank wrote on to a run: lines of metrics, and checkpoints as links to the same files."""

    def __init__(self, folder: Path, run: RunContext) -> None:
        self._folder, self._run = folder, run
        self._offset = 0
        self._step = -1

    def pass_on(self) -> None:
        """Everything that is new."""
        self._pass_metrics()
        self._pass_checkpoint()

    def _pass_metrics(self) -> None:
        path = self._folder / "metrics.jsonl"
        if not path.exists() or path.stat().st_size == self._offset:
            return
        with path.open("rb") as file:
            file.seek(self._offset)
            piece = file.read()
        whole = piece[: piece.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in map(json.loads, whole.splitlines()):
            self._run.report(line["values"], step=line["step"], total=line["total"], doing=line["doing"])

    def _pass_checkpoint(self) -> None:
        home = self._folder / "checkpoints"
        found = [path for path in home.iterdir() if not path.name.startswith(".")] if home.exists() else []
        newest = max(found, default=None)
        if newest is None or int(newest.name) <= self._step:
            return
        try:
            self._run.checkpoint(lambda place: _link(newest, place), step=int(newest.name))
        except FileNotFoundError:  # the first rank has made two newer ones meanwhile
            return
        self._step = int(newest.name)


def _link(source: Path, place: Path) -> None:
    for path in source.iterdir():
        try:
            os.link(path, place / path.name)
        except FileNotFoundError:
            raise
        except OSError:  # a file system without links
            shutil.copyfile(path, place / path.name)


def _command(settings: TrainSettings, folder: Path) -> list[str]:
    ranks, rank = str(settings.ranks), ["-m", _RANK, str(folder)]
    if settings.backend == "mpi":
        if not shutil.which("mpirun"):
            raise InvalidInput("backend is 'mpi', but there is no mpirun on the path.", hint="Use auto.")
        return ["mpirun", "-n", ranks, sys.executable, *rank]
    # no restarts inside a launch: ranks that start over beside others that did not often fail to meet again
    together = ["--standalone", "--nproc-per-node", ranks, "--max-restarts", "0"]
    return [sys.executable, "-m", "torch.distributed.run", *together, *rank]


def _environment(settings: TrainSettings) -> dict[str, str]:
    """This process's, with its threads shared out."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    own = int(os.environ.get(_THREADS[0], "0")) or cores
    threads = dict.fromkeys(_THREADS, str(max(1, own // settings.ranks)))
    # NCCL's own watch cannot look on while a step is recorded; torchrun ends the others all the same when a rank dies
    unwatched = {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"} if settings.record == "always" else {}
    return {**os.environ, **threads, **unwatched}


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder.absolute()


def _file_of(images: NDArray[np.uint8], folder: Path) -> str:
    """The .npy file that images are mapped from, where they are the whole of one; else a copy."""
    if isinstance(images, np.memmap) and images.filename and images.flags.c_contiguous:
        path = Path(images.filename)
        if path.suffix == ".npy" and np.load(path, mmap_mode="r", allow_pickle=False).shape == images.shape:
            return str(path.absolute())
    np.save(folder / IMAGES, images)
    return str(folder / IMAGES)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """torchrun ends its ranks when it is asked to end."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_LINGER)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _why_not(folder: Path, ranks: int) -> Exception:
    """Why there is no result, by what the ranks wrote."""
    if (folder / STOPPED).exists():
        return Stopped(json.loads((folder / STOPPED).read_text())["message"])
    errors = {int(path.stem.partition("-")[2]): json.loads(path.read_text()) for path in folder.glob("error-*.json")}
    if own := [error for error in errors.values() if not error["parted"]]:
        return _error_of(min(own, key=lambda error: float(error["at"])))
    gone = [str(rank) for rank in range(ranks) if rank not in errors]
    who = f"Rank {gone[0]}" if len(gone) == 1 else "A rank"
    return Unavailable(
        f"{who} of {ranks} ended without a word, as one does that is killed, so all had to end.",
        hint="Tried again, the training goes on from its last checkpoint; the log says more.",
    )


def _error_of(facts: Mapping[str, Any]) -> SeedbedError:
    kinds = {member.code: member for member in family()}
    kind = kinds.get(facts["code"], SeedbedError)
    return kind(facts["message"], hint=facts["hint"], problems=facts["problems"])
