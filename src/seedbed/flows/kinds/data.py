"""Kinds around images: data sets and their decoded caches."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.data.cache import DecodedCache
from seedbed.assets.data.records import ImageRecord, read_records
from seedbed.base.errors import Damaged, InvalidInput
from seedbed.base.registry import Registry
from seedbed.flows.kinds.kind import Kind

if TYPE_CHECKING:
    from seedbed.assets.data.folder import DataSetFolder

FOLDERS: Registry[type["DataSetFolder"]] = Registry(
    "folder", {"data-set": "seedbed.assets.data.folder:DataSetFolder"}
)  # scipy comes with it: a worker that opens no data set starts without
FACTS = "facts"  # the array of records, statistics and findings
RECORDS = "records.jsonl"
_DECODE_AGAIN = "Decode the data set again: it is made from the images, so nothing else is lost."


class DataSet(Kind):
    """Images as they came, a record of each, statistics and findings."""

    kind = "data-set"
    about = "images as they came, with records, statistics and findings"

    @cached_property
    def opened(self) -> "DataSetFolder":
        """The folder as `assets.data` knows it."""
        return FOLDERS.get("data-set").open(self.folder)

    @property
    def records(self) -> tuple[ImageRecord, ...]:
        """One per image."""
        return self.opened.records

    def files(self) -> dict[str, str]:
        """Image id to the name that people know it by."""
        return {record.id: record.file for record in self.records}

    def classes_by_image(self, labels: Mapping[str, str] | None = None) -> dict[str, str]:
        """Image id to class: as labels say, or as the source of the images said."""
        if labels is None:
            return {record.id: record.klass for record in self.records if record.klass}
        return by_id(self.records, labels)


class Decoded(Kind):
    """Every image of a data set as uint8 pixels at one size, memory-mapped, with the records of its rows."""

    kind = "decoded"
    about = "the images of a data set as pixels at one size"
    derived = True
    derived_from = "data"

    @classmethod
    def of(cls, folder: Path, size: int, count: int) -> Self:
        """Around a folder that has `decoded/` and the records."""
        return cls(folder, {"size": (size,), "count": (count,)})

    @cached_property
    def records(self) -> tuple[ImageRecord, ...]:
        """One per row."""
        return read_records(self.file(FACTS, RECORDS))

    @property
    def images(self) -> tuple[str, ...]:
        """The id of each row's image."""
        return tuple(record.id for record in self.records)

    @property
    def files(self) -> tuple[str, ...]:
        """The name of each row's image."""
        return tuple(record.file for record in self.records)

    @cached_property
    def pixels(self) -> NDArray[np.uint8]:
        """(images, size, size, 3), read from disk as it is used."""
        found = sorted((self.folder / "decoded").glob("*.npy"))
        if len(found) != 1:
            raise Damaged(f"The decoded images of '{self.name or self.folder.name}' are gone.", hint=_DECODE_AGAIN)
        pixels = DecodedCache.open(found[0]).pixels
        if len(pixels) != len(self.records):
            raise Damaged(
                f"'{self.name or self.folder.name}' has {len(pixels)} decoded images for {len(self.records)} records.",
                hint=_DECODE_AGAIN,
            )
        return pixels

    def classes_by_row(self, labels: Mapping[str, str] | None = None) -> dict[int, str]:
        """Row to class: as labels say, or as the source of the images said."""
        if labels is None:
            return {row: record.klass for row, record in enumerate(self.records) if record.klass}
        return self.numbered(labels)

    def numbered(self, labels: Mapping[str, str]) -> dict[int, str]:
        """Row to class; every image that is named must be here."""
        rows = {record.id: row for row, record in enumerate(self.records)}
        return {rows[image]: klass for image, klass in by_id(self.records, labels).items()}


def by_id(records: Sequence[ImageRecord], labels: Mapping[str, str]) -> dict[str, str]:
    """Labels by image id, from labels that name images by id or by any of their files; every mistake at once."""
    ids = {record.id for record in records}
    owners: dict[str, set[str]] = {}
    for record in records:
        for file in record.files:
            owners.setdefault(file, set()).add(record.id)
    found: dict[str, str] = {}
    unknown, doubtful = [], []
    for name, klass in labels.items():
        own = {name} if name in ids else owners.get(name, set())
        if not own:
            unknown.append(name)
        elif len(own) > 1 or found.setdefault(next(iter(own)), klass) != klass:
            doubtful.append(name)
    _refuse(
        unknown,
        ("is not in the data set", "are not in the data set"),
        "Check the file column, or bring the missing images in first.",
    )
    _refuse(
        doubtful,
        ("stands for several images, or has two classes", "stand for several images, or have two classes"),
        "Name images by their id, once each.",
    )
    return found


def _refuse(names: Sequence[str], why: tuple[str, str], hint: str) -> None:
    """`why` of one image, and of several."""
    if names:
        shown = ", ".join(sorted(names)[:5]) + (", ..." if len(names) > 5 else "")
        raise InvalidInput(f"{len(names)} of the labelled images {why[len(names) > 1]}: {shown}.", hint=hint)
