"""The decoded cache: every image of a data set as uint8 RGB at one size, memory-mapped; row i is record i.

A plain .npy file (N, size, size, 3). It is written row by row behind a header of fixed length, so that a build that
was interrupted goes on from the last row that is known to be on disk.
"""

import io
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.data.decode import Undecodable, decode
from seedbed.base.errors import Damaged, InvalidInput
from seedbed.base.files import fsync_folder, says_when_full
from seedbed.base.ids import new_id

HEADER = 128  # bytes; numpy pads its header to a multiple of 64, and this holds any N
_MAGIC = 10  # bytes of magic string, version and length before the header's text


def cache_name(size: int) -> str:
    """The file name of a cache of that size."""
    return f"decoded-{size}.npy"


@dataclass(frozen=True)
class DecodedCache:
    """An open cache. `pixels` is a read-only memory map: slices of it are read from disk when they are used."""

    path: Path
    pixels: NDArray[np.uint8]

    @classmethod
    def open(cls, path: Path) -> "DecodedCache":
        """Open a cache file."""
        try:
            pixels = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise Damaged(f"{path.name} is not a decoded cache: {error}.", hint="Build it again.") from error
        if pixels.ndim != 4 or pixels.dtype != np.uint8 or pixels.shape[3] != 3:
            raise Damaged(f"{path.name} is not a decoded cache: it holds {pixels.dtype} {pixels.shape}.")
        return cls(path, pixels)

    @property
    def size(self) -> int:
        """The side of its pictures in pixels."""
        return int(self.pixels.shape[1])

    def __len__(self) -> int:
        return len(self.pixels)


def build_cache(
    images: Sequence[Path],
    folder: Path,
    size: int,
    *,
    workers: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> DecodedCache:
    """The cache of these image files at a size, in `folder`: opened if it is there, else built."""
    path = folder / cache_name(check_size(size))
    if path.exists():
        return DecodedCache.open(path)
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{path.name}.{new_id()}"
    try:
        with ThreadPoolExecutor(workers or default_workers()) as pool, CacheWriter(draft, size) as writer:
            for start in range(0, len(images), 256):
                rows = pool.map(lambda image: _decode_admitted(image, size), images[start : start + 256])
                writer.append(np.stack(list(rows)))
                if on_progress:
                    on_progress(min(start + 256, len(images)), len(images))
            writer.finish()
        draft.replace(path)
        fsync_folder(folder)
    finally:
        draft.unlink(missing_ok=True)
    return DecodedCache.open(path)


def _decode_admitted(image: Path, size: int) -> NDArray[np.uint8]:
    try:
        return decode(image.read_bytes(), size=size, pixel_limit=None).pixels
    except FileNotFoundError:
        raise Damaged(
            f"The image {image.name} is gone from disk.",
            hint="Bring the images in again, or pull them from a remote; seedbed store verify names what is missing.",
        ) from None
    except Undecodable as error:
        raise Damaged(f"{image.name} can no longer be decoded: {error.reason}.", hint="seedbed store verify") from error


class CacheWriter:
    """Appends rows to a cache file, from a known number of rows on."""

    def __init__(self, path: Path, size: int, *, rows: int = 0) -> None:
        self._path = path
        self._size = size
        self._file: IO[bytes] = io.BytesIO()
        self.rows = rows

    @property
    def _row_bytes(self) -> int:
        return self._size * self._size * 3

    def append(self, pixels: NDArray[np.uint8]) -> None:
        """Add rows (n, size, size, 3)."""
        with says_when_full(self._path.parent):
            self._file.write(np.ascontiguousarray(pixels).data)
        self.rows += len(pixels)

    def append_file(self, cache: DecodedCache) -> None:
        """Add all rows of another cache of the same size, copied by the kernel (shared where the disk can)."""
        self._file.flush()
        with says_when_full(self._path.parent), cache.path.open("rb") as source:
            _copy_range(source.fileno(), self._file.fileno(), _data_offset(cache), HEADER + self.rows * self._row_bytes)
        self._file.seek(0, os.SEEK_END)
        self.rows += len(cache)

    def flush(self) -> None:
        """Hand what was appended to the operating system; putting it on disk is the caller's."""
        with says_when_full(self._path.parent):
            self._file.flush()

    def finish(self) -> None:
        """Write the header that makes the rows a .npy file, and put all on disk."""
        self._file.seek(0)
        self._file.write(_header(self.rows, self._size))
        self.flush()
        os.fdatasync(self._file.fileno())

    def __enter__(self) -> "CacheWriter":
        self._file = self._path.open("r+b" if self._path.exists() else "w+b")
        self._file.truncate(HEADER + self.rows * self._row_bytes)
        self._file.seek(0, os.SEEK_END)
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()


def default_workers() -> int:
    """Threads that keep the cpus of this process busy: one more, since each waits for the disk at times."""
    return len(os.sched_getaffinity(0)) + 1


def check_size(size: int) -> int:
    """The size, refused when no picture could have it."""
    if not 8 <= size <= 4096:
        raise InvalidInput(f"The size of the decoded cache is {size} px; it must lie between 8 and 4096.")
    return size


def _header(rows: int, size: int) -> bytes:
    text = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {size}, {size}, 3), }}"
    return (
        b"\x93NUMPY\x01\x00"
        + (HEADER - _MAGIC).to_bytes(2, "little")
        + text.ljust(HEADER - _MAGIC - 1).encode()
        + b"\n"
    )


def _data_offset(cache: DecodedCache) -> int:
    return cache.path.stat().st_size - cache.pixels.nbytes


def _copy_range(source: int, target: int, start: int, to: int) -> None:
    left = os.fstat(source).st_size - start
    while left > 0:
        copied = os.copy_file_range(source, target, left, offset_src=start, offset_dst=to)
        if not copied:
            break
        start, to, left = start + copied, to + copied, left - copied
