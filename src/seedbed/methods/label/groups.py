"""Groups of images that look alike: spherical k-means on embeddings, and how typical each image is of its group.

Embeddings are prepared for it: what they have in common is taken away, and each moves towards its nearest neighbours.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.cluster import kmeans_plusplus
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score

from seedbed.base.errors import InvalidInput
from seedbed.methods.label.neighbours import Rows, nearest, nearest_among

NEIGHBOURS = 20  # nearest images of its group that typicality is the closeness to, as in TypiClust
_DIRECTIONS, _ROWS_EACH = 128, 8  # in which images differ most, the others are mostly noise; rows that each needs
_EVENED = 0.75  # how far directions are brought to one spread: 0 leaves them, 1 makes all alike
_FOR_DIRECTIONS, _FOR_CENTRES, _FOR_CLOSENESS = 5000, 10_000, 4000  # rows that are enough to find them
_SETTLING, _MOVES = 10, 5  # neighbours that a row moves towards, and how often
_TRIES, _ROUNDS = 10, 100
_SETTLED = 1e-5  # mean gain in cosine of a round under which k-means has settled
_NUMBERS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 26, 34, 45, 60, 80, 105, 140)  # of groups, when they are estimated
_FOR_NUMBER, _TRIES_FOR_NUMBER, _LEAST_EACH = 1500, 2, 10  # rows for it, tries, images that a group has on average
_NEARLY = 0.97  # share of the best silhouette: beyond it fewer groups are better than clearer ones
_TINY = 1e-9


@dataclass(frozen=True)
class Grouping:
    """Which group each image is in; group 0 is the largest.

    `centres` has a row of length 1 per group: the direction of the mean of its embeddings. `typicality` is higher the
    closer an image lies to others of its group: the inverse of the mean distance to the 20 nearest (TypiClust); an
    image that is alone in its group has 0. Every group has at least one image.
    """

    groups: NDArray[np.int32]
    centres: Rows
    typicality: Rows

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.centres)


def group(embeddings: Rows, count: int | None = None, *, seed: int = 0) -> Grouping:
    """Put embeddings into `count` groups of alike images, or into an estimated number of groups.

    There are never more groups than distinct rows. The same embeddings and seed give the same groups.
    """
    check_embeddings(embeddings, count)
    rows = settle(spread(embeddings, seed), seed)
    wanted = count if count is not None else estimate(rows, seed)
    return describe(embeddings, kmeans(rows, wanted, seed), seed=seed)


def check_embeddings(embeddings: Rows, count: int | None) -> None:
    """Refuse what cannot be grouped."""
    if embeddings.ndim != 2 or not len(embeddings) or not np.issubdtype(embeddings.dtype, np.floating):
        raise InvalidInput(
            f"embeddings has shape {embeddings.shape} of {embeddings.dtype}; expected (images, width) of floats.",
            hint="Pass what embed gave, for at least one image.",
        )
    if not np.isfinite(embeddings).all():
        raise InvalidInput("embeddings has values that are not finite; such images cannot be grouped.")
    if count is not None and count < 1:
        raise InvalidInput(
            f"count is {count}; there must be at least 1 group.", hint="Leave it out to have it estimated."
        )


def spread(embeddings: Rows, seed: int = 0, *, evened: float = _EVENED) -> Rows:
    """Embeddings around their mean, in the directions in which they differ most, as rows of length 1.

    A network's embeddings of one kind of images all point much the same way; what tells them apart is what is left
    without the mean. The first few directions hold light and ground rather than what is shown, so their share is
    brought down.
    """
    rows = np.asarray(embeddings, dtype=np.float32)
    sample = rows[_some(len(rows), _FOR_DIRECTIONS, seed)]
    kept = min(_DIRECTIONS, max(2, len(sample) // _ROWS_EACH), *sample.shape)
    if not np.ptp(sample, axis=0).any():
        return np.zeros((len(rows), kept), dtype=np.float32)
    found = PCA(kept, svd_solver="randomized", random_state=_state(seed)).fit(sample)
    scale = np.maximum(found.explained_variance_, _TINY) ** (evened / 2)
    axes = found.components_.T / scale
    return unit(rows @ axes - found.mean_ @ axes)


def settle(rows: Rows, seed: int = 0) -> Rows:
    """Rows of length 1 moved towards their nearest neighbours, several times: neighbours belong together.

    What an image shares with its neighbours stays, what is its own (pose, light, chance) goes. Where there are very
    many rows, some of them settle among themselves, and each of the others is where its neighbours among those are.
    """
    held = _some(len(rows), _FOR_CENTRES, seed)
    among = rows[held]
    near = nearest(among, _SETTLING)
    settled = among
    for _ in range(_MOVES):
        settled = unit(settled + settled[near].sum(axis=1))
    if len(held) == len(rows):
        return settled
    found = unit(settled[nearest_among(rows, among, _SETTLING)].sum(axis=1))
    found[held] = settled
    return found


def unit(rows: Rows) -> Rows:
    """Rows of length 1; what has no length keeps none."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, _TINY), dtype=np.float32)


def kmeans(rows: Rows, count: int, seed: int, *, tries: int = _TRIES) -> NDArray[np.int64]:
    """The group of each row of length 1: the best of several spherical k-means by the sum of cosines."""
    sample = rows[_some(len(rows), _FOR_CENTRES, seed)]
    fewer = min(count, len(sample))
    starts = [kmeans_plusplus(sample, fewer, random_state=_state(seed, number))[0] for number in range(tries)]
    centres, _ = max((_climb(sample, start) for start in starts), key=lambda found: found[1])
    return np.asarray((rows @ centres.T).argmax(axis=1))


def estimate(rows: Rows, seed: int) -> int:
    """How many groups there seem to be: the fewest that are nearly as clear as any, by the silhouettes of a sample."""
    sample = rows[_some(len(rows), _FOR_NUMBER, seed)]
    apart = np.clip(1 - sample @ sample.T, 0, None)
    np.fill_diagonal(apart, 0)
    clear = {1: 0.0}
    for count in (number for number in _NUMBERS if number <= len(sample) // _LEAST_EACH):
        groups = kmeans(sample, count, seed, tries=_TRIES_FOR_NUMBER)
        if len(np.unique(groups)) > 1:
            clear[count] = float(silhouette_score(apart, groups, metric="precomputed"))
    return min(count for count, silhouette in clear.items() if silhouette >= _NEARLY * max(clear.values()))


def _climb(rows: Rows, centres: Rows) -> tuple[Rows, float]:
    """Lloyd's rounds until hardly anything changes; the centres and the sum of cosines."""
    reached = -np.inf
    for _ in range(_ROUNDS):
        cosines = rows @ centres.T
        groups = cosines.argmax(axis=1)
        before, reached = reached, float(cosines[np.arange(len(rows)), groups].sum())
        if reached - before <= _SETTLED * len(rows):
            break
        sums = _sums(rows, groups, len(centres))
        used = np.linalg.norm(sums, axis=1, keepdims=True) > _TINY
        centres = np.where(used, unit(sums), centres)
    return centres, reached


def _sums(rows: Rows, groups: NDArray[np.integer], count: int) -> Rows:
    """The sum of each group's rows."""
    members = csr_array((np.ones(len(rows), np.float32), (groups, np.arange(len(rows)))), shape=(count, len(rows)))
    return np.asarray(members @ rows)


def describe(embeddings: Rows, groups: NDArray[np.integer], *, seed: int = 0) -> Grouping:
    """The grouping that puts each image into that group: largest first, empty ones left out."""
    sizes = np.bincount(groups)
    ranked = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    places = np.full(len(sizes), -1)
    places[ranked] = np.arange(len(ranked))
    ordered = places[groups].astype(np.int32)
    full = np.asarray(embeddings, dtype=np.float32)
    closeness = typicality(spread(full, seed, evened=0.0), ordered, seed)
    return Grouping(ordered, unit(_sums(full, ordered, len(ranked))), closeness)


def typicality(rows: Rows, groups: NDArray[np.integer], seed: int = 0) -> Rows:
    """How close each image lies to the others of its group: 1 / mean distance to the nearest ones."""
    found = np.zeros(len(rows), dtype=np.float32)
    for number in np.unique(groups):
        members = np.flatnonzero(groups == number)
        others = members[_some(len(members), _FOR_CLOSENESS, seed)]
        for start in range(0, len(members), 1024):
            part = members[start : start + 1024]
            found[part] = _closeness(rows, part, others)
    return found


def _closeness(rows: Rows, part: NDArray[np.int64], others: NDArray[np.int64]) -> Rows:
    if len(others) < 2:
        return np.zeros(len(part), dtype=np.float32)
    squares = np.clip(2 - 2 * rows[part] @ rows[others].T, 0, None)
    squares[part[:, None] == others[None]] = np.inf  # an image is no neighbour of itself
    near = min(NEIGHBOURS, len(others) - 1)
    nearest = np.partition(squares, near - 1, axis=1)[:, :near]
    return np.asarray(1 / np.maximum(np.sqrt(nearest).mean(axis=1), 1e-6), dtype=np.float32)


def _state(seed: int, number: int = 0) -> int:
    """A seed as scikit-learn wants it."""
    return int(np.random.default_rng([seed, number]).integers(2**31))


def _some(count: int, most: int, seed: int) -> NDArray[np.int64]:
    """All numbers below `count`, or `most` of them at random, in order."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng([seed, count]).choice(count, most, replace=False))
