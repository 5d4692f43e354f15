"""The images of a data set by every name that a label may call them by: id, file, or what another tool made of it."""

import re
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.data.records import ImageRecord, read_records
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.store import Store
from seedbed.base.errors import InvalidInput
from seedbed.base.text import made_plain
from seedbed.flows.facts import records_at, records_file

_SHOWN = 5  # names of images in one sentence
SEVERAL = -1  # what a name stands for that several images have
_OPEN = 16  # data sets whose ids are kept
_FEW = 4  # whose names of files are: they are needed only where labels call images by them
_ID = re.compile(rb'\n\{"id": "([0-9a-f]{64})", ')  # after a line's end: three times as fast as at a line's start
_SIDES = re.compile(rb'"width": (\d+, "height": \d+), ')  # in a text these quotes would have a backslash before them
_UPLOADED = re.compile(r"^[0-9a-f]{8}-")  # what Label Studio puts before the name of an upload


@dataclass(frozen=True)
class Shapes:
    """What the records say of each image: its id, and its width and height."""

    ids: tuple[str, ...]
    sides: NDArray[np.int32]

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Image id to row."""
        return {image: row for row, image in enumerate(self.ids)}


def read_shapes(records: Path) -> Shapes:
    """Ids and sizes from a file of records: read as text, many times faster than as records."""
    with _reading:
        return _shapes(records)


_reading = threading.Lock()  # several questions come at once when a page opens: one reads, and the others wait for it


@lru_cache(maxsize=_OPEN)  # files of the store never change
def _shapes(records: Path) -> Shapes:
    text = b"\n" + records.read_bytes()
    ids, sides = _ID.findall(text), _SIDES.findall(text)
    if not len(ids) == len(sides) == text.count(b"\n") - 1:  # written by somebody else, in another order
        read = read_records(records)
        shapes = np.array([(record.width, record.height) for record in read], dtype=np.int32)
        return Shapes(tuple(record.id for record in read), shapes.reshape(-1, 2))
    numbers = b",".join(sides).replace(b'"height": ', b"").decode()
    named = tuple(b" ".join(ids).decode().split())
    return Shapes(named, np.fromstring(numbers, dtype=np.int32, sep=",").reshape(-1, 2))


@dataclass(frozen=True)
class Images:
    """The images of one data set. Nothing but their ids is read before a label calls one by a file's name."""

    records: Path

    @property
    def ids(self) -> tuple[str, ...]:
        """The id of each row."""
        return read_shapes(self.records).ids

    def row(self, name: str) -> int | None:
        """The row of an image by its id or the name of one of its files; SEVERAL images may have it, or None."""
        row = read_shapes(self.records).rows.get(name)
        return row if row is not None else self._names.rows.get(name)

    def only(self, name: str) -> int | None:
        """The same where the name stands for one image; None: for none, or for several."""
        row = self.row(name)
        return None if row == SEVERAL else row

    def id_of(self, name: str) -> str:
        """The id of an image by any of its names; a name that says nothing, or too much, stays as it is."""
        row = self.only(name)
        return name if row is None else self.ids[row]

    def find(self, name: str, image: str = "") -> int | None:
        """The same for names from elsewhere: by id where it is here, else by the name, or by one that ends alike."""
        row = read_shapes(self.records).rows.get(image) if image else None
        if row is None:
            row = self.row(name)
        return row if row is not None else self._names.ending_like(name)

    def record(self, row: int) -> ImageRecord:
        """What is known of one image."""
        return self._names.records[row]

    @property
    def _names(self) -> "_Names":
        return _names(self.records)


def images_in(store: Store, data: Bundle) -> Images:
    """The images of a data set in the store."""
    return Images(records_file(store, data))


class ImagesMissing(InvalidInput):
    """Labels of images that are not in the data set; those of the others can be had."""


def refuse_names(missing: Collection[str], several: Collection[str], *, data: str, project: str) -> None:
    """Refuse labels of images that are not in a data set, or whose names stand for more than one of its images."""
    if missing:
        images = "1 of the labelled images is" if len(missing) == 1 else f"{len(missing):,} of the labelled images are"
        raise ImagesMissing(
            f"{images} not in '{data}', the data set of '{project}': {_some(missing)}. No label was kept.",
            hint=f"Correct the names, or bring the images in first: seedbed data add IMAGES --to {data}",
        )
    if several:
        names = "1 name stands" if len(several) == 1 else f"{len(several):,} names stand"
        raise InvalidInput(
            f"{names} for several images of '{data}': {_some(several)}. No label was kept.",
            hint="Name these images with their folders, or by their ids.",
        )


def _some(names: Collection[str]) -> str:
    shown = ", ".join(made_plain(name, longest=80) for name in sorted(names)[:_SHOWN])
    return shown + (", ..." if len(names) > _SHOWN else "")


@dataclass(frozen=True)
class _Names:
    records: tuple[ImageRecord, ...]

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """A file's name to its row, or SEVERAL."""
        found: dict[str, int] = {}
        for row, record in enumerate(self.records):
            for file in record.files:
                if found.setdefault(file, row) != row:
                    found[file] = SEVERAL
        return found

    @cached_property
    def _by_last(self) -> Mapping[str, list[tuple[tuple[str, ...], int]]]:
        found: dict[str, list[tuple[tuple[str, ...], int]]] = {}
        for file, row in self.rows.items():
            parts = _parts(file)
            found.setdefault(parts[-1], []).append((parts, row))
        return found

    def ending_like(self, name: str) -> int | None:
        """The row whose file has a name that ends with this one, or with which this one ends; SEVERAL; or None."""
        for given in dict.fromkeys((_parts(name), _parts(_without_prefix(name)))):
            near = [(parts, row) for parts, row in self._by_last.get(given[-1], ()) if _ends_alike(parts, given)]
            if near:
                longest = max(len(parts) for parts, _ in near)
                rows = {row for parts, row in near if len(parts) == longest or len(given) <= len(parts)}
                return rows.pop() if len(rows) == 1 else SEVERAL
        return None


@lru_cache(maxsize=_FEW)
def _names(records: Path) -> _Names:
    return _Names(records_at(records))


def _parts(name: str) -> tuple[str, ...]:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return tuple(part for part in parts if part not in ("/", ".")) or ("",)


def _without_prefix(name: str) -> str:
    path = PurePosixPath(name)
    return str(path.with_name(_UPLOADED.sub("", path.name) or path.name)) if path.name else name


def _ends_alike(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    least = min(len(one), len(other))
    return one[-least:] == other[-least:]
