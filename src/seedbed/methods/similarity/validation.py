"""How well starts on unseen data sets are foretold, and what following the advice would have cost."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.evidence import Outcome
from seedbed.methods.similarity.predictor import LEVEL, Expectation, Predictor, pick


@dataclass(frozen=True)
class Validation:
    """How well left-out data sets are foretold, and what following the advice would have cost."""

    r: float  # Pearson, of expected and measured epoch ratios
    regret: float  # time lost against the best start of each target, the baseline included: 0.05 is 5 %
    baseline_regret: float  # the same for starting from the baseline always
    worse: int  # targets that were advised a start which took longer than the baseline
    targets: int
    covered: float  # share of the outcomes within their limits
    expected: tuple[float, ...]  # epoch ratios, in the order of the outcomes
    measured: tuple[float, ...]


def cross_validated(outcomes: Sequence[Outcome], *, level: float = LEVEL) -> Validation:
    """Foretells each target's outcomes from those that speak of that data set neither as target nor as source.

    The baseline counts as one unit of time for each target and architecture; repeated measures of a start are averaged.
    """
    if not outcomes:
        raise InvalidInput("There is no outcome to validate with.")
    models = {
        target: Predictor.fit(one for one in outcomes if target not in one.evidence.data_sets)
        for target in sorted({one.evidence.target for one in outcomes})
    }
    said = [models[one.evidence.target].expect(one.evidence, level=level) for one in outcomes]
    jobs: dict[tuple[str, str], dict[str, list[tuple[Expectation, float]]]] = defaultdict(lambda: defaultdict(list))
    for one, expectation in zip(outcomes, said, strict=True):
        jobs[one.evidence.target, one.architecture][one.evidence.source].append((expectation, one.epoch_ratio))
    chosen, best = zip(*(_played(starts) for starts in jobs.values()), strict=True)
    expected, measured = [each.epoch_ratio for each in said], [one.epoch_ratio for one in outcomes]
    inside = [each.low <= value <= each.high for each, value in zip(said, measured, strict=True)]
    return Validation(
        r=_pearson(expected, measured),
        regret=sum(chosen) / sum(best) - 1,
        baseline_regret=len(best) / sum(best) - 1,
        worse=sum(time > 1 for time in chosen),
        targets=len(jobs),
        covered=float(np.mean(inside)),
        expected=tuple(expected),
        measured=tuple(measured),
    )


def _played(starts: Mapping[str, Sequence[tuple[Expectation, float]]]) -> tuple[float, float]:
    """The time that the advised start took and the time of the best one, the baseline's being 1."""
    times = {source: float(np.mean([time for _, time in runs])) for source, runs in starts.items()}
    advised = pick(runs[0][0] for runs in starts.values())
    return (times[advised.source] if advised else 1.0), min(1.0, *times.values())


def _pearson(one: Sequence[float], other: Sequence[float]) -> float:
    """The correlation; 0 where one of the two does not vary."""
    mine, theirs = np.array(one) - np.mean(one), np.array(other) - np.mean(other)
    length = math.sqrt(float(mine @ mine) * float(theirs @ theirs))
    return float(mine @ theirs) / length if length > 1e-12 else 0.0
