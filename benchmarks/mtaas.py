"""What a training service saves that keeps the right weights in memory: queues of jobs, replayed on measured epochs.

    python -m benchmarks.mtaas [--quick] [--json FILE]

Figure 5 of the paper: queues of jobs on new data sets, and a cache that holds K of the zoo's weights. The sets of the
zoo and the new ones are disjoint and drawn anew for each queue; so is what a predictor knows: it has seen starts among
the zoo's sets alone. Normal queues have few duplicates; bursty ones many jobs on one set, as in tuning; non-stationary
ones change from some sets to others, and what is kept is chosen again for each window. A job takes its measured epochs
times its images, from ImageNet's weights (the baseline), from scratch, or from what a policy makes of the cache; epochs
are counted until the accuracy of ImageNet's best is reached, within two standard errors. They are those of
`benchmarks.transfers`; where none are kept, small drawn sets are trained on, as the report says.
"""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks import harness, transfers
from benchmarks.dsd_correlation import Found, gather
from benchmarks.few_labels import available, machines_of, rows_of
from benchmarks.measured_starts import Pair, outcomes_of, pairs_of
from benchmarks.pictures import picture
from benchmarks.transfers import LITE0, SCRATCH
from seedbed.methods.similarity.cache_choice import choose
from seedbed.methods.similarity.predictor import Predictor
from seedbed.methods.similarity.tte import expected_times, similarities_of, training_times

TITLE = "Total training time of queues, with K of the zoo's weights in memory"
TYPES = ("normal", "bursty", "non-stationary")
PAPER: Mapping[str, Mapping[str, float]] = {  # times as fast; those from scratch are "over" that
    "normal": {"imagenet": 2.3, "scratch": 8},
    "bursty": {"imagenet": 2.8, "scratch": 12},
    "non-stationary": {},
}
_BASES: Mapping[str, str] = {"imagenet": "ImageNet's weights", "scratch": "scratch"}
QUEUES = 8
_FEWEST = 4  # sets, of which two are the zoo
NEAREST, SURE, GUESS, BEST = "nearest (paper)", "predictor, when sure", "predictor, best guess", "best possible"
POLICIES = (NEAREST, SURE, GUESS, BEST)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Queue:
    """Jobs on new data sets, in windows for which the cache is chosen anew."""

    kind: str
    zoo: tuple[str, ...]
    windows: tuple[tuple[str, ...], ...]  # the data sets of the jobs


@dataclass(frozen=True)
class Times:
    """Measured training times in epochs x images, by target and start."""

    imagenet: Mapping[str, float]
    scratch: Mapping[str, float]
    starts: Mapping[tuple[str, str], float]  # (target, source)
    images: Mapping[str, int]


def times_of(pairs: Sequence[Pair]) -> Times:
    """From the epochs over all folds."""
    return Times(
        imagenet={pair.target: _time(pair.baseline_epochs, pair.images) for pair in pairs},
        scratch={pair.target: _time(pair.epochs, pair.images) for pair in pairs if pair.source == SCRATCH},
        starts={(pair.target, pair.source): _time(pair.epochs, pair.images) for pair in pairs},
        images={pair.target: pair.images for pair in pairs},
    )


def _time(epochs: Sequence[int], images: int) -> float:
    return float(np.mean(epochs)) * images


def queue_of(kind: str, sets: Sequence[str], number: int) -> Queue:
    """A queue by its kind and number; half of the sets are the zoo (the larger half), the others are new."""
    random = np.random.default_rng([TYPES.index(kind), number])
    mixed = [str(name) for name in random.permutation(sorted(sets))]
    zoo, new = mixed[: -(-len(mixed) // 2)], mixed[-(-len(mixed) // 2) :]
    if kind == "normal":  # each set once, and one of them again
        windows = [[*new, new[int(random.integers(len(new)))]]]
    elif kind == "bursty":
        share = random.dirichlet(np.full(len(new), 0.3))
        windows = [[new[place] for place in random.choice(len(new), size=20, p=share)]]
    else:  # each window has most of its jobs on one set, and the next window on another
        windows = [
            [new[place] for place in random.choice(len(new), size=8, p=_around(len(new), window))]
            for window in range(min(3, len(new)))
        ]
    return Queue(kind, tuple(sorted(zoo)), tuple(tuple(window) for window in windows))


def _around(count: int, middle: int) -> Floats:
    weights = np.where(np.arange(count) == middle, 4.0, 1.0)
    return np.asarray(weights / weights.sum())


def replay(queue: Queue, slots: int, policy: str, found: Found, pairs: Sequence[Pair], times: Times) -> float:
    """The total time of a queue under a policy with so many weights in memory."""
    total = 0.0
    for window in queue.windows:
        jobs = Counter(window)
        targets = sorted(jobs)
        estimates, alone = _estimates(policy, targets, queue.zoo, found, pairs, times)
        counts = np.array([jobs[target] for target in targets], dtype=np.float64)
        kept = list(choose(estimates * counts[:, None], alone * counts, slots).kept)
        for row, target in enumerate(targets):
            best = min(kept, key=lambda place: estimates[row, place], default=None)
            stays = best is None or estimates[row, best] >= alone[row]
            start = times.imagenet[target] if stays or best is None else times.starts[target, queue.zoo[best]]
            total += jobs[target] * start
    return total


def _estimates(
    policy: str, targets: Sequence[str], zoo: Sequence[str], found: Found, pairs: Sequence[Pair], times: Times
) -> tuple[Floats, Floats]:
    """What a policy thinks that each job takes from each of the zoo's weights, and from ImageNet's."""
    sizes = np.array([[times.images[target]] for target in targets], dtype=np.float64)
    if policy == BEST:
        real = np.array([[times.starts[target, source] for source in zoo] for target in targets])
        return real, np.array([times.imagenet[target] for target in targets])
    near = found.foretellers()["DSD"]
    if policy == NEAREST:  # equation 5 knows no ImageNet: its estimate is that of the furthest weights
        ratios = [[near[target, source] for source in zoo] for target in targets]
        return training_times(similarities_of(ratios), sizes), sizes[:, 0] * 1.000001
    seen = found.known()
    known = outcomes_of([pair for pair in pairs if {pair.source, pair.target} <= set(zoo)], seen)
    model = Predictor.fit(known)
    asked = {(one.evidence.target, one.evidence.source): one.evidence for one in outcomes_of(pairs, seen)}
    expected = [[model.expect(asked[target, source]) for source in zoo] for target in targets]
    ratios = [[one.epoch_ratio if policy == GUESS or one.sure else 1.0 for one in row] for row in expected]
    return expected_times(ratios, sizes), sizes[:, 0]


def complete(pairs: Sequence[Pair]) -> list[str]:
    """The sets of which every start from every other, and from scratch, was measured: rows may still be coming in."""
    known = {(pair.target, pair.source) for pair in pairs}
    sets = sorted({target for target, source in known if source == SCRATCH})
    while gaps := Counter(one for one in sets for other in sets if other != one and (one, other) not in known):
        sets.remove(gaps.most_common(1)[0][0])
    return sets


def speedups(found: Found) -> list[dict[str, Any]]:
    """A record per queue, number of slots and policy: how many times faster than ImageNet and than scratch."""
    pairs = found.pairs("reached", LITE0)
    sets = complete(pairs)
    pairs = [pair for pair in pairs if pair.target in sets and pair.source in (*sets, SCRATCH)]
    times = times_of(pairs)
    records = []
    for kind in TYPES:
        for number in range(QUEUES):
            queue = queue_of(kind, sets, number)
            jobs = [target for window in queue.windows for target in window]
            imagenet, scratch = (sum(each[target] for target in jobs) for each in (times.imagenet, times.scratch))
            for slots in range(1, len(queue.zoo) + 1):
                for policy in POLICIES:
                    took = replay(queue, slots, policy, found, pairs, times)
                    records.append(
                        {"kind": kind, "number": number, "slots": slots, "policy": policy}
                        | {"imagenet": imagenet / took, "scratch": scratch / took}
                    )
    return records


def lines(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The box plots as numbers: a line per kind, policy and number of slots."""
    shown = []
    for kind in TYPES:
        for policy in POLICIES:
            for slots in sorted({record["slots"] for record in records}):
                mine = [r for r in records if (r["kind"], r["policy"], r["slots"]) == (kind, policy, slots)]
                shown.append(
                    {
                        "queues": kind,
                        "policy": policy,
                        "K": slots,
                        "over ImageNet: quartiles": _quartiles([record["imagenet"] for record in mine]),
                        "mean": f"{np.mean([record['imagenet'] for record in mine]):.2f}",
                        "over scratch: quartiles": _quartiles([record["scratch"] for record in mine]),
                        "paper": "{imagenet}, over {scratch}".format(**PAPER[kind]) if PAPER[kind] else "",
                    }
                )
    return shown


def _quartiles(values: Sequence[float]) -> str:
    return " ".join(f"{np.percentile(values, at):.2f}" for at in (25, 50, 75))


def _mean(records: Sequence[Mapping[str, Any]], kind: str, policy: str, over: str) -> float:
    """Speedup over the queues of a kind, with as many slots as the zoo has weights."""
    most = max(record["slots"] for record in records)
    return float(np.mean([r[over] for r in records if (r["kind"], r["policy"], r["slots"]) == (kind, policy, most)]))


def in_words(records: Sequence[Mapping[str, Any]]) -> str:
    """The predictor's speedups beside the paper's, and beside what any choice could come to."""
    told = []
    for kind, paper in PAPER.items():
        for over, times in paper.items():
            mine, best = (_mean(records, kind, policy, over) for policy in (SURE, BEST))
            told.append(
                f"{kind} queues are {mine:.2f} times as fast as from {_BASES[over]} (the paper's {times:g} is "
                f"{'met' if mine >= times else 'missed'}; the best possible choice has {best:.2f})"
            )
    return f"With room for all weights and the predictor when it is sure, {', '.join(told)}. "


def figures(records: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Mean speedups with room for all weights, of the predictor when it is sure."""
    found = {}
    for kind in TYPES:
        for over in _BASES:
            found[f"{kind.replace('-', '_')}_over_{over}_times"] = _mean(records, kind, SURE, over)
    worst = min(record["imagenet"] for record in records if record["policy"] == SURE)
    return {**found, "worst_queue_over_imagenet_times": worst}


_COLOURS = ("#b5523b", "#2f6b3a", "#3b6fb5", "#888888")  # of the policies' boxes


def boxes(records: Sequence[Mapping[str, Any]]) -> Figure:
    """Figure 5: speedup by K, over ImageNet's weights above and over scratch below, a column per kind of queue."""
    figure = Figure(figsize=(10, 6), layout="constrained")
    panels = figure.subplots(2, len(TYPES), sharex=True, sharey="row")
    for row, (over, base) in zip(panels, _BASES.items(), strict=True):
        for axes, kind in zip(row, TYPES, strict=True):
            _boxes_of(axes, [record for record in records if record["kind"] == kind], over)
            axes.axhline(1, color="black", linewidth=0.5)
            if over in PAPER[kind]:
                axes.axhline(PAPER[kind][over], color="black", linewidth=0.8, linestyle="--", label="the paper's")
        row[0].set_ylabel(f"times as fast as from {base}", fontsize=9)
    for top, bottom, kind in zip(*panels, TYPES, strict=True):
        top.set_title(kind)
        bottom.set_xlabel("K")
    figure.legend(
        *panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(POLICIES) + 1, fontsize=9
    )
    return figure


def _boxes_of(axes: Axes, records: Sequence[Mapping[str, Any]], over: str) -> None:
    """A box for each policy and number of slots."""
    slots = sorted({record["slots"] for record in records})
    for place, policy in enumerate(POLICIES):
        values = [[r[over] for r in records if (r["policy"], r["slots"]) == (policy, each)] for each in slots]
        drawn = axes.boxplot(
            values,
            positions=[each + 0.18 * (place - 1.5) for each in slots],
            widths=0.15,
            patch_artist=True,
            boxprops={"facecolor": _COLOURS[place]},
            medianprops={"color": "black"},
            manage_ticks=False,
        )
        drawn["boxes"][0].set_label(policy)
    axes.set_xticks(slots)


def measure(*, quick: bool) -> harness.Report:
    """From the kept rows; from small drawn sets where there are none."""
    rows = [row for row in rows_of("transfers") if row["architecture"] == LITE0]
    kept = bool(available(transfers.SETS)) and len(complete(pairs_of(rows))) >= _FEWEST
    with tempfile.TemporaryDirectory() as folder:
        found = gather(real=kept, quick=quick, minutes=0.0 if kept else 10.0, workers=1, folder=Path(folder))
    records = speedups(found)
    note = (
        f"{QUEUES} queues of each kind. From scratch, where ImageNet's accuracy is never reached, the epochs until "
        "nothing got better count: the true ratio is larger. "
    )
    if kept:
        note += in_words(records)
    else:
        note += (
            "No trainings on real sets are kept here: the epochs are of three small drawn sets, trained on in this "
            "run, and say only that everything works."
        )
    if kept and not quick:
        picture("mtaas", boxes(records))
        note += "Box plots: pictures/mtaas.svg."
    return harness.Report(
        figures=figures(records),
        rows=lines(records),
        data="real" if kept else "synthetic",
        wants_real=True,
        note=note,
        origin=machines_of(found.runs),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    harness.main("mtaas", TITLE, lambda quick: measure(quick=quick), arguments)


if __name__ == "__main__":
    torch.set_num_threads(2)
    main()
