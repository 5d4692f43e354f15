"""Sets of few_labels as embeddings, made once: benchmarks of labelling share them.

They are kept in the folder that SEEDBED_BENCH_CACHE names, else in one under the temporary directory.
"""

import os
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.few_labels import load_set
from seedbed.methods.label.embed import CARD, SIZE, embed

_SHARE = 0.8  # of the training images are there to choose from: other ones for each seed, so that seeds differ


@dataclass(frozen=True)
class Embedded:
    """One set: embeddings and class numbers to choose from and to test on."""

    name: str
    train: NDArray[np.float32]
    labels_train: NDArray[np.int64]
    test: NDArray[np.float32]
    labels_test: NDArray[np.int64]
    classes: int


def embedded(name: str, most: int = 10**6) -> Embedded:
    """A set with at most so many images on either side."""
    whole = _kept(name, most)
    labels_train, labels_test = whole["labels"], whole["labels_test"]
    classes = int(labels_train.max()) + 1
    return Embedded(name, whole["train"], labels_train, whole["test"], labels_test, classes)


def rows_for(data: Embedded, seed: int) -> NDArray[np.int64]:
    """The training images that somebody has: a random share of them."""
    mixed = np.random.default_rng([seed, len(data.labels_train)]).permutation(len(data.labels_train))
    return np.sort(mixed[: round(_SHARE * len(mixed))])


@lru_cache(maxsize=8)
def _kept(name: str, most: int) -> dict[str, NDArray[Any]]:
    folder = Path(os.environ.get("SEEDBED_BENCH_CACHE") or Path(tempfile.gettempdir()) / "seedbed-bench")
    path = folder / f"{name}-{CARD}-{SIZE}-{most}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}.npz")
        made: Any = _made(name, most)
        np.savez(draft, **made)
        draft.rename(path)
    with np.load(path) as kept:
        return dict(kept)


def _made(name: str, most: int) -> dict[str, NDArray[Any]]:
    data = load_set(name, SIZE)
    train, test = (_some(len(labels), most) for labels in (data.labels_train, data.labels_test))
    return {
        "train": embed(data.images_train[train]),
        "labels": data.labels_train[train],
        "test": embed(data.images_test[test]),
        "labels_test": data.labels_test[test],
    }


def _some(count: int, most: int) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng(0).permutation(count)[:most])
