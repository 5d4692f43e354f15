"""Room on the disk: large writes stop early, so that small ones (a deletion, a label, a job's state) go on."""

import shutil
from pathlib import Path

from seedbed.base.errors import DiskFull
from seedbed.base.resources import show_size

_RESERVE, _SHARE = 64 << 20, 0.05  # bytes kept free, or this share of a small disk


def keep_reserve(home: Path, coming: int) -> None:
    """Refuse a write of so many bytes where it would take what a deletion needs to make room again."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    disk = shutil.disk_usage(home)
    reserve = min(_RESERVE, int(disk.total * _SHARE))
    if disk.free - coming < reserve:
        raise DiskFull(
            f"The disk that holds {home} is full: {show_size(disk.free)} are free, {show_size(coming)} are to come and "
            f"{show_size(reserve)} are kept for deletions; nothing was kept of this write.",
            hint="Make room (seedbed store rm, seedbed store gc) or move SEEDBED_HOME to a larger disk.",
        )
