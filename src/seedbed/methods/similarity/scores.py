"""How well a network's features already tell the classes of a target apart: the higher, the better the start.

Each score takes the features of labelled images, (images, dimensions), and their labels (-1: no label, left out), and
needs no training. All are the same for features times a number. A data set that cannot be scored gets a sentence.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput
from seedbed.methods.label.neighbours import nearest

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]
_Exact = NDArray[np.float64]

_SMALLEST = 1e-12  # of the largest squared singular value: what lies below is rounding
_ROUNDING = 1e-28  # squared, of entries that are at most 1: features that are all the same have no axis
_TINY = np.finfo(np.float64).tiny
_LEAST_NOISE = 1e-6  # variance of a 0-or-1 label that a fit leaves at least: else a perfect fit has endless evidence
_STRENGTHS = np.logspace(-12, 9, 43)  # prior strength against noise, in units of the largest squared singular value
_GOLDEN = (5**0.5 - 1) / 2
_ROUNDS = 30  # of golden section inside one step of that grid: to a millionth of its logarithm
_RIDGES = np.logspace(-6, 1, 8)  # pulls to 0 that a probe may take, in the same units
_MOST = 4000  # images that neighbours are looked for among: more cost seconds and change little


class _Sample(NamedTuple):
    rows: _Exact  # largest entry 1, so that no power of it overflows
    labels: NDArray[np.int64]  # 0 to classes - 1
    counts: NDArray[np.int64]

    @property
    def one_hot(self) -> _Exact:
        return np.eye(len(self.counts))[self.labels]

    @property
    def centred(self) -> _Exact:
        return np.asarray(self.rows - self.rows.mean(axis=0))


class _Spectrum(NamedTuple):
    """Left singular vectors and squared singular values of some rows, those that are rounding left out."""

    vectors: _Exact  # (rows, rank)
    squares: _Exact  # (rank,)


class _Models(NamedTuple):
    """One Bayesian linear model per class, turned to the axes in which its evidence is a sum."""

    squares: _Exact  # (rank,) squared singular values of the features
    explained: _Exact  # (rank, classes) squared length of a class's labels along each axis
    beyond: _Exact  # (classes,) and along no axis
    images: int

    @classmethod
    def of(cls, sample: _Sample) -> "_Models":
        spectrum = _spectrum(sample.rows)
        explained = np.square(spectrum.vectors.T @ sample.one_hot)
        beyond = np.maximum(sample.counts - explained.sum(axis=0), 0.0)
        return cls(spectrum.squares, explained, beyond, len(sample.rows))

    def evidence(self, log_strength: _Exact) -> _Exact:
        """The log evidence by image of each class's model at its own log t, with the noise that suits it best."""
        strength = np.exp(log_strength)
        left = strength / (self.squares[:, None] + strength)  # along each axis: what the prior leaves unexplained
        misfit = self.beyond + (self.explained * left).sum(axis=0)
        noise = np.maximum(misfit / self.images, _LEAST_NOISE)
        room = np.log1p(self.squares[:, None] / strength).sum(axis=0)
        return np.asarray(-0.5 * (np.log(2 * np.pi * noise) + (misfit / noise + room) / self.images))


def transfer_scores(features: Floats, labels: Integers, *, seed: int = 0) -> dict[str, float]:
    """Every score by its name, in less time than one by one: two of them share the axes of the features."""
    sample = _checked(features, labels)
    spectrum = _spectrum(sample.centred)
    return {
        "log-evidence": log_evidence(features, labels),
        "h-score": _h_score(sample, spectrum),
        "knn": knn_accuracy(features, labels, seed=seed),
        "probe": _probe_accuracy(sample, spectrum),
        "centres": centre_accuracy(features, labels),
    }


def log_evidence(features: Floats, labels: Integers) -> float:
    """LogME (You et al., ICML 2021): the log evidence of a Bayesian linear model, by image, mean over the classes.

    One model per class predicts 1 for its images and 0 for the others: weights N(0, 1 / alpha), noise N(0, 1 / beta).
    With t = alpha / beta the best beta has a closed form, so the largest evidence is found along t alone: on a grid,
    then by golden section around its best point. Noise of less than 1e-6 is not believed.
    """
    sample = _checked(features, labels)
    models = _Models.of(sample)
    grid = np.log(_STRENGTHS * models.squares.max(initial=0.0) + _TINY)
    found = np.array([models.evidence(np.full(models.beyond.shape, place)) for place in grid])
    best, step = grid[found.argmax(axis=0)], grid[1] - grid[0]
    low, high = best - step, best + step
    for _ in range(_ROUNDS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        rises = models.evidence(left) < models.evidence(right)
        low, high = np.where(rises, left, low), np.where(rises, high, right)
    return float(np.maximum(models.evidence((low + high) / 2), found.max(axis=0)).mean())


def h_score(features: Floats, labels: Integers) -> float:
    """H-score with shrinkage (Bao et al., ICIP 2019; Ibrahim et al., ECML 2022): spread between classes against all.

    The trace of inv(cov(f)) cov(mean of f in its class), where cov(f) is drawn to a multiple of the identity by as much
    as Ledoit and Wolf advise (s) and the other is taken 1 - s times. From 0 to one less than the number of classes.
    """
    sample = _checked(features, labels)
    return _h_score(sample, _spectrum(sample.centred))


def knn_accuracy(features: Floats, labels: Integers, k: int = 5, seed: int = 0) -> float:
    """How often the `k` other images most alike (cosine) name an image's class by majority.

    Of equal votes the class whose images are more alike wins. Of many images a sample is looked at. The only image of
    its class is never named.
    """
    if k < 1:
        raise InvalidInput(f"k is {k}; it must be 1 or more neighbours.")
    sample = _checked(features, labels)
    kept = np.sort(np.random.default_rng(seed).permutation(len(sample.rows))[:_MOST])
    rows, truth = sample.rows[kept], sample.labels[kept]
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    found = nearest(unit, k)
    votes = np.zeros((len(unit), len(sample.counts)))
    for others in found.T:
        alike = np.einsum("ij,ij->i", unit, unit[others])
        np.add.at(votes, (np.arange(len(unit)), truth[others]), 1 + alike / (4 * k))  # decides between equal votes only
    return float((votes.argmax(axis=1) == truth).mean())


def probe_accuracy(features: Floats, labels: Integers) -> float:
    """How often a linear probe that has not seen an image names its class: ridge regression, leave-one-out.

    The answers without each image follow in closed form from those with all (Golub, Heath and Wahba, 1979). Of eight
    strengths the one with the smallest such error counts.
    """
    sample = _checked(features, labels)
    return _probe_accuracy(sample, _spectrum(sample.centred))


def centre_accuracy(features: Floats, labels: Integers) -> float:
    """How often the nearest class centre is an image's own, that image left out of its centre.

    The only image of its class has no centre to go to, and counts as missed.
    """
    sample = _checked(features, labels)
    rows = sample.centred
    centres = sample.one_hot.T @ rows / sample.counts[:, None]
    squared = np.square(rows).sum(axis=1)[:, None] - 2 * rows @ centres.T + np.square(centres).sum(axis=1)
    size = sample.counts[sample.labels].astype(np.float64)
    further = np.divide(size, size - 1, out=np.zeros_like(size), where=size > 1)  # from a centre without the image
    own = np.square(rows - centres[sample.labels]).sum(axis=1) * np.square(further)
    squared[np.arange(len(rows)), sample.labels] = np.inf
    return float(((own < squared.min(axis=1)) & (size > 1)).mean())


def _h_score(sample: _Sample, spectrum: _Spectrum) -> float:
    if not len(spectrum.squares):  # features that are all the same
        return 0.0
    count, width = sample.rows.shape
    spreads = spectrum.squares / count
    shrinkage = _ledoit_wolf(sample.centred, spreads)
    sums = sample.one_hot.T @ (spectrum.vectors * np.sqrt(spectrum.squares))  # of each class, along the axes
    between = np.square(sums / np.sqrt(sample.counts)[:, None]).sum(axis=0) / count
    shrunk = (1 - shrinkage) * spreads + shrinkage * spreads.sum() / width
    return float((1 - shrinkage) * (between / shrunk).sum())


def _probe_accuracy(sample: _Sample, spectrum: _Spectrum) -> float:
    truth, mean = sample.one_hot, sample.counts / len(sample.labels)
    along, weight = spectrum.vectors.T @ truth, np.square(spectrum.vectors)
    best, accuracy = np.inf, 0.0
    for ridge in _RIDGES * max(spectrum.squares.max(initial=0.0), _TINY):
        kept = spectrum.squares / (spectrum.squares + ridge)
        said = mean + spectrum.vectors @ (kept[:, None] * along)
        own = 1 / len(truth) + weight @ kept  # how much an image says of itself
        wrong = (truth - said) / np.maximum(1 - own, 1e-9)[:, None]
        error = float(np.square(wrong).mean())
        if error < best:
            best, accuracy = error, float(((truth - wrong).argmax(axis=1) == sample.labels).mean())
    return accuracy


def _ledoit_wolf(rows: _Exact, spreads: _Exact) -> float:
    """How far a covariance is drawn to a multiple of the identity (Ledoit and Wolf, 2004), from centred rows."""
    count, width = rows.shape
    squared = float(np.square(spreads).sum())
    off = squared - float(spreads.sum()) ** 2 / width
    unsure = (float(np.square(np.square(rows).sum(axis=1)).mean()) - squared) / count
    return min(max(unsure, 0.0) / off, 1.0) if off > _SMALLEST * squared else 1.0 if width > 1 else 0.0


def _spectrum(rows: _Exact) -> _Spectrum:
    """By the eigenvectors of the smaller Gram matrix: several times faster than a singular value decomposition."""
    wide = rows.shape[1] > rows.shape[0]
    squares, vectors = np.linalg.eigh(rows @ rows.T if wide else rows.T @ rows)
    real = squares > max(_SMALLEST * squares.max(initial=0.0), _ROUNDING * rows.size)
    squares, vectors = squares[real], vectors[:, real]
    return _Spectrum(vectors if wide else rows @ vectors / np.sqrt(squares), squares)


def _checked(features: Floats, labels: Integers) -> _Sample:
    """The labelled rows, or a sentence that says what is wrong with them."""
    given = np.asarray(labels)
    if features.ndim != 2 or given.shape != features.shape[:1] or not features.shape[1]:
        raise InvalidInput(
            f"features has shape {features.shape} and labels {given.shape}; expected (images, dimensions), (images,)."
        )
    rows, given = np.asarray(features[given >= 0], dtype=np.float64), given[given >= 0]
    broken = int(np.count_nonzero(~np.isfinite(rows).all(axis=1)))
    if broken:
        raise InvalidInput(
            f"The features of {broken} of {len(rows)} images hold values that are not finite numbers.",
            hint="Check that these images can be read and that the weights are not damaged.",
        )
    known, numbers, counts = np.unique(given, return_inverse=True, return_counts=True)
    if len(known) < 2:
        raise InvalidInput(
            f"The labels name {len(known)} class{'' if len(known) == 1 else 'es'}; "
            "how well classes are told apart needs 2 or more.",
            hint="Label some images of another class.",
        )
    largest = float(np.abs(rows).max())
    return _Sample(rows / largest if largest else rows, numbers.astype(np.int64), counts.astype(np.int64))
