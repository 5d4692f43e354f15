"""How many epochs a start is expected to take against the baseline's, learned from every start that was measured.

A Bayesian linear regression of log(epoch ratio) on a few things that a person can read: how near the data sets are (log
of the OTDD ratio), how much better the source's features score on the target, and how many images there are. Before any
outcome it says what its prior says: epoch ratio = sqrt(OTDD ratio), within wide limits. Outcomes draw it from there.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.evidence import Evidence, Outcome
from seedbed.methods.similarity.words import how_near

LEVEL = 0.8  # of the outcomes that the limits are to hold

_IMAGENET = "ImageNet"
_PRIOR_POWER = 0.5  # of the OTDD ratio that gives the epoch ratio before anything was measured
_PRIOR_NOISE = 0.3  # of log(epoch ratio) between like starts: runs on small sets differ by about a third
_PRIOR_WORTH = 4.0  # outcomes that this guess counts for
_UNIT = 0.3  # of log(OTDD ratio): sources of one target differ by about so much
_SCORE_UNITS = {"log-evidence": 0.1, "h-score": 0.5, "knn": 0.1, "probe": 0.1, "centres": 0.1}  # before any outcome
_UNIT_WORTH = 4.0  # outcomes that these count for
_FURTHEST = 4.0  # units: what lies beyond is taken to lie there, so that one odd score does not decide
_LARGEST = 1e6  # score: beyond it a square may overflow
_EXTREME = math.log(20.0)  # of either ratio
_SLOPE_WORTH = 1.0  # outcomes that the prior of a slope is worth; to choose it by left-out targets follows their noise
_SCORE_WORTH = 3.0  # the same for the scores
_FEWEST = 3  # targets from which on left-out ones show how wide the limits must be
_UNTRIED = 2.0  # how much wider the limits are before: outcomes of one data set may agree and say little of another

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Expectation:
    """What is expected of a start: its epochs over the baseline's, and the limits that it should lie within."""

    source: str
    ratio: float  # how far its data set is, over how far the baseline's is
    epoch_ratio: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether it is faster than the baseline even at its upper limit, and from images that are no further away."""
        return self.high < 1 and self.ratio <= 1


@dataclass(frozen=True)
class Predictor:
    """Foretells epoch ratios. `Predictor.fit([])` is the prior; more outcomes make it better and its limits closer."""

    scales: Mapping[str, float]  # what one unit of each score is
    mean: tuple[float, ...]  # of the slopes
    precision: tuple[tuple[float, ...], ...]  # of the slopes, in units of the noise
    shape: float  # of the inverse gamma distribution of the noise's variance
    rate: float
    stretch: float  # of the limits, by what left-out targets showed
    outcomes: int
    targets: int

    @classmethod
    def fit(cls, outcomes: Iterable[Outcome]) -> "Predictor":
        """Learns from outcomes, in whatever order they come."""
        known = sorted(outcomes, key=_key)
        scales = _scales(known)
        rows = np.array([_row(outcome.evidence, scales) for outcome in known]).reshape(-1, len(scales) + 4)
        values = np.clip([math.log(outcome.epoch_ratio) for outcome in known], -_EXTREME, _EXTREME)
        names = sorted({outcome.evidence.target for outcome in known})
        groups = np.array([names.index(outcome.evidence.target) for outcome in known], dtype=np.int64)
        fitted = _Posterior.of(rows, values, len(scales))
        return cls(
            scales=scales,
            mean=tuple(fitted.mean.tolist()),
            precision=tuple(tuple(row) for row in fitted.precision.tolist()),
            shape=fitted.shape,
            rate=fitted.rate,
            stretch=_stretch(rows, values, groups, len(scales)),
            outcomes=len(known),
            targets=len(names),
        )

    def expect(self, evidence: Evidence, *, level: float = LEVEL) -> Expectation:
        """The epoch ratio that is as likely too high as too low, and the limits that hold `level` of the outcomes."""
        if not 0 < level < 1:
            raise InvalidInput(f"level is {level}; it must be a share between 0 and 1.")
        row = np.array(_row(evidence, self.scales))
        fitted = _Posterior(np.array(self.mean), np.array(self.precision), self.shape, self.rate)
        middle, spread = (float(value[0]) for value in fitted.foretell(row[None]))
        away = float(stdtrit(2 * self.shape, 0.5 + level / 2)) * spread * self.stretch
        limits = (math.exp(_bounded(middle + side * away)) for side in (0, -1, 1))
        return Expectation(evidence.source, evidence.ratio, *limits)

    def parts(self, evidence: Evidence) -> dict[str, float]:
        """What each thing adds to log(epoch ratio), by name: below 0 it speaks for the source."""
        worth = np.array(_row(evidence, self.scales)) * np.array(self.mean)
        return dict(zip(("level", "distance", "target size", "source size", *self.scales), worth.tolist(), strict=True))

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        precision = [list(row) for row in self.precision]
        return {**vars(self), "scales": dict(self.scales), "mean": list(self.mean), "precision": precision}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Predictor":
        """What `to_json` gave."""
        try:
            made = cls(
                scales={str(name): float(scale) for name, scale in value["scales"].items()},
                mean=tuple(float(slope) for slope in value["mean"]),
                precision=tuple(tuple(float(entry) for entry in row) for row in value["precision"]),
                outcomes=int(value["outcomes"]),
                targets=int(value["targets"]),
                **{name: float(value[name]) for name in ("shape", "rate", "stretch")},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(f"This is no predictor: {error!r}.") from error
        if not made._is_whole():
            raise InvalidInput("This is no predictor: its parts do not fit together.")
        return made

    def _is_whole(self) -> bool:
        """Whether all parts are of one size, finite, and positive where they must be."""
        if {len(self.mean), len(self.precision), *map(len, self.precision)} != {len(self.scales) + 4}:
            return False
        positive = (self.shape, self.rate, self.stretch, *self.scales.values())
        finite = np.isfinite([*positive, *self.mean, *np.ravel(self.precision)]).all()
        return bool(finite) and min(positive) > 0 and bool(np.linalg.eigvalsh(self.precision).min() > 0)


@dataclass(frozen=True)
class Advice:
    """Where to start: the name of a source or of the baseline, why, and the share of epochs that should be saved."""

    start: str
    reason: str
    expected_saving: float  # 0 where the start is not surely faster than the baseline
    expectation: Expectation | None = None  # of the start, where that is surely faster than the baseline

    @property
    def share(self) -> float:
        """Of the epochs from the baseline's weights, as many as are surely enough from these: the upper limit."""
        return min(1.0, self.expectation.high) if self.expectation else 1.0


def advise(
    expectations: Sequence[Expectation], *, baseline: str = _IMAGENET, called: str = "", compared: bool = True
) -> Advice:
    """The fastest of the starts that are surely faster than the baseline, or else the baseline.

    A start whose limits reach an epoch ratio of 1 is never advised: what counts is the time lost when it goes wrong.
    `called` is what sentences call the baseline by; else that is its name. Whatever the baseline's weights are, images
    are compared with those that stand for ImageNet, or with none at all (not `compared`).
    """
    best = pick(expectations)
    if best:
        return Advice(best.source, _for(best, compared=compared), 1 - best.epoch_ratio, best)
    return Advice(baseline, f"{called or baseline} is as good: {_against(expectations)}", 0.0)


def pick(expectations: Iterable[Expectation]) -> Expectation | None:
    """The start with the fewest epochs among those that are faster than the baseline even at their upper limit.

    One whose data set is further away than the baseline's is never picked, whatever was measured of others.
    """
    sure = [each for each in expectations if each.sure]
    return min(sure, key=lambda each: (each.epoch_ratio, each.high, each.source), default=None)


def _for(best: Expectation, *, compared: bool) -> str:
    saving = f"is expected to save {_percent(1 - best.epoch_ratio)} of the epochs"
    limits = f"({_percent(1 - best.high)} to {_percent(1 - best.low)})"
    if not compared:
        return f"By what came of earlier starts, {best.source} {saving} {limits}."
    return f"{best.source} {_nearness(best)}, and {saving} {limits}."


def _against(expectations: Sequence[Expectation]) -> str:
    if not expectations:
        return "there are no other weights to start from."
    best = min(expectations, key=lambda each: (each.epoch_ratio, each.source))
    if best.epoch_ratio < 0.995:
        saving = f"would save {_percent(1 - best.epoch_ratio)} of the epochs by the best guess"
        but = f"may {_risk(best)}" if best.high >= 1 else _nearness(best)
        return f"{best.source} {saving}, but {but}."
    near = min(expectations, key=lambda each: each.ratio)  # the first of equals: they come nearest first
    return f"no other weights are expected to save epochs; the nearest, {near.source}, {_nearness(near)}."


def _risk(best: Expectation) -> str:
    cost = best.high - 1
    return f"cost {_percent(cost)} more" if cost >= 0.005 else "save none"


def _nearness(one: Expectation) -> str:
    return f"comes from images {how_near(one.ratio, f'those of {_IMAGENET}')}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


@dataclass(frozen=True)
class _Posterior:
    """Slopes and noise after the outcomes: a normal times an inverse gamma distribution."""

    mean: _Floats
    precision: _Floats
    shape: float
    rate: float

    @classmethod
    def of(cls, rows: _Floats, values: _Floats, scores: int) -> "_Posterior":
        prior = np.zeros(rows.shape[1])
        prior[1] = _PRIOR_POWER * _UNIT
        weight = np.full(rows.shape[1], _SLOPE_WORTH)
        weight[rows.shape[1] - scores :] = _SCORE_WORTH
        precision = np.diag(weight) + rows.T @ rows
        away = values - rows @ prior
        slopes = np.linalg.solve(precision, rows.T @ away)
        misfit = float(away @ (away - rows @ slopes))
        shape = (_PRIOR_WORTH + len(values)) / 2
        return cls(prior + slopes, precision, shape, (_PRIOR_WORTH * _PRIOR_NOISE**2 + max(misfit, 0.0)) / 2)

    def foretell(self, rows: _Floats) -> tuple[_Floats, _Floats]:
        """The middle and the scale of Student's t distribution, with 2 x shape degrees of freedom, of each outcome."""
        unsure = np.einsum("ij,ji->i", rows, np.linalg.solve(self.precision, rows.T))
        return rows @ self.mean, np.sqrt(self.rate / self.shape * (1 + unsure))


def _stretch(rows: _Floats, values: _Floats, groups: NDArray[np.int64], scores: int) -> float:
    """By how much limits must be stretched to hold what became of left-out targets."""
    count = int(groups.max(initial=-1)) + 1
    if count < _FEWEST:
        return _UNTRIED if count else 1.0  # the prior's own limits are wide enough
    off = np.empty_like(values)
    for group in range(count):
        out = groups == group
        middles, spreads = _Posterior.of(rows[~out], values[~out], scores).foretell(rows[out])
        off[out] = (values[out] - middles) / spreads
    return max(1.0, float(np.sqrt(np.square(off).mean())))


def _row(evidence: Evidence, scales: Mapping[str, float]) -> list[float]:
    """One, the log of the distance, the sizes and the scores, each in units that are about 1; 0 where not known."""
    distance = _bounded(math.log(max(evidence.ratio, 1e-9)))
    target, source = evidence.target_images, evidence.source_images
    sizes = [math.log10(target / 1000) if target else 0.0, math.log10(source / target) if target and source else 0.0]
    scores = [evidence.scores.get(name, 0.0) / scale for name, scale in scales.items()]
    return [1.0, distance / _UNIT, *(min(max(value, -_FURTHEST), _FURTHEST) for value in (*sizes, *scores))]


def _scales(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """What one unit of each score is: its usual size, by the outcomes and, while these are few, by what is usual."""
    squares: dict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        for name, value in outcome.evidence.scores.items():
            squares[name].append(min(abs(value), _LARGEST) ** 2)
    scales = {}
    for name, seen in sorted(squares.items()):
        usual = _SCORE_UNITS.get(name, math.sqrt(np.mean(seen)) or 1.0)
        scales[name] = math.sqrt((_UNIT_WORTH * usual**2 + sum(seen)) / (_UNIT_WORTH + len(seen)))
    return scales


def _key(outcome: Outcome) -> tuple[Any, ...]:
    evidence = outcome.evidence
    facts = (evidence.ratio, evidence.source_images, evidence.target_images, sorted(evidence.scores.items()))
    return evidence.target, evidence.source, outcome.architecture, outcome.epoch_ratio, *facts


def _bounded(log_ratio: float) -> float:
    return min(max(log_ratio, -_EXTREME), _EXTREME)
