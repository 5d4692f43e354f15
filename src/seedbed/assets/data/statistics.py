"""Counting a data set."""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median_low

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.data.records import ImageRecord, Statistics


class ChannelSums:
    """Mean and deviation of each colour, summed a batch at a time in whole numbers: exact, in any order."""

    def __init__(self) -> None:
        self.count = 0
        self.sums = np.zeros(3, np.int64)
        self.squares = np.zeros(3, np.int64)

    def add(self, pictures: NDArray[np.uint8]) -> None:
        """Count pictures (N, size, size, 3)."""
        rows = pictures.reshape(-1, pictures.shape[2] * 3)  # whole rows of pixels, which numpy adds up fastest
        squares = np.square(rows, dtype=np.uint16)
        self.count += rows.shape[0] * pictures.shape[2]
        self.sums += rows.sum(axis=0, dtype=np.int64).reshape(-1, 3).sum(axis=0)
        self.squares += squares.sum(axis=0, dtype=np.int64).reshape(-1, 3).sum(axis=0)

    def merge(self, other: "ChannelSums") -> None:
        """Count what another has counted."""
        self.count += other.count
        self.sums += other.sums
        self.squares += other.squares

    def to_json(self) -> list[int]:
        """The sums as numbers."""
        return [self.count, *map(int, self.sums), *map(int, self.squares)]

    @classmethod
    def from_json(cls, value: Sequence[int]) -> "ChannelSums":
        """What `to_json` gave."""
        found = cls()
        found.count = value[0]
        found.sums += np.asarray(value[1:4], np.int64)
        found.squares += np.asarray(value[4:7], np.int64)
        return found

    def mean_and_std(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Per channel, 0..1."""
        if not self.count:
            return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        mean = self.sums / self.count
        std = np.sqrt(np.maximum(self.squares / self.count - mean**2, 0))
        return _three(mean / 255), _three(std / 255)


def statistics_of(records: Sequence[ImageRecord], sums: ChannelSums) -> Statistics:
    """Counts, sizes and colours of a data set."""
    mean, std = sums.mean_and_std()
    columns = {name for record in records for name in record.extra}
    return Statistics(
        images=len(records),
        bytes=sum(record.bytes for record in records),
        classes=_counted(record.klass for record in records if record.klass),
        unlabelled=sum(not record.klass for record in records),
        splits=_counted(record.split for record in records if record.split),
        formats=_counted(record.format for record in records),
        width=_range(record.width for record in records),
        height=_range(record.height for record in records),
        mean=mean,
        std=std,
        columns={name: len({record.extra.get(name, "") for record in records} - {""}) for name in sorted(columns)},
    )


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _range(values: Iterable[int]) -> tuple[int, int, int]:
    ordered = sorted(values)
    return (ordered[0], median_low(ordered), ordered[-1]) if ordered else (0, 0, 0)


def _three(values: NDArray[np.float64]) -> tuple[float, float, float]:
    red, green, blue = (round(float(value), 6) for value in values)
    return red, green, blue
