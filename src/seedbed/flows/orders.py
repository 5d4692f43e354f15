"""In which order images are shown: pure functions from groups and labels to rows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


def shuffled(count: int, seed: int) -> Rows:
    """All rows at random; the same seed gives the same order."""
    return np.random.default_rng(seed).permutation(count)


def by_groups(groups: NDArray[np.int32], typicality: NDArray[np.float32]) -> Rows:
    """Group by group, in each the most typical first."""
    return np.lexsort((-typicality, groups))


def in_turns(groups: NDArray[np.int32], typicality: NDArray[np.float32]) -> Rows:
    """The most typical of every group, then the second of every group, and so on: a little of everything first."""
    whole = by_groups(groups, typicality)
    sizes = np.bincount(groups)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    rank = np.arange(len(groups)) - starts[groups[whole]]
    return whole[np.argsort(rank, kind="stable")]


def first(head: NDArray[np.integer], whole: Rows) -> Rows:
    """Those of the head, and then the others in their order."""
    taken = np.zeros(len(whole), dtype=bool)
    taken[head] = True
    return np.concatenate([head.astype(np.int64), whole[~taken[whole]]])


def later(whole: Rows, turn: NDArray[np.integer]) -> Rows:
    """Put off by row: those with the lower `turn` first, otherwise in their order."""
    return whole[np.argsort(turn[whole], kind="stable")]


def turns_of(standing: NDArray[np.int32]) -> NDArray[np.int8]:
    """What has no label yet comes first, then what was marked, then what is labelled."""
    return np.select([standing == -1, standing < -1], [0, 1], 2).astype(np.int8)


def names_of_groups(groups: NDArray[np.int32], standing: NDArray[np.int32], names: Sequence[str]) -> list[str]:
    """What each group is called: after the class that most of its labelled images have, where there is one."""
    count = int(groups.max(initial=-1)) + 1
    labelled = standing >= 0
    table = np.zeros((count, len(names)), dtype=np.int64)
    np.add.at(table, (groups[labelled], standing[labelled]), 1)
    called = []
    for number in range(count):
        of_class = table[number]
        mostly = bool(len(names)) and 2 * of_class.max() > of_class.sum() > 0
        called.append(f"Group {number + 1}" + (f": mostly {names[int(of_class.argmax())]}" if mostly else ""))
    return called
