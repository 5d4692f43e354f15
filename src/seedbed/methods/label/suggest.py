"""Suggestions while a person labels: a linear head that is fitted again in under a second, and the images most alike.

Embeddings may be memory-mapped and of half precision: they are read a piece at a time.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from seedbed.base.errors import InvalidInput

Embeddings = NDArray[np.floating]

STRENGTH = 100.0  # of the fit against the pull to 0, on embeddings with a deviation of 1 in all
_SEEN = 2048  # images that centre and scale are taken from
_MOST = 2000  # labels that a head is fitted on: more cost seconds and change little
_PIECE = 8192  # images that are looked at together


@dataclass(frozen=True)
class Suggester:
    """What the labels so far say of every other image: logistic regression on the embeddings.

    `known` are the classes that have a label; the others are never suggested.
    """

    classes: int
    known: NDArray[np.int64]
    weight: NDArray[np.float32]  # (known, dimensions)
    bias: NDArray[np.float32]

    @classmethod
    def fit(
        cls, embeddings: Embeddings, labels: NDArray[np.integer], classes: int, *, strength: float = STRENGTH
    ) -> Self:
        """A head from the labelled rows (label -1: none); all rows say where the middle is and how far they spread.

        `strength` is how closely it follows the labels: less where some of them may be wrong.
        """
        rows = _spread(np.asarray(labels))
        if not len(rows):
            raise InvalidInput("There is no label to learn from.", hint="Label an image first.")
        given = labels[rows].astype(np.int64)
        known = np.unique(given)
        if len(known) == 1:
            return cls(classes, known, np.zeros((1, embeddings.shape[1]), np.float32), np.zeros(1, np.float32))
        centre, scale = _middle(embeddings)
        weight, bias = _regress((_exact(embeddings[rows]) - centre) / scale, given, strength)
        weight /= scale
        return cls(classes, known, weight, bias - weight @ centre)

    def probabilities(self, embeddings: Embeddings) -> NDArray[np.float32]:
        """How likely each class is for each image: (images, classes)."""
        chances = np.zeros((len(embeddings), self.classes), dtype=np.float32)
        for piece in _pieces(len(embeddings)):
            logits = _exact(embeddings[piece]) @ self.weight.T + self.bias
            logits = np.exp(logits - logits.max(axis=1, keepdims=True))
            chances[piece, self.known] = logits / logits.sum(axis=1, keepdims=True)
        return chances


def by_neighbours(
    embeddings: Embeddings, labels: NDArray[np.integer], classes: int, query: Embeddings, *, count: int = 5
) -> NDArray[np.float32]:
    """How likely each class is for each queried image by the votes of the labelled images most like it.

    For the first few labels, and where the answer must show its reasons. A vote counts by how alike the image is.
    """
    rows, alike = nearest_labelled(embeddings, labels, query, count)
    chances = np.zeros((len(query), classes), dtype=np.float32)
    votes = np.exp((alike - alike.max(axis=1, keepdims=True)) * 10) if rows.size else alike
    for place in range(rows.shape[1]):
        np.add.at(chances, (np.arange(len(query)), labels[rows[:, place]]), votes[:, place])
    return np.asarray(chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-12))


def nearest_labelled(
    embeddings: Embeddings, labels: NDArray[np.integer], query: Embeddings, count: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """For each queried image the labelled rows most like it, the most alike first, and how alike they are."""
    rows = np.flatnonzero(labels >= 0)
    found, alike = _nearest(embeddings[rows], query, count)
    return rows[found], alike


def most_alike(
    embeddings: Embeddings, query_rows: NDArray[np.integer], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The rows most like any of the queried ones, which are not among them, and how alike they are."""
    best = np.empty(len(embeddings), dtype=np.float32)
    query = _exact(embeddings[query_rows])
    for piece in _pieces(len(embeddings)):
        best[piece] = (_exact(embeddings[piece]) @ query.T).max(axis=1)
    best[query_rows] = -np.inf
    rows = _first(-best, min(count, len(best) - len(np.unique(query_rows))))
    return rows, best[rows]


def _nearest(among: Embeddings, query: Embeddings, count: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    count = min(count, len(among))
    rows = np.zeros((len(query), count), dtype=np.int64)
    alike = np.zeros((len(query), count), dtype=np.float32)
    if not count:
        return rows, alike
    known = _exact(among)
    for piece in _pieces(len(query), 1024):
        similar = _exact(query[piece]) @ known.T
        part = np.argpartition(-similar, count - 1, axis=1)[:, :count]
        values = np.take_along_axis(similar, part, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        rows[piece] = np.take_along_axis(part, order, axis=1)
        alike[piece] = np.take_along_axis(values, order, axis=1)
    return rows, alike


def _first(values: NDArray[np.floating], count: int) -> NDArray[np.int64]:
    """The places of the smallest values, in order."""
    if count <= 0:
        return np.zeros(0, dtype=np.int64)
    part = np.argpartition(values, count - 1)[:count]
    return part[np.argsort(values[part], kind="stable")].astype(np.int64)


def _spread(labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """The labelled rows; where they are too many, as many of each class as there is room for."""
    rows = np.flatnonzero(labels >= 0)
    if len(rows) <= _MOST:
        return rows
    rows = np.random.default_rng(len(rows)).permutation(rows)
    turn = np.zeros(len(rows), dtype=np.int64)
    for kind in np.unique(labels[rows]):
        mine = labels[rows] == kind
        turn[mine] = np.arange(np.count_nonzero(mine))
    return np.sort(rows[np.argsort(turn, kind="stable")][:_MOST])


def _middle(embeddings: Embeddings) -> tuple[NDArray[np.float32], float]:
    """The mean of the images and how far they are from it."""
    seen = _exact(embeddings[:: max(1, len(embeddings) // _SEEN)])
    centre = seen.mean(axis=0)
    spread = float(np.sqrt(np.square(seen - centre).sum(axis=1).mean()))
    return centre, spread or 1.0


def _regress(
    points: NDArray[np.float32], labels: NDArray[np.int64], strength: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights and biases by class. Fewer points than dimensions: the fit lies in their span, and is found there."""
    basis = np.linalg.qr(points.T)[0] if len(points) < points.shape[1] else None
    seen = points if basis is None else points @ basis
    with (
        warnings.catch_warnings()
    ):  # of many classes with a label or two each, or of rounds that ran out: both are fine
        warnings.simplefilter("ignore", UserWarning)
        fitted = LogisticRegression(C=strength, tol=1e-3, max_iter=300).fit(seen, labels)
    weight, bias = fitted.coef_, fitted.intercept_
    if len(weight) == 1:  # two classes: scikit-learn gives the second one's logit alone
        weight, bias = np.concatenate([-weight / 2, weight / 2]), np.concatenate([-bias / 2, bias / 2])
    if basis is not None:
        weight = weight @ basis.T
    return weight.astype(np.float32), bias.astype(np.float32)


def _exact(embeddings: Embeddings) -> NDArray[np.float32]:
    return np.asarray(embeddings, dtype=np.float32)


def _pieces(length: int, piece: int = _PIECE) -> Iterator[slice]:
    return (slice(start, start + piece) for start in range(0, length, piece))
