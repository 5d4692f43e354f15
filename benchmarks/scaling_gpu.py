"""What 16 GPUs would give, projected from one: `python -m benchmarks.scaling --gpu`.

Measured on the one GPU: a step of FreeMatch on ViT-small (patches of 2 pixels, 32 px) alone; the same step as a rank
does it (DistributedDataParallel over NCCL, with a group of one); what it costs to start an all-reduce of all gradients
in a group of one; and the bytes of the gradients. The rest is a model, on the machines that HARVEST used (4 GPUs with
NVLink per node, 200 Gbit/s between nodes): a ring moves 2 (n - 1) / n of the bytes at the bandwidth of its slowest
link, and every one of its 2 (n - 1) hops takes a latency. Every row for more than one GPU is a projection.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from benchmarks.harness import Report
from benchmarks.scaling_rank import begun
from seedbed.base.errors import Unavailable
from seedbed.methods.learn.gang import Gang, joined
from seedbed.methods.learn.group import ALONE, Group
from seedbed.methods.learn.replay import Replay
from seedbed.methods.learn.settings import TrainSettings

GPUS = (1, 2, 4, 8, 16)
BATCHES = (32, 64)
EPOCH = 1024  # unlabelled images
PAPER = {("weak", 32): 14.84, ("weak", 64): 15.43, ("strong", 32): 8.0, ("strong", 64): 10.51}
PER_NODE = 4  # GPUs
INSIDE, BETWEEN = 200e9, 20e9  # bytes per second that a ring reaches over NVLink, and over 200 Gbit/s between nodes
HOP = 10e-6  # seconds
HIDDEN = 0.5  # share of a step, its backward pass, that communication can hide behind


@dataclass(frozen=True)
class Measured:
    """Seconds, by local batch, of a step alone and of the same step as a rank; and what the gradients weigh."""

    alone: Mapping[int, float]
    rank: Mapping[int, float]
    recorded: Mapping[int, float]  # as a rank that records its steps
    start: float  # of an all-reduce of all gradients
    bytes: int


def ring_seconds(gpus: int, size: int) -> float:
    """An all-reduce of so many bytes over so many GPUs, by the model above."""
    if gpus == 1:
        return 0.0
    bandwidth = INSIDE if gpus <= PER_NODE else BETWEEN
    return 2 * (gpus - 1) / gpus * size / bandwidth + 2 * (gpus - 1) * HOP


def projected(step: float, gpus: int, size: int, *, overlap: bool) -> float:
    """Seconds of a step of one of several GPUs."""
    talk = ring_seconds(gpus, size)
    return step + (max(0.0, talk - HIDDEN * step) if overlap else talk)


def measure(quick: bool) -> Report:
    """Measure one GPU and project."""
    if not torch.cuda.is_available():
        raise Unavailable("The projection starts from a GPU, and torch sees none here.")
    steps = 20 if quick else 40
    with tempfile.TemporaryDirectory() as folder, _group_of_one() as gang:
        found = _measured(gang, Path(folder), steps)
    return Report(_figures(found), list(_rows(found)), note=_note(found))


def _group_of_one() -> Any:
    os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "0"  # as a launch that records does
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    return joined(torch.device("cuda"))


def _measured(gang: Gang, folder: Path, steps: int) -> Measured:
    locals_ = sorted({batch // gpus for batch in BATCHES for gpus in GPUS})
    alone = {batch: _seconds(batch, ALONE, folder, steps, record=True)[0] for batch in locals_}
    rank = {batch: _seconds(batch, gang, folder, steps, record=False)[0] for batch in locals_}
    size = _seconds(min(locals_), ALONE, folder, 1, record=False)[1]
    gradients = torch.zeros(size // 4, device="cuda")
    start = _timed(lambda: dist.all_reduce(gradients), steps)
    recorded = {batch: _seconds(batch, gang, folder, steps, record=True)[0] for batch in locals_}
    return Measured(alone, rank, recorded, start, size)


def _seconds(batch: int, group: Group, folder: Path, steps: int, *, record: bool) -> tuple[float, int]:
    """Of a step with so many labelled and as many unlabelled images; and the bytes of its gradients."""
    settings = TrainSettings(
        classes=("a", "b", "c", "d"),
        start="vit_small",
        weights="none",
        size=32,
        algorithm="freematch",
        steps=1000,
        labelled_batch=batch,
        unlabelled_batch=batch,
        learning_rate=1e-4,
        held_out=0.0,
    )
    run = begun(settings, group, folder)
    # a group of one is not told from no group at all: what a rank of several would do is said here
    run.learner._replay = Replay(run.learner.step, record=record, eager=12)
    place = iter(range(10**6))

    def step() -> None:
        number = next(place)
        run.learner.advance(run.feed.at(number), number)

    for _ in range(15):
        step()
    size = sum(4 * parameter.numel() for parameter in run.learner.network.parameters())
    return _timed(step, steps), size


def _timed(act: Callable[[], object], times: int) -> float:
    """Mean seconds, the best of three laps."""
    best = float("inf")
    act()
    for _ in range(3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(times):
            act()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) / times)
    return best


@dataclass(frozen=True)
class Epoch:
    """Seconds of an epoch: on one GPU, and projected for several by how their ranks go about it."""

    one: float
    recorded: float  # steps recorded, communication hidden behind the backward pass
    in_the_open: float  # steps recorded, nothing hidden
    eager: float  # steps not recorded, communication hidden


def epoch_of(found: Measured, scaling: str, batch: int, gpus: int) -> Epoch:
    """An epoch with a batch per GPU (weak) or in all (strong)."""
    local = batch if scaling == "weak" else batch // gpus
    one, steps = found.alone[batch] * EPOCH / batch, EPOCH / (local * gpus)
    if gpus == 1:
        return Epoch(one, one, one, one)
    return Epoch(
        one,
        steps * projected(found.recorded[local] + found.start, gpus, found.bytes, overlap=True),
        steps * projected(found.recorded[local] + found.start, gpus, found.bytes, overlap=False),
        steps * projected(found.rank[local] + found.start, gpus, found.bytes, overlap=True),
    )


def _rows(found: Measured) -> Iterator[dict[str, Any]]:
    for scaling, noun in (("weak", "local"), ("strong", "global")):
        for batch in BATCHES:
            for gpus in GPUS:
                epoch = epoch_of(found, scaling, batch, gpus)
                yield {
                    "scaling": scaling,
                    "batch": f"{noun} {batch}",
                    "GPUs": gpus,
                    "": "measured" if gpus == 1 else "projection",
                    "seconds per epoch": epoch.recorded,
                    "speed-up": epoch.one / epoch.recorded,
                    "no overlap": epoch.one / epoch.in_the_open,
                    "not recorded": epoch.one / epoch.eager,
                    "HARVEST, 16 A100": PAPER[scaling, batch] if gpus == GPUS[-1] else "",
                }


def _figures(found: Measured) -> dict[str, float]:
    figures: dict[str, float] = {"allreduce_start_ms": found.start * 1e3, "gradient_mb": found.bytes / 1e6}
    for batch in BATCHES:
        figures[f"step_alone_ms_{batch}"] = found.alone[batch] * 1e3
        figures[f"step_of_recorded_rank_ms_{batch}"] = found.recorded[batch] * 1e3
        figures[f"step_of_rank_ms_{batch}"] = found.rank[batch] * 1e3
        for scaling in ("weak", "strong"):
            epoch = epoch_of(found, scaling, batch, GPUS[-1])
            figures[f"projected_{scaling}_speedup_{batch}"] = epoch.one / epoch.recorded
            figures[f"projected_{scaling}_speedup_{batch}_no_overlap"] = epoch.one / epoch.in_the_open
    return figures


def _note(found: Measured) -> str:
    steps = "; ".join(
        f"{batch}: {found.alone[batch] * 1e3:.1f}, {found.recorded[batch] * 1e3:.1f}, {found.rank[batch] * 1e3:.1f}"
        for batch in found.alone
    )
    return (
        f"Measured on {torch.cuda.get_device_name()}: milliseconds of a step alone, as a rank that records its steps "
        f"(record 'always') and as one that does not (the default), by local batch ({steps}); {found.bytes / 1e6:.0f} "
        f"MB of gradients, whose all-reduce takes {found.start * 1e6:.0f} us to start. Model: {INSIDE / 1e9:.0f} GB/s "
        f"among the {PER_NODE} GPUs of a node, {BETWEEN / 1e9:.0f} GB/s between nodes, {HOP * 1e6:.0f} us per hop; "
        f"communication hides behind {HIDDEN:.0%} of a step, or not at all. Speed-up is against one GPU that trains "
        "alone, with its steps recorded."
    )
