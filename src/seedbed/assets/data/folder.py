"""A data set as a folder: what ingest writes, and what a step finds when the bundle is checked out.

    images/<id>.<suffix>      the originals, byte for byte
    records.jsonl             one record per distinct image
    statistics.json           counts, sizes, colours
    findings.json             what a person should know
    decoded-<size>.npy        the decoded cache; row i is record i

In a checked-out bundle the files may lie one folder deeper, each array in its own.
"""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from PIL import Image

from seedbed.assets.data.cache import DecodedCache, build_cache, cache_name
from seedbed.assets.data.decode import Undecodable, decode
from seedbed.assets.data.findings import Finding
from seedbed.assets.data.records import ImageRecord, Statistics, read_records
from seedbed.base.errors import Damaged, NotFound
from seedbed.base.files import inside

RECORDS = "records.jsonl"
STATISTICS = "statistics.json"
FINDINGS = "findings.json"
IMAGES = "images"


@dataclass(frozen=True)
class DataSetFolder:
    """A data set on disk, read when asked."""

    root: Path
    also: tuple[Path, ...] = ()  # further folders that hold images or caches: earlier versions, derived bundles

    @classmethod
    def open(cls, root: Path, *, also: Sequence[Path] = ()) -> "DataSetFolder":
        """Open a data set's folder."""
        found = cls(root, tuple(also))
        found._find(RECORDS)
        return found

    @cached_property
    def records(self) -> tuple[ImageRecord, ...]:
        """Every image, in the order of the decoded cache's rows."""
        return read_records(self._find(RECORDS))

    @cached_property
    def statistics(self) -> Statistics:
        """What was counted."""
        return Statistics.from_json(json.loads(self._find(STATISTICS).read_text()))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What a person should know."""
        return tuple(Finding.from_json(value) for value in json.loads(self._find(FINDINGS).read_text()))

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, sorted."""
        return tuple(sorted({record.klass for record in self.records} - {""}))

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each image in the records and in the decoded cache."""
        return {record.id: row for row, record in enumerate(self.records)}

    def path(self, record: ImageRecord) -> Path:
        """The file of an image."""
        for folder in (self.root, *self.also):
            path = inside(folder / IMAGES, record.image)
            if path.is_file():
                return path
        raise NotFound(
            f"The file of '{record.file}' is not in this folder.",
            hint="Check the data set out whole, or bring the images in again if they are gone.",
        )

    def has_cache(self, size: int) -> bool:
        """Whether the decoded cache of that size is here."""
        return self._search(cache_name(size)) is not None

    def cache(self, size: int) -> DecodedCache:
        """The decoded cache of that size, which must be here."""
        cache = DecodedCache.open(self._find(cache_name(size)))
        if len(cache) != len(self.records):
            raise Damaged(f"{cache.path.name} has {len(cache)} rows for {len(self.records)} images; build it again.")
        return cache

    def build_cache(self, size: int, folder: Path) -> DecodedCache:
        """The decoded cache of that size: the one here, or one built into `folder` from the images."""
        if self.has_cache(size):
            return self.cache(size)
        return build_cache([self.path(record) for record in self.records], folder, size)

    def thumbnail(self, record: ImageRecord, *, size: int = 128) -> bytes:
        """An image as a small JPEG, in its own proportions."""
        try:
            picture = Image.fromarray(decode(self.path(record).read_bytes(), pixel_limit=None).pixels)
        except Undecodable as error:
            raise Damaged(f"'{record.file}' can no longer be decoded: {error.reason}.") from error
        picture.thumbnail((size, size))
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=85)
        return out.getvalue()

    def _search(self, name: str) -> Path | None:
        for folder in (self.root, *self.also):
            for path in (folder / name, *sorted(folder.glob(f"*/{name}"))):
                if path.is_file():
                    return path
        return None

    def _find(self, name: str) -> Path:
        path = self._search(name)
        if path is None:
            raise NotFound(f"There is no {name} in {self.root.name}.", hint="Is it the folder of a data set?")
        return path
