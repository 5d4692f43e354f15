"""What 16 GPUs would give, projected from one: `python -m benchmarks.scaling --gpu`.

Measured on the one GPU: a step of FreeMatch on ViT-small (patches of 2 pixels, 32 px) alone; the same step as a rank
does it (DistributedDataParallel over NCCL, with a group of one); what it costs to start an all-reduce of all gradients
in a group of one; and the bytes of the gradients. The rest is a model, on the machines that HARVEST used (4 GPUs with
NVLink per node, 200 Gbit/s between nodes): a ring moves 2 (n - 1) / n of the bytes at the bandwidth of its slowest
link, and every one of its 2 (n - 1) hops takes a latency. Every row for more than one GPU is a projection.

What is measured is kept as it is found, so that a call that is cut off loses nothing: a later one at the same commit
does what is missing, and the report is of what there is.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from benchmarks.few_labels import Rows, commit, machines_of, rows_of
from benchmarks.filling import fill
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
WAYS = ("alone", "rank", "recorded")
TALK = "all-reduce"
LOCALS = tuple(sorted({batch // gpus for batch in BATCHES for gpus in GPUS}, reverse=True))
HIDDEN = 0.5  # share of a step, its backward pass, that communication can hide behind


@dataclass(frozen=True)
class Measured:
    """Seconds, by local batch, of a step alone and of the same step as a rank; and what the gradients weigh.

    What was not measured yet is not in the mappings.
    """

    alone: Mapping[int, float]
    rank: Mapping[int, float]
    recorded: Mapping[int, float]  # as a rank that records its steps
    start: float  # of an all-reduce of all gradients
    bytes: int

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> "Measured":
        """What rows say, the last of each kind."""
        kept = list(rows)
        steps = {way: {row["batch"]: row["seconds"] for row in kept if row["what"] == way} for way in WAYS}
        talks = [row for row in kept if row["what"] == TALK]
        return cls(**steps, start=talks[-1]["seconds"] if talks else 0.0, bytes=kept[-1]["bytes"] if kept else 0)


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


def measure(quick: bool, minutes: float = 60.0) -> Report:
    """Measure one GPU and project."""
    if not torch.cuda.is_available():
        raise Unavailable("The projection starts from a GPU, and torch sees none here.")
    with tempfile.TemporaryDirectory() as folder:
        rows = Rows(Path(folder) / "rows.jsonl") if quick else rows_of("scaling_gpu")
        with _group_of_one() as gang:
            run = partial(_measured, gang=gang, folder=Path(folder), steps=20 if quick else 40)
            fill(rows, jobs_of(torch.cuda.get_device_name(), commit()), run, _told, minutes=minutes)
        return report_of([row for row in rows if row["device"] == torch.cuda.get_device_name()])


def jobs_of(device: str, at: str) -> Iterator[dict[str, Any]]:
    """What is to be measured; steps that record communication come last, as they are the likeliest to fail."""
    for way in WAYS:
        if way == "recorded":
            yield {"what": TALK, "device": device, "commit": at}
        for batch in LOCALS:
            yield {"what": way, "batch": batch, "device": device, "commit": at}


def report_of(rows: Sequence[Mapping[str, Any]]) -> Report:
    """The projection from all that was measured."""
    found = Measured.of(rows)
    origin = machines_of(rows) if rows else ""
    return Report(_figures(found), list(_rows(found)), note=_note(found, rows), origin=origin)


def _group_of_one() -> Any:
    os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "0"  # as a launch that records does
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    return joined(torch.device("cuda"))


def _measured(job: Mapping[str, Any], *, gang: Gang, folder: Path, steps: int) -> dict[str, Any]:
    if job["what"] == TALK:
        size = _seconds(min(LOCALS), ALONE, folder, 1, record=False)[1]
        gradients = torch.zeros(size // 4, device="cuda")
        return {**job, "seconds": _timed(lambda: dist.all_reduce(gradients), steps), "bytes": size}
    group, record = ALONE if job["what"] == "alone" else gang, job["what"] != "rank"
    seconds, size = _seconds(job["batch"], group, folder, steps, record=record)
    return {**job, "seconds": seconds, "bytes": size}


def _told(row: Mapping[str, Any]) -> str:
    return f"{row['what']}, batch {row.get('batch', 'of none')}: {1e3 * row['seconds']:.2f} ms"


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
    """Seconds of an epoch: on one GPU, and projected for several by how their ranks go about it; None: not measured."""

    one: float
    recorded: float | None  # steps recorded, communication hidden behind the backward pass
    in_the_open: float | None  # steps recorded, nothing hidden
    eager: float | None  # steps not recorded, communication hidden


def epoch_of(found: Measured, scaling: str, batch: int, gpus: int) -> Epoch:
    """An epoch with a batch per GPU (weak) or in all (strong)."""
    local = batch if scaling == "weak" else batch // gpus
    one, steps = found.alone[batch] * EPOCH / batch, EPOCH / (local * gpus)
    if gpus == 1:
        return Epoch(one, one, one, one)

    def seconds(way: Mapping[int, float], *, overlap: bool) -> float | None:
        if local not in way:
            return None
        return steps * projected(way[local] + found.start, gpus, found.bytes, overlap=overlap)

    return Epoch(
        one,
        seconds(found.recorded, overlap=True),
        seconds(found.recorded, overlap=False),
        seconds(found.rank, overlap=True),
    )


def _rows(found: Measured) -> Iterator[dict[str, Any]]:
    for scaling, noun in (("weak", "local"), ("strong", "global")):
        for batch in (batch for batch in BATCHES if batch in found.alone):
            for gpus in GPUS:
                epoch = epoch_of(found, scaling, batch, gpus)
                yield {
                    "scaling": scaling,
                    "batch": f"{noun} {batch}",
                    "GPUs": gpus,
                    "": "measured" if gpus == 1 else "projection",
                    "seconds per epoch": "" if epoch.recorded is None else epoch.recorded,
                    "speed-up": _times(epoch.one, epoch.recorded),
                    "no overlap": _times(epoch.one, epoch.in_the_open),
                    "not recorded": _times(epoch.one, epoch.eager),
                    "HARVEST, 16 A100": PAPER[scaling, batch] if gpus == GPUS[-1] else "",
                }


def _times(one: float, several: float | None) -> float | str:
    return "" if several is None else one / several


def _figures(found: Measured) -> dict[str, float]:
    figures: dict[str, float] = {"gradient_mb": found.bytes / 1e6} if found.bytes else {}
    figures |= {"allreduce_start_ms": found.start * 1e3} if found.start else {}
    ways = {"step_alone_ms": found.alone, "step_of_recorded_rank_ms": found.recorded, "step_of_rank_ms": found.rank}
    for batch in BATCHES:
        figures |= {f"{name}_{batch}": way[batch] * 1e3 for name, way in ways.items() if batch in way}
        for scaling in ("weak", "strong") if batch in found.alone and found.start else ():
            epoch = epoch_of(found, scaling, batch, GPUS[-1])
            if epoch.recorded is not None and epoch.in_the_open is not None:
                figures[f"projected_{scaling}_speedup_{batch}"] = epoch.one / epoch.recorded
                figures[f"projected_{scaling}_speedup_{batch}_no_overlap"] = epoch.one / epoch.in_the_open
    return figures


def _note(found: Measured, rows: Sequence[Mapping[str, Any]]) -> str:
    def told(way: Mapping[int, float], batch: int) -> str:
        return f"{way[batch] * 1e3:.1f}" if batch in way else "not measured"

    steps = "; ".join(
        f"{batch}: {', '.join(told(way, batch) for way in (found.alone, found.recorded, found.rank))}"
        for batch in found.alone
    )
    device = rows[-1]["device"] if rows else "nothing yet"
    return (
        f"Measured on {device}: milliseconds of a step alone, as a rank that records its steps "
        f"(record 'always') and as one that does not (the default), by local batch ({steps}); {found.bytes / 1e6:.0f} "
        f"MB of gradients, whose all-reduce takes {found.start * 1e6:.0f} us to start. Model: {INSIDE / 1e9:.0f} GB/s "
        f"among the {PER_NODE} GPUs of a node, {BETWEEN / 1e9:.0f} GB/s between nodes, {HOP * 1e6:.0f} us per hop; "
        f"communication hides behind {HIDDEN:.0%} of a step, or not at all. Speed-up is against one GPU that trains "
        "alone, with its steps recorded."
    )
