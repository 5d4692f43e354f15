"""The journal of an ingest: one line per finished batch, so that an interrupted ingest goes on where it was.

A line is written only when the batch's images and its rows of the decoded cache are on disk. A line that a crash cut
short is dropped.
"""

import ctypes
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from seedbed.assets.data.statistics import ChannelSums
from seedbed.base.files import fsync_folder, says_when_full

JOURNAL = "journal.jsonl"
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Outcome:
    """What became of one file: an image with an id, or a reason why not."""

    index: int  # of the source's item
    id: str = ""
    image: str = ""
    width: int = 0
    height: int = 0
    bytes: int = 0
    format: str = ""
    phash: str = ""
    reason: str = ""
    bomb: bool = False


@dataclass(frozen=True)
class Batch:
    """A finished batch: its outcomes, the ids whose rows it added to the cache, and the colours of those rows."""

    outcomes: tuple[Outcome, ...]
    rows: tuple[str, ...]
    sums: ChannelSums

    def to_json(self) -> dict[str, Any]:
        """A JSON object; fields of an outcome that say nothing are left out."""
        outcomes = [{name: value for name, value in vars(one).items() if value} for one in self.outcomes]
        return {"outcomes": outcomes, "rows": list(self.rows), "sums": self.sums.to_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Batch":
        """What `to_json` wrote."""
        outcomes = tuple(Outcome(**{"index": 0, **one}) for one in value["outcomes"])
        return cls(outcomes, tuple(value["rows"]), ChannelSums.from_json(value["sums"]))


class Journal:
    """The journal in a folder. `key` names the work: a journal of other work is not continued."""

    def __init__(self, folder: Path, key: str) -> None:
        self._path = folder / JOURNAL
        self._key = key
        self._file: IO[bytes] | None = None

    def read(self) -> list[Batch] | None:
        """The batches that are done; None when the folder has no journal of this work."""
        if not self._path.exists():
            return None
        lines = self._path.read_bytes().split(b"\n")[:-1]
        if not lines or json.loads(lines[0]) != {"key": self._key}:
            return None
        with self._path.open("r+b") as file:
            file.truncate(sum(len(line) + 1 for line in lines))
        return [Batch.from_json(json.loads(line)) for line in lines[1:]]

    def begin(self) -> None:
        """Start an empty journal."""
        self._append({"key": self._key})
        fsync_folder(self._path.parent)

    def add(self, batches: Sequence[Batch]) -> None:
        """Note batches whose bytes are on disk."""
        self._append(*(batch.to_json() for batch in batches))

    def close(self) -> None:
        """Let go of the file."""
        if self._file:
            self._file.close()

    def _append(self, *values: Mapping[str, Any]) -> None:
        with says_when_full(self._path.parent):
            if self._file is None:
                self._file = self._path.open("ab")
            self._file.write(b"".join(json.dumps(value).encode() + b"\n" for value in values))
            self._file.flush()
            os.fdatasync(self._file.fileno())


def sync_disk_of(folder: Path) -> None:
    """Put everything written on a folder's disk there: one call for hundreds of small files, which costs a fifth."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with says_when_full(folder):
            if _LIBC.syncfs(handle):
                raise OSError(ctypes.get_errno(), f"syncfs of {folder}")
    finally:
        os.close(handle)


def keep_progress(folder: Path, into: Path) -> None:
    """Copy an unfinished ingest, to go on from there: images as links, what still grows as copies."""
    into.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.iterdir()):  # images come before the journal: what it names is there
        if path.name == "images":
            (into / "images").mkdir(exist_ok=True)
            for image in path.iterdir():
                if not (into / "images" / image.name).exists():
                    os.link(image, into / "images" / image.name)
        elif path.is_file():
            shutil.copyfile(path, into / path.name)
