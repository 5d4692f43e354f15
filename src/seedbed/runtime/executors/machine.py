"""What this machine has for jobs: cores, memory, gpus."""

import os
from collections.abc import Mapping
from pathlib import Path

import psutil

from seedbed.base.resources import Resources

_SHARE_OF_MEMORY = 0.9  # the rest is for the server and the system


def cores() -> list[int]:
    """The numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def capacity(*, cpus: float = 0.0, memory: int = 0, gpus: int = -1) -> Resources:
    """What jobs may use: the amounts given, else what the machine, or the container, has."""
    return Resources(
        cpus or _cpus(),
        memory or int(_SHARE_OF_MEMORY * min(psutil.virtual_memory().total, _limit("memory.max"))),
        gpus if gpus >= 0 else len(visible_gpus(os.environ)),
    )


def visible_gpus(environ: Mapping[str, str]) -> list[str]:
    """The gpus of this machine as CUDA_VISIBLE_DEVICES names them; only those that the server itself may see."""
    if (given := environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return [name for name in given.split(",") if name]
    return [str(number) for number in range(len(list(Path("/dev").glob("nvidia[0-9]*"))))]


def _cpus() -> float:
    quota, _, period = _control("cpu.max").partition(" ")
    share = int(quota) / int(period) if quota.isdigit() and period.isdigit() else float("inf")
    return min(float(len(cores())), share)


def _limit(name: str) -> int:
    text = _control(name)
    return int(text) if text.isdigit() else 1 << 62


def _control(name: str) -> str:
    """A setting of the control group that a container runs in; empty where there is none."""
    try:
        return (Path("/sys/fs/cgroup") / name).read_text().strip()
    except OSError:
        return ""
