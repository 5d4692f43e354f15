"""What a person should know of the images before trusting a model trained on them, in sentences."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.data.phash import groups_of, near_pairs
from seedbed.assets.data.records import ImageRecord

TINY = 32  # pixels of the shorter side
IMBALANCE = 5  # times as many images in the largest class as in the smallest
_ALIKE = 12.0  # largest mean difference of two near duplicates' thumbnails, in grey levels
_THUMBNAIL = 16


class Severity(StrEnum):
    """How much a finding matters."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """One thing found: a code for programs, a sentence for people, the files it is about, grouped as they belong."""

    code: str
    severity: Severity
    sentence: str
    groups: tuple[tuple[str, ...], ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """Every file it is about."""
        return tuple(file for group in self.groups for file in group)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        groups = [list(group) for group in self.groups]
        return {"code": self.code, "severity": self.severity.value, "sentence": self.sentence, "groups": groups}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Finding":
        """What `to_json` wrote."""
        groups = tuple(tuple(group) for group in value["groups"])
        return cls(value["code"], Severity(value["severity"]), value["sentence"], groups)


def findings_about(
    records: Sequence[ImageRecord], pixels: NDArray[np.uint8], leaked: Sequence[tuple[str, ...]] = ()
) -> list[Finding]:
    """All that the kept images show: duplicates, leaks, tiny images, imbalance. Row i of `pixels` is record i.

    `leaked` are groups of files with the same bytes that came from both parts.
    """
    near = near_duplicates(records, pixels)
    side = {record.id: record.split for record in records}
    found = [
        exact_duplicates(records),
        _near_finding(records, near),
        leaks(records, side, near, leaked),
        tiny_images(records),
        imbalance(records),
    ]
    return [finding for finding in found if finding]


def files_left_out(code: str, severity: Severity, one: str, many: str, files: Iterable[str]) -> Finding | None:
    """A finding about single files, with the first names in its sentence; `many` has a place for the number."""
    names = sorted(files)
    if not names:
        return None
    start = one if len(names) == 1 else many.format(n=f"{len(names):,}")
    return Finding(code, severity, f"{start}: {_some(names)}.", tuple((name,) for name in names))


def exact_duplicates(records: Sequence[ImageRecord]) -> Finding | None:
    """Files with the very same bytes: they were kept once."""
    groups = tuple(record.files for record in records if record.also)
    if not groups:
        return None
    spare = sum(len(group) - 1 for group in groups)
    what = "1 file is a copy of another" if spare == 1 else f"{spare:,} files are copies of others"
    sentence = f"{what}, byte for byte; such images are kept once: {_some_groups(groups)}."
    return Finding("exact-duplicates", Severity.WARNING, sentence, groups)


def near_duplicates(records: Sequence[ImageRecord], pixels: NDArray[np.uint8]) -> list[list[int]]:
    """Groups of records that look the same: near in perceptual hash, and confirmed by their thumbnails."""
    hashes = np.asarray([int(record.phash, 16) for record in records], np.uint64)
    pairs = near_pairs(hashes)
    if not len(pairs):
        return []
    involved = np.unique(pairs)
    small = _thumbnails(pixels, involved)
    places = np.searchsorted(involved, pairs)
    apart = np.abs(small[places[:, 0]] - small[places[:, 1]]).mean(axis=1)
    return groups_of(pairs[apart <= _ALIKE], len(records))


def leaks(
    records: Sequence[ImageRecord],
    side: Mapping[str, str],
    near: Sequence[Sequence[int]],
    same: Sequence[tuple[str, ...]] = (),
) -> Finding | None:
    """Images that are in the training and in the test part, the same or nearly.

    `side` gives each id its part; `near` are the groups of `near_duplicates`, `same` files of equal bytes in both.
    """
    groups = dict.fromkeys(same)
    for members in near:
        parts = {side.get(records[index].id, "") for index in members}
        if {"train", "test"} <= parts:
            groups[tuple(records[index].file for index in members)] = None
    if not groups:
        return None
    sentence = (
        f"{_count(len(groups), 'image is', 'images are')} in both the training and the test part, so a test would "
        f"flatter the model: {_some_groups(list(groups))}."
    )
    return Finding("train-test-leak", Severity.ERROR, sentence, tuple(groups))


def tiny_images(records: Sequence[ImageRecord]) -> Finding | None:
    """Images too small to show much."""
    names = [record.file for record in records if min(record.width, record.height) < TINY]
    return files_left_out(
        "tiny-images",
        Severity.WARNING,
        f"1 image is smaller than {TINY} pixels on a side",
        f"{{n}} images are smaller than {TINY} pixels on a side",
        names,
    )


def imbalance(records: Sequence[ImageRecord]) -> Finding | None:
    """Classes of very different size."""
    counts = Counter(record.klass for record in records if record.klass)
    if len(counts) < 2:
        return None
    (large, most), (small, least) = counts.most_common()[0], counts.most_common()[-1]
    if most < IMBALANCE * least:
        return None
    sentence = (
        f"Class '{large}' has {most:,} images but '{small}' only {least:,}: a model will favour '{large}'. "
        f"Add images of '{small}', or judge the model by its balanced accuracy."
    )
    return Finding("class-imbalance", Severity.WARNING, sentence)


def conflicting_classes(groups: Sequence[tuple[str, ...]]) -> Finding | None:
    """The same bytes under two classes: which is right is for a person to say."""
    if not groups:
        return None
    what = _count(len(groups), "image lies", "images lie")
    sentence = f"{what} under two classes and was left unlabelled: {_some_groups(groups)}."
    return Finding("conflicting-classes", Severity.ERROR, sentence, tuple(groups))


def _near_finding(records: Sequence[ImageRecord], near: Sequence[Sequence[int]]) -> Finding | None:
    if not near:
        return None
    groups = tuple(tuple(records[index].file for index in members) for members in near)
    what = _count(sum(map(len, groups)), "image", "images")
    sentence = (
        f"{what} look nearly the same as another (in {_count(len(groups), 'group', 'groups')}): {_some_groups(groups)}."
    )
    return Finding("near-duplicates", Severity.WARNING, sentence, groups)


def _thumbnails(pixels: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Means of square cells, about 16 to a side; whole rows of pixels are added first, which numpy does fastest."""
    step = max(1, pixels.shape[1] // _THUMBNAIL)
    cells = pixels.shape[1] // step
    small = np.empty((len(rows), cells, cells, 3), np.float32)
    for place, row in enumerate(rows):
        bands = pixels[row][: cells * step, : cells * step].reshape(cells, step, -1).sum(axis=1, dtype=np.uint32)
        small[place] = bands.reshape(cells, cells, step, 3).sum(axis=2)
    return np.asarray(small.reshape(len(rows), -1) / (step * step), dtype=np.float32)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _some(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _some_groups(groups: Sequence[Sequence[str]], most: int = 3) -> str:
    more = f"; and {len(groups) - most:,} more" if len(groups) > most else ""
    return "; ".join(" = ".join(group[:4]) for group in groups[:most]) + more
