"""Perceptual hashes: 64 bits that change little when an image is scaled, recompressed or brightened."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

_SIDE, _KEPT = 32, 8
_BANDS = 5  # two hashes that differ in at most 4 bits agree wholly in one of 5 bands


@lru_cache(maxsize=8)
def _low_frequencies(size: int) -> NDArray[np.float32]:
    """From `size` pixels to the 8 lowest frequencies above the constant, through cells of a 32nd of the side."""
    edges = np.linspace(0, size, _SIDE + 1)
    pixels = np.arange(size)
    shares = np.clip(np.minimum(pixels + 1, edges[1:, None]) - np.maximum(pixels, edges[:-1, None]), 0, 1)
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(dct(np.eye(_SIDE), axis=0, norm="ortho")[1 : _KEPT + 1] @ shares, dtype=np.float32)


def hashes_of(pixels: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The hashes of square pictures (N, size, size, 3)."""
    if not len(pixels):
        return np.zeros(0, np.uint64)
    grey = pixels @ np.asarray([0.299, 0.587, 0.114], np.float32)
    basis = _low_frequencies(pixels.shape[1])
    waves = (basis @ grey @ basis.T).reshape(len(pixels), -1)
    bits = waves > np.median(waves, axis=1, keepdims=True)
    return np.packbits(bits, axis=1).view(">u8")[:, 0].astype(np.uint64)


def near_pairs(hashes: NDArray[np.uint64], *, distance: int = 4) -> NDArray[np.int64]:
    """Pairs (M, 2) of indices whose hashes differ in at most `distance` (up to 4) bits.

    Equal hashes are chained, not paired all with all, so that many identical images cost little.
    """
    if len(hashes) < 2:
        return np.zeros((0, 2), np.int64)
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    chained = np.stack([order[same], order[same + 1]], axis=1)
    distinct, first = np.unique(hashes, return_index=True)
    found = [_pairs_in_band(distinct, band, distance) for band in range(_BANDS)]
    pairs = np.unique(np.concatenate(found), axis=0)
    return np.concatenate([chained, first[pairs]]).astype(np.int64)


def _pairs_in_band(hashes: NDArray[np.uint64], band: int, distance: int) -> NDArray[np.int64]:
    """Pairs that agree in one band of bits: neighbours in its order, then the next but one, until no more agree."""
    start, stop = 64 * band // _BANDS, 64 * (band + 1) // _BANDS
    part = (hashes >> np.uint64(start)) & np.uint64((1 << (stop - start)) - 1)
    order = np.argsort(part, kind="stable")
    part, sorted_hashes = part[order], hashes[order]
    found = [np.zeros((0, 2), np.int64)]
    left = np.arange(len(hashes) - 1)
    for step in range(1, len(hashes)):
        left = left[left + step < len(hashes)]
        left = left[part[left] == part[left + step]]
        if not len(left):
            break
        near = left[np.bitwise_count(sorted_hashes[left] ^ sorted_hashes[left + step]) <= distance]
        found.append(np.stack([order[near], order[near + step]], axis=1))
    return np.sort(np.concatenate(found), axis=1)


def groups_of(pairs: NDArray[np.int64], count: int) -> list[list[int]]:
    """Indices joined by pairs, directly or through others; each group has at least two."""
    if not len(pairs):
        return []
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    _, group = connected_components(graph, directed=False)
    members: dict[int, list[int]] = {}
    for index in np.unique(pairs):
        members.setdefault(int(group[index]), []).append(int(index))
    return sorted(members.values())
