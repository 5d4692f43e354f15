"""Which weights to keep in memory: the few with which the jobs that wait are estimated to end soonest.

Every job takes the best of what is kept, or the baseline. What a set of weights saves is a monotone submodular function
of it (facility location), so the greedy choice saves at least 1 - 1/e of the most possible (Nemhauser, Wolsey and
Fisher, 1978); each choice also comes with a bound for its own queue, and small ones are solved exactly.
"""

import heapq
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput

_EFFORT = 10_000_000  # estimates that the search looks at before the best so far has to do: some tenths of a second
_NODE = 1000  # what one set costs beside its estimates
_DEEPEST = 100  # slots up to which sets are searched: beyond, greedy and its bound are close and the tree is deep
_LOYALTY = 1e-9  # of all seconds, that each of the weights already loaded counts for: it decides between equals only

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """The weights to keep, and how good that is."""

    kept: tuple[int, ...]  # columns, ascending
    total: float  # estimated seconds of all jobs
    bound: float  # no choice of so many weights has a smaller total
    without: float  # estimated seconds with the baseline alone

    @property
    def exact(self) -> bool:
        """Whether no other choice is better."""
        return self.total <= self.bound + 2 * _LOYALTY * abs(self.without)

    @property
    def saved(self) -> float:
        """Seconds saved against the baseline alone."""
        return self.without - self.total


@dataclass(frozen=True)
class Kept:
    """Why weights are kept: for how many jobs they are the best of those kept, and what they save them."""

    weights: int
    jobs: int
    saved: float


def choose(
    times: NDArray[Any], baseline: NDArray[Any], slots: int, *, loaded: Collection[int] = (), effort: int = _EFFORT
) -> Choice:
    """The `slots` weights that minimise the sum over jobs of the best estimate among them and the baseline.

    `times` are seconds, (jobs, weights), infinite where weights do not fit a job; `baseline` (jobs,). Between equal
    choices the weights already `loaded` stay, and spare room keeps them. Branch and bound looks at up to `effort`
    estimates; where that is not enough, the best so far is taken, which is as good as greedy or better.
    """
    seconds, alone = _checked(times, baseline, slots, loaded)
    savings = np.ascontiguousarray(np.maximum(alone[:, None] - seconds, 0.0).T)  # (weights, jobs)
    bonus = np.zeros(len(savings))
    bonus[list(loaded)] = _LOYALTY * alone.sum() / max(slots, 1)
    search = _Search(savings, bonus, min(slots, len(savings)), effort)
    greedy = search.greedy()
    most = search.most(greedy)
    complete = search.improve(most)
    useful = [weights for weights in search.best if savings[weights].any()]
    kept = _filled(useful, loaded, slots)
    without = float(alone.sum())
    total = float(np.minimum(alone, seconds[:, kept].min(axis=1, initial=np.inf)).sum())
    bound = total if complete else min(total, without - most)
    return Choice(kept, total, bound, without)


def reasons(times: NDArray[Any], baseline: NDArray[Any], kept: Sequence[int]) -> list[Kept]:
    """For each of the weights kept, the jobs that start from them and the seconds that saves, the most first."""
    seconds, alone = _checked(times, baseline, len(kept), kept)
    savings = np.maximum(alone[:, None] - seconds[:, list(kept)], 0.0)
    best = savings.argmax(axis=1) if savings.size else np.zeros(len(alone), dtype=np.int64)
    found = []
    for place, weights in enumerate(kept):
        mine = savings[best == place, place]
        found.append(Kept(int(weights), int(np.count_nonzero(mine)), float(mine.sum())))
    return sorted(found, key=lambda one: (-one.saved, one.weights))


class _Search:
    """Greedy, then branch and bound, on savings (weights, jobs) plus a small bonus for each of the weights."""

    def __init__(self, savings: _Floats, bonus: _Floats, slots: int, effort: int) -> None:
        self.savings, self.bonus, self.slots, self.effort = savings, bonus, slots, effort
        self.best: tuple[int, ...] = ()
        self.value = 0.0

    def gains(self, so_far: _Floats) -> _Floats:
        """What each of the weights would add to what the jobs save so far."""
        return np.asarray(np.maximum(self.savings - so_far, 0.0).sum(axis=1) + self.bonus)

    def greedy(self) -> list[int]:
        """The weights that add most, one after another; a gain is only computed again when it may be the largest."""
        so_far = np.zeros(self.savings.shape[1])
        heap = [(-gain, weights) for weights, gain in enumerate(self.gains(so_far).tolist())]
        heapq.heapify(heap)
        chosen: list[int] = []
        fresh = dict.fromkeys(range(len(self.savings)), 0)  # how many were chosen when a gain was computed
        while heap and len(chosen) < self.slots:
            negative, weights = heapq.heappop(heap)
            if fresh[weights] == len(chosen):
                chosen.append(weights)
                self.value -= negative
                so_far = np.maximum(so_far, self.savings[weights])
                continue
            gain = float(np.maximum(self.savings[weights] - so_far, 0.0).sum() + self.bonus[weights])
            fresh[weights] = len(chosen)
            heapq.heappush(heap, (-gain, weights))
        self.best = tuple(chosen)
        return chosen

    def most(self, greedy: Sequence[int]) -> float:
        """More than this no choice saves: the smallest of three bounds.

        Every job with its best weights, and the largest bonuses; greedy over its guarantee; and for each start of the
        greedy choice, what it saves plus the largest gains that are left (by submodularity).
        """
        if not self.slots:
            return 0.0
        share = 1 - (1 - 1 / self.slots) ** self.slots
        every_job = self.savings.max(axis=0, initial=0.0).sum() + np.sort(self.bonus)[-self.slots :].sum()
        bounds = [float(every_job), self.value / share]
        for size in {0, len(greedy) // 2, len(greedy)}:
            so_far = self.savings[list(greedy[:size])].max(axis=0, initial=0.0)
            bounds.append(float(so_far.sum() + np.sort(self.gains(so_far))[-self.slots :].sum()))
        return min(bounds)

    def improve(self, most: float) -> bool:
        """Looks through the sets that may be better than the best so far; whether it saw them all."""
        if most <= self.value:
            return True
        if self.slots > _DEEPEST:
            return False
        return self._branch((), np.zeros(self.savings.shape[1]), 0.0, np.arange(len(self.savings)))

    def _branch(self, chosen: tuple[int, ...], so_far: _Floats, value: float, among: NDArray[np.int64]) -> bool:
        """Sets that hold the chosen ones and else only some of `among`."""
        self.effort -= self.savings.shape[1] * len(among) + _NODE
        if value > self.value:
            self.best, self.value = chosen, value
        left = self.slots - len(chosen)
        if not left or not len(among):
            return True
        if self.effort < 0:
            return False
        gains = np.maximum(self.savings[among] - so_far, 0.0).sum(axis=1) + self.bonus[among]
        order = np.argsort(-gains, kind="stable")
        among, gains = among[order], gains[order]
        for place, weights in enumerate(among):
            if value + gains[place : place + left].sum() <= self.value:  # the rest adds less still
                return True
            then = np.maximum(so_far, self.savings[weights])
            if not self._branch((*chosen, int(weights)), then, value + float(gains[place]), among[place + 1 :]):
                return False
        return True


def _filled(useful: Sequence[int], loaded: Collection[int], slots: int) -> tuple[int, ...]:
    """The useful ones, and in spare room what is loaded: it costs nothing to keep."""
    spare = [weights for weights in sorted(loaded) if weights not in useful]
    return tuple(sorted([*useful, *spare[: slots - len(useful)]]))


def _checked(
    times: NDArray[Any], baseline: NDArray[Any], slots: int, loaded: Collection[int]
) -> tuple[_Floats, _Floats]:
    seconds, alone = np.asarray(times, dtype=np.float64), np.asarray(baseline, dtype=np.float64)
    problems = []
    if seconds.ndim != 2 or alone.shape != seconds.shape[:1]:
        problems.append(f"times has shape {seconds.shape}, baseline {alone.shape}; expected (jobs, weights), (jobs,).")
    else:
        if np.isnan(seconds).any() or (seconds < 0).any():
            problems.append("times holds values that are not seconds of 0 or more.")
        if not (np.isfinite(alone) & (alone >= 0)).all():
            problems.append("baseline holds values that are not finite seconds of 0 or more.")
        strange = [weights for weights in loaded if not 0 <= weights < seconds.shape[1]]
        if strange:
            problems.append(f"{strange[0]} is not one of the {seconds.shape[1]} weights, counted from 0.")
    if slots < 0:
        problems.append(f"slots is {slots}; it must be 0 or more.")
    if problems:
        raise InvalidInput("What to keep cannot be chosen.", problems=problems)
    return seconds, alone
