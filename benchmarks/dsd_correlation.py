"""Whether the distance between data sets foretells what a start from other weights saves.

    python -m benchmarks.dsd_correlation [--quick] [--json FILE] [--minutes M] [--workers N] [--only-table]

Figures 1, 2 and 4 of the paper: every data set's weights as the start for every other, against ImageNet's. Epochs are
counted to the same accuracy (section IV-D of the paper: patience 5, peaks that are alike count as the same, else the
point nearest to the baseline's peak), summed over three folds; their ratio (equation 3) is set beside the ratio of
distances (equation 4), the distances themselves, and what a predictor expects that has seen neither the target nor
anything that was trained on it. That rule compares the best epochs of flat curves, which are chance ("r between
folds" says how much, and "r of the truth" what can be expected of who foretells the true ratio: what is measured is
the mean of three folds with their chance), and gives a start which never gets as far as ImageNet's the epochs to its
own best; so the epochs until ImageNet's peak is "reached", within two standard errors, stand beside them, under names
of their own. That rule was found by looking at the trainings of EfficientNet-Lite0: those of the other networks can
confirm it. What the predictor says of a network is shown as learnt from that network's trainings, and from those of all
networks, as a service does it.

The trainings are rows of `benchmarks.transfers` (a GPU is wanted: this command runs those that are missing, or run that
first elsewhere); distances are computed on a CPU. Without rows, and on a machine without a GPU, small drawn sets are
trained on instead, and the report says so. A full run also writes what it measured into the package, where the first
rankings of a service learn from it.
"""

import argparse
import operator
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import harness, starts_pictures, transfers
from benchmarks.few_labels import Rows, available, interval, machines_of, rows_of
from benchmarks.measured_starts import (
    BASELINE,
    OTHER_BASELINE,
    Kind,
    Matching,
    Pair,
    attainable,
    distances_of,
    fill_distances,
    keep_starts,
    outcomes_of,
    pairs_of,
    ratios_of,
    repeatability,
    whole,
)
from benchmarks.pictures import picture
from benchmarks.transfers import IMAGENET, LITE0, SCRATCH, Scale, planned
from seedbed.methods.similarity.evidence import Outcome
from seedbed.methods.similarity.predictor import Predictor, pick
from seedbed.methods.similarity.validation import cross_validated

TITLE = "What a start from other weights saves, and what foretells it"
KINDS: tuple[Kind, ...] = ("modified", "plain", "without noise", "embedded")
MATCHINGS: tuple[Matching, ...] = ("0.1 %", "one standard error", "reached")
MAIN: Matching = "reached"  # the others compare best epochs, which differ from fold to fold by chance
PAPER = {"DSD": "0.93, 0.85, 0.90", "modified OTDD": "0.23, 0, 0.18"}  # ResNet50, EfficientNetV2S, MobileNetV3L
WANTED_R, WANTED_REGRET = 0.93, 5.0  # at least the paper's; % of epochs at most lost against the best start
SERVICE = "DSD on embeddings, without noise"  # as a service measures it
DRAWN_BASELINE = "drawn-012345"
DRAWN = Scale(
    sets=("drawn-012", "drawn-345", "drawn-024"),
    few_sets=(),
    architectures=(LITE0,),
    folds=1,
    size=32,
    batch=16,
    rate=5e-4,
    epochs=4,
    scratch_epochs=4,
    patience=5,
    images=96,
)

_PART = "of the pairs and folds that are there, and no result yet"
_QUICK_IMAGES = 400  # of a set, where no distances are kept

Near = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Found:
    """What was measured and computed: the rows of trainings, and distances of each kind."""

    runs: Sequence[Mapping[str, Any]]
    distances: Mapping[Kind, Near]
    baseline: str
    scale: Scale  # what was to be run

    def rests_on(self, architecture: str, pairs: Sequence[Pair]) -> dict[str, str]:
        """Of how many pairs and folds a network's lines are, against how many there are to be."""
        wanted = {key[:2] for key in planned(self.scale, architecture) if key[1] not in (IMAGENET, SCRATCH)}
        counts = [len(pair.epochs) for pair in pairs]
        folds = " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
        return {"pairs": f"{len(pairs)} of {len(wanted)}", "folds": f"{folds} of {self.scale.folds}"}

    def unfinished(self) -> str:
        """A sentence for each network whose trainings are not all there; '': all are."""
        told = ""
        for architecture in self.scale.architectures:
            wanted = planned(self.scale, architecture)
            mine = [row for row in self.runs if row["architecture"] == architecture]
            done = len(wanted & {(row["target"], row["start"], row["fold"]) for row in mine})
            if 0 < done < len(wanted):
                told += f"Of the trainings of {architecture} {done} of {len(wanted)} were run: its lines are {_PART}. "
        return told

    def foretellers(self) -> dict[str, Near]:
        """What is held against the epoch ratio, by its name."""
        found = {
            "DSD": ratios_of(self.distances["modified"], self.baseline),
            "modified OTDD": self.distances["modified"],
            "plain OTDD": self.distances["plain"],
        }
        if self.distances.get("without noise"):
            found["DSD without noise"] = ratios_of(self.distances["without noise"], self.baseline)
        if self.distances.get("embedded"):
            found[SERVICE] = ratios_of(self.distances["embedded"], self.baseline)
        if any(OTHER_BASELINE in pair for pair in self.distances["modified"]):
            found[f"DSD against {OTHER_BASELINE}"] = ratios_of(self.distances["modified"], OTHER_BASELINE)
        return found

    def known(self) -> Near:
        """What the predictor is told of distances: those of the service where they were measured."""
        foretellers = self.foretellers()
        return foretellers.get(SERVICE, foretellers["DSD"])

    def pairs(self, matching: Matching, architecture: str = "") -> list[Pair]:
        """The pairs of one network, or of all."""
        return [pair for pair in pairs_of(self.runs, matching) if architecture in ("", pair.architecture)]


@dataclass(frozen=True)
class Played:
    """What following some advice would have cost: epochs lost against the best start, and targets it was bad for."""

    regret: float
    worse: int  # than ImageNet, beyond the interval over folds
    targets: int


def played(pairs: Sequence[Pair], advise: Callable[[str, str, Sequence[Pair]], Pair | None]) -> Played:
    """Over all targets and networks; ImageNet's epochs count as 1 for each, and no advice means ImageNet."""
    chosen, best, worse = [], [], 0
    kept = [pair for pair in pairs if pair.source != SCRATCH]
    for architecture, target in sorted({(pair.architecture, pair.target) for pair in kept}):
        starts = [pair for pair in kept if (pair.architecture, pair.target) == (architecture, target)]
        start = advise(architecture, target, starts)
        chosen.append(start.ratio if start else 1.0)
        best.append(min(1.0, *(pair.ratio for pair in starts)))
        worse += bool(start and _surely_worse(start))
    return Played(sum(chosen) / sum(best) - 1, worse, len(best))


def _surely_worse(pair: Pair) -> bool:
    logs = np.log(np.array(pair.epochs) / np.array(pair.baseline_epochs))
    return interval(logs.tolist())[0] > 0


def nearest(near: Near) -> Callable[[str, str, Sequence[Pair]], Pair | None]:
    """The paper's advice: the nearest set's weights, and ImageNet's where those are nearer still (a ratio above 1)."""

    def advise(architecture: str, target: str, starts: Sequence[Pair]) -> Pair | None:
        first = min(starts, key=lambda pair: near[target, pair.source])
        return first if near[target, first.source] < 1 else None

    return advise


def foretold(found: Found, known: Sequence[Pair]) -> Callable[[str, str, Sequence[Pair]], Pair | None]:
    """The predictor's advice, from what is known and does not speak of the target."""
    outcomes = outcomes_of(known, found.known())

    def advise(architecture: str, target: str, starts: Sequence[Pair]) -> Pair | None:
        model = Predictor.fit(one for one in outcomes if target not in one.evidence.data_sets)
        best = pick(model.expect(one.evidence) for one in outcomes_of(starts, found.known()))
        return next((pair for pair in starts if best and pair.source == best.source), None)

    return advise


def pearson(one: Sequence[float], other: Sequence[float]) -> float:
    """The correlation; 0 where one of the two does not vary."""
    if len(one) < 2 or np.std(one) < 1e-12 or np.std(other) < 1e-12:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def by_source(pairs: Sequence[Pair], near: Near) -> dict[str, float]:
    """The correlation over targets for each source: figure 4 has one of them."""
    found = {}
    for source in sorted({pair.source for pair in pairs}):
        mine = [pair for pair in pairs if pair.source == source]
        found[source] = pearson([near[pair.target, source] for pair in mine], [pair.ratio for pair in mine])
    return found


def lines(found: Found) -> list[dict[str, Any]]:
    """A line per network, way to match accuracies and foreteller."""
    shown = []
    for architecture in sorted({row["architecture"] for row in found.runs}):
        for matching in MATCHINGS:
            pairs = [pair for pair in found.pairs(matching, architecture) if pair.source != SCRATCH]
            if not pairs:
                continue
            chance = {
                "r between folds": f"{repeatability(pairs):.2f}",
                "r of the truth": f"{attainable(pairs):.2f}",
            }
            rests = found.rests_on(architecture, pairs)
            head = {"network": architecture, "same accuracy": matching, **rests, **chance}
            for name, near in found.foretellers().items():
                pooled = pearson([near[pair.target, pair.source] for pair in pairs], [pair.ratio for pair in pairs])
                advice = played(pairs, nearest(near)) if name.startswith("DSD") else None
                each = by_source(pairs, near)
                shown.append({**head, **_line(name, pooled, each, advice), "paper's r": PAPER.get(name, "")})
            every = whole([pair for pair in found.pairs(matching) if pair.source != SCRATCH])
            learnt_from = {"predictor, set left out": pairs, "the same, from all networks": every}
            for name, known in learnt_from.items() if len(every) > len(pairs) else [*learnt_from.items()][:1]:
                shown.append({**head, **_predicted(name, pairs, known, found), "paper's r": ""})
            always = played(pairs, lambda *_: None)
            shown.append({**head, **_line("always ImageNet", None, {}, always), "paper's r": ""})
    return shown


def _predicted(name: str, pairs: Sequence[Pair], known: Sequence[Pair], found: Found) -> dict[str, Any]:
    """The predictor's line for one network's pairs, from all that is known and does not speak of the target."""
    expected = _expected(pairs, known, found)
    pooled = pearson([expected[pair.target, pair.source] for pair in pairs], [pair.ratio for pair in pairs])
    advice = played(pairs, foretold(found, known))
    return _line(name, pooled, by_source(pairs, expected), advice)


def _line(name: str, pooled: float | None, each: Mapping[str, float], advice: Played | None) -> dict[str, Any]:
    values = sorted(each.values())
    return {
        "foretold by": name,
        "r": "" if pooled is None else f"{pooled:.2f}",
        "r by source: least, median, most": " ".join(f"{np.percentile(values, at):.2f}" for at in (0, 50, 100))
        if values
        else "",
        "regret %": f"{100 * advice.regret:.1f}" if advice else "",
        "worse than ImageNet": f"{advice.worse} of {advice.targets}" if advice else "",
    }


def figures(found: Found, matching: Matching) -> dict[str, float]:
    """The numbers that claims rest on, of the first network."""
    pairs = [pair for pair in found.pairs(matching, LITE0) if pair.source != SCRATCH]
    if not pairs:
        return {}
    near = found.foretellers()["DSD"]
    outcomes = outcomes_of(pairs, found.known())
    advice = played(pairs, foretold(found, pairs))
    return {
        "predictor_r": cross_validated(outcomes).r,
        "dsd_r": pearson([near[pair.target, pair.source] for pair in pairs], [pair.ratio for pair in pairs]),
        "regret_pct": 100 * advice.regret,
        "imagenet_regret_pct": 100 * played(pairs, lambda *_: None).regret,
        "worse_than_imagenet": float(advice.worse),
        "r_between_folds": repeatability(pairs),
        "r_of_the_truth": attainable(pairs),
        "pairs": float(len(pairs)),
    }


def all_figures(found: Found) -> dict[str, float]:
    """By the paper's way to match accuracies, and under other names by the epochs until ImageNet's peak is reached."""
    reached = figures(found, "reached")
    others = {f"reached_{name}": value for name, value in reached.items() if name != "pairs"}
    return figures(found, "one standard error") | others


def in_words(shown: Mapping[str, float]) -> str:
    """Whether the predictor came to what is wanted of it, and who could, by either way to match accuracies."""
    told = ""
    for prefix, way in {"": "one standard error", "reached_": "reached"}.items():
        if f"{prefix}predictor_r" not in shown:
            continue
        r, truth, regret = (shown[f"{prefix}{name}"] for name in ("predictor_r", "r_of_the_truth", "regret_pct"))
        told += (
            f"With accuracies of {LITE0} matched by '{way}', the predictor's r is {r:.2f} (wanted: at least "
            f"{WANTED_R}, {_met(r >= WANTED_R)}) and its regret {regret:.1f} % (wanted: under {WANTED_REGRET:g} %, "
            f"{_met(regret < WANTED_REGRET)}). "
        )
        if truth < WANTED_R:
            told += f"Nobody could be expected to reach {WANTED_R} there: r of the truth itself is {truth:.2f}. "
    return told


def _met(met: bool) -> str:
    return "met" if met else "missed"


def epochs_table(found: Found, matching: Matching = MAIN) -> list[dict[str, Any]]:
    """Figure 1 for all sources at once: a line per target, its epochs over folds from each start, and ImageNet's."""
    pairs = found.pairs(matching, LITE0)
    sources = sorted({pair.source for pair in pairs} - {SCRATCH})
    lines = []
    for target in sorted({pair.target for pair in pairs}):
        mine = {pair.source: pair for pair in pairs if pair.target == target}
        own = next(iter(mine.values())).baseline_epochs
        cells = {source: _cell(mine.get(source)) for source in (*sources, SCRATCH)}
        lines.append({"target": target, "epochs from ImageNet": f"{np.mean(own):.1f}", **cells})
    return lines


def in_all(pairs: Sequence[Pair]) -> str:
    """Of how many pairs the start is worth something, and which of them are the extremes."""
    if not pairs:
        return ""
    sooner, later = (sum(way(pair.ratio, 1.0) for pair in pairs) for way in (operator.lt, operator.gt))
    best, worst = (choose(pairs, key=lambda pair: pair.ratio) for choose in (min, max))
    told = "most starts from another set's weights do not help" if 2 * sooner < len(pairs) else "most starts help"
    return (
        f"Of {len(pairs)} pairs of sets {sooner} take fewer epochs than from ImageNet's weights, and {later} more: "
        f"{told}. {best.target} from {best.source} takes {best.ratio:.2f} times as many, "
        f"{worst.target} from {worst.source} {worst.ratio:.1f} times. "
    )


def source_table(found: Found) -> list[dict[str, Any]]:
    """Figure 4 for all sources: the correlation over targets of what foretells the epoch ratio with it, by source."""
    shown = []
    for matching in (*MATCHINGS[1:2], MAIN):
        pairs = [pair for pair in found.pairs(matching, LITE0) if pair.source != SCRATCH]
        told = {**found.foretellers(), "predictor, set left out": _expected(pairs, pairs, found)} if pairs else {}
        for name, near in told.items():
            each = {source: f"{r:.2f}" for source, r in by_source(pairs, near).items()}
            shown.append({"same accuracy": matching, "foretold by": name, **each})
    return shown


def _cell(pair: Pair | None) -> str:
    return f"{np.mean(pair.epochs):.1f} ({pair.gain_points:+.1f})" if pair else ""


def draw(found: Found) -> str:
    """Figures 1, 2 and 4 as pictures; the sentence that names them."""
    pairs = [pair for pair in found.pairs(MAIN, LITE0) if pair.source != SCRATCH]
    foretellers = found.foretellers()
    picture("dsd_correlation_epochs", starts_pictures.epochs(pairs))
    picture("dsd_correlation_curves", starts_pictures.curves(found.runs, pairs))
    picture(
        "dsd_correlation",
        starts_pictures.scatter(pairs, {**foretellers, "predictor, set left out": _expected(pairs, pairs, found)}),
    )
    return f"Figures 1, 2 and 4: {', '.join(f'pictures/dsd_correlation{n}.svg' for n in ('_epochs', '_curves', ''))}."


def _expected(pairs: Sequence[Pair], known: Sequence[Pair], found: Found) -> Near:
    """What the predictor says of each pair, from all that is known and does not speak of its target."""
    outcomes = outcomes_of(known, found.known())
    models = {
        target: Predictor.fit(one for one in outcomes if target not in one.evidence.data_sets)
        for target in {pair.target for pair in pairs}
    }
    asked = [one.evidence for one in outcomes_of(pairs, found.known())]
    return {(one.target, one.source): models[one.target].expect(one).epoch_ratio for one in asked}


def gather(*, real: bool, quick: bool, minutes: float, workers: int, folder: Path) -> Found:
    """Run and compute what is missing; on drawn sets everything is made in the folder.

    Quick ones look at a part of each set where no distances are kept.
    """
    runs = rows_of("transfers") if real else Rows(folder / "runs")
    near = rows_of("dsd_distances") if real else Rows(folder / "near")
    scale, baselines = (Scale(), [BASELINE, OTHER_BASELINE]) if real else (DRAWN, [DRAWN_BASELINE])
    transfers.fill(runs, scale, minutes=minutes, workers=workers, folder=None if real else folder)
    if real and quick and not {(kind, name) for kind in KINDS for name in scale.sets} <= _measured(near):
        fill_distances(near := Rows(folder / "near"), scale.sets, baselines, KINDS[:2], most=_QUICK_IMAGES)
    elif not (real and quick):
        for kind in KINDS if real else KINDS[:2]:
            fill_distances(near, scale.sets, baselines[:1] if kind == "embedded" else baselines, (kind,))
    known = list(near)
    return Found(
        [row for row in runs if row["size"] == scale.size and row["target"] in scale.sets],
        {kind: distances_of(known, kind) for kind in KINDS},
        baselines[0],
        scale,
    )


def _measured(near: Rows) -> set[tuple[Kind, str]]:
    return {(row["kind"], row["set"]) for row in near}


def measure(*, quick: bool, minutes: float, workers: int) -> harness.Report:
    """Gather and report; quick reads what is kept, or trains on small drawn sets where nothing is."""
    kept = bool(available(transfers.SETS)) and (torch.cuda.is_available() or any(rows_of("transfers")))
    with tempfile.TemporaryDirectory() as folder:
        found = gather(
            real=kept,
            quick=quick,
            minutes=(0.0 if quick or not torch.cuda.is_available() else minutes) if kept else 10.0,
            workers=workers if kept else 1,
            folder=Path(folder),
        )
    shown = all_figures(found)
    note = f"The baseline is {found.baseline}. {found.unfinished()}"
    if kept:
        note += in_words(shown)
    else:
        note += (
            "No trainings on real sets are kept here, and there is no GPU to run them on: this is of three small drawn "
            "sets, trained on in this run, and says only that everything works."
        )
    if kept and not quick and found.runs:
        note += draw(found)
        keep_starts(known_starts(found), machines_of(found.runs))
        pairs = [pair for pair in found.pairs(MAIN, LITE0) if pair.source != SCRATCH]
        until = (
            f" Trainings end after {found.scale.epochs} epochs, or {found.scale.patience} without a better one, which "
            "is more than the paper's patience of 5 looks at."
        )
        for part, title, table, words in (
            ("epochs", "Epochs by target and start", epochs_table(found), in_all(pairs) + _EPOCHS_NOTE + until),
            ("sources", "The correlation over targets, by source", source_table(found), _SOURCES_NOTE),
        ):
            harness.keep(
                "dsd_correlation", title, harness.Report({}, table, "real", wants_real=True, part=part, note=words)
            )
    return harness.Report(
        figures=shown,
        rows=lines(found),
        data="real" if kept else "synthetic",
        wants_real=True,
        note=note,
        origin=machines_of(found.runs) if found.runs else "",
    )


def known_starts(found: Found) -> list[Outcome]:
    """What the service's first rankings learn from: distances between what a network sees, as it measures them."""
    near = found.foretellers().get(SERVICE)
    return outcomes_of(whole(found.pairs(MAIN)), near) if near else []


_EPOCHS_NOTE = "Epochs to the same accuracy, mean over folds; in brackets points of accuracy above ImageNet's peak."
_SOURCES_NOTE = (
    "Pearson's r of each source over its targets, with EfficientNet-Lite0; the paper's figure 4 has one source."
)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only-table", action="store_true")
    options, rest = parser.parse_known_args(arguments)
    minutes = 0.0 if options.only_table else options.minutes

    def measured(quick: bool) -> harness.Report:
        return measure(quick=quick, minutes=minutes, workers=options.workers)

    harness.main("dsd_correlation", TITLE, measured, rest)


if __name__ == "__main__":
    torch.set_num_threads(2)
    main()
