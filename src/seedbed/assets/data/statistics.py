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
        self._pixels = 0
        self._sum = np.zeros(3, np.int64)
        self._squares = np.zeros(3, np.int64)

    def add(self, pictures: NDArray[np.uint8]) -> None:
        """Count pictures (N, size, size, 3)."""
        for picture in pictures:
            counts = np.stack([np.bincount(picture[..., colour].ravel(), minlength=256) for colour in range(3)])
            values = np.arange(256, dtype=np.int64)
            self._sum += counts @ values
            self._squares += counts @ values**2
            self._pixels += picture.shape[0] * picture.shape[1]

    def mean_and_std(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Per channel, 0..1."""
        if not self._pixels:
            return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        mean = self._sum / self._pixels
        std = np.sqrt(np.maximum(self._squares / self._pixels - mean**2, 0))
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
