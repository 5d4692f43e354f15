"""A crop-leaf data set drawn by our own code: for the demo, the tests and the benchmarks.

Six conditions of one crop's leaves under field variation (ground, pose, outline, light, colour cast, occlusion, blur,
noise), so that pixels alone tell little: 1-nearest-neighbour on 8 x 8 thumbnails stays under 60 %.
"""

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from seedbed.assets.data import leaves
from seedbed.base.errors import InvalidInput
from seedbed.base.files import write_atomically

CLASSES = leaves.CLASSES
_BATCH = 48  # pictures painted at once; part of what a seed means, so it stays


def draw_leaves(
    count_per_class: int, *, seed: int, size: int = 96
) -> tuple[NDArray[np.uint8], NDArray[np.int64], tuple[str, ...]]:
    """Pictures (N, size, size, 3), their labels and the names of the classes; classes take turns.

    The same seed and size give the same pictures, and a larger count adds to the end of a smaller one's.
    """
    if count_per_class < 1 or size < 16:
        raise InvalidInput(f"Leaves need at least 1 picture per class and 16 px; got {count_per_class} and {size}.")
    labels = np.tile(np.arange(len(CLASSES)), count_per_class)
    padded = np.arange(-(-len(labels) // _BATCH) * _BATCH) % len(CLASSES)
    pictures = np.empty((len(labels), size, size, 3), np.uint8)
    for start in range(0, len(labels), _BATCH):
        rng = np.random.default_rng([seed, start // _BATCH])
        batch = leaves.paint(padded[start : start + _BATCH], size, rng)
        pictures[start : start + _BATCH] = batch[: len(labels) - start]
    return pictures, labels, CLASSES


def write_leaves(folder: Path, count_per_class: int, *, seed: int, size: int = 96, by_class: bool = False) -> Path:
    """Write the leaves as JPEG files of varying quality, and return the CSV of the hidden truth (file, class).

    The files lie flat in `folder`, in shuffled order under neutral names, or in a folder per class; the CSV lies
    beside `folder` (named after it), so that the folder holds images only.
    """
    pictures, labels, names = draw_leaves(count_per_class, seed=seed, size=size)
    rng = np.random.default_rng([seed, len(labels)])
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, index in enumerate(rng.permutation(len(labels))):
        name, klass = f"leaf-{number:05d}.jpg", names[labels[index]]
        place = folder / klass / name if by_class else folder / name
        place.parent.mkdir(exist_ok=True)
        Image.fromarray(pictures[index]).save(place, quality=int(rng.integers(70, 96)))
        rows.append((place.relative_to(folder).as_posix(), klass))
    truth = folder.parent / f"{folder.name}-truth.csv"
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("file", "class"), *rows])
    write_atomically(truth, text.getvalue().encode())
    return truth
