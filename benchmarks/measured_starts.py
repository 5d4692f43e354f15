"""What starts from other data sets' weights brought, from the rows of `transfers`, beside how far apart the sets are.

The distances are computed here, on a CPU, and kept as rows of their own; trainings are read from the rows of
`transfers`. Both are made on the spot where there are none and the sets are small.
"""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.few_labels import Rows
from benchmarks.transfers import DRAWN, IMAGENET, SCRATCH, pooled
from seedbed.assets.zoo.measured import FILE
from seedbed.methods.label.embed import CARD, SIZE, embed
from seedbed.methods.similarity.dsd import dataset_distance
from seedbed.methods.similarity.evidence import (
    PATIENCE,
    WITHIN,
    Evidence,
    Outcome,
    differences,
    matched_epochs,
    reached_epochs,
)
from seedbed.methods.similarity.features import SIDE, pixel_features, pixel_space
from seedbed.methods.similarity.otdd import DSD, Otdd
from seedbed.methods.similarity.signature import Signature, signature_of
from seedbed.methods.similarity.units import UnitSettings

BASELINE, OTHER_BASELINE = "tiny-imagenet", "imagenet-sample"  # that stand for ImageNet, one after the other
Kind = Literal["modified", "plain", "without noise", "embedded"]
Matching = Literal["0.1 %", "one standard error", "reached"]
_HOW: Mapping[Kind, Otdd] = {  # the paper's on pixels, one unit by the public definition, and the service's
    "modified": Otdd(),
    "plain": Otdd("reference"),
    "without noise": DSD,
    "embedded": DSD,
}
_PIXELS = 96
_LOOKED_AT = 64  # px that images are shown to the network with, as the service shows them to compare data sets
_OF_DRAWN = (32, 96)  # pixels and images of the drawn sets that small runs are on


@dataclass(frozen=True)
class Pair:
    """One start on one target with one network, over all folds."""

    architecture: str
    source: str
    target: str
    epochs: tuple[int, ...]  # of each fold, at the same accuracy
    baseline_epochs: tuple[int, ...]
    gain_points: float
    scores: Mapping[str, float]  # less those of ImageNet's weights
    images: int
    source_images: int = 0  # 0: not known

    @property
    def ratio(self) -> float:
        """Equation 3, epochs averaged over folds."""
        return sum(self.epochs) / sum(self.baseline_epochs)


def pairs_of(rows: Sequence[Mapping[str, Any]], matching: Matching = "one standard error") -> list[Pair]:
    """Every start but ImageNet's and its epochs against ImageNet's, on the folds that have both."""
    runs = {(row["architecture"], row["target"], row["start"], row["fold"]): row for row in rows}
    sizes = _sizes(rows)
    grouped: dict[tuple[str, str, str], list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = defaultdict(list)
    for (architecture, target, start, fold), row in sorted(runs.items()):
        baseline = runs.get((architecture, target, IMAGENET, fold))
        if start != IMAGENET and baseline:
            grouped[architecture, start, target].append((row, baseline))
    pairs = [_pair(*names, both, matching) for names, both in grouped.items()]
    return [replace(pair, images=sizes[pair.target], source_images=sizes.get(pair.source, 0)) for pair in pairs]


def _sizes(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Images that a network learns from on each set, mean over folds: these differ a little."""
    found: dict[str, dict[int, int]] = defaultdict(dict)
    for row in rows:
        found[row["target"]][row["fold"]] = int(row["images"])
    return {target: round(float(np.mean(list(folds.values())))) for target, folds in found.items()}


def _pair(
    architecture: str,
    source: str,
    target: str,
    folds: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
    matching: Matching,
) -> Pair:
    matched = [_matched(row, baseline, matching) for row, baseline in folds]
    mine, other = zip(*matched, strict=True)
    gains = [100 * (max(row["curve"]) - max(baseline["curve"])) for row, baseline in folds]
    better = [differences(row["scores"], baseline["scores"]) for row, baseline in folds]
    scores = {name: float(np.mean([each[name] for each in better])) for name in better[0]}
    return Pair(architecture, source, target, mine, other, float(np.mean(gains)), scores, int(folds[0][0]["images"]))


def _matched(row: Mapping[str, Any], baseline: Mapping[str, Any], matching: Matching) -> tuple[int, int]:
    """Epochs of both to the same accuracy; from scratch there may be no such epoch, and all of them count.

    "reached" is not the paper's way, which compares the best epochs of two curves; see `reached_epochs`.
    """
    peak = max(baseline["curve"])
    error = float(np.sqrt(peak * (1 - peak) / baseline["judges"]))
    if matching == "reached":
        return reached_epochs(row["curve"], baseline["curve"], judges=baseline["judges"])
    within = WITHIN if matching == "0.1 %" else max(WITHIN, error)
    if row["start"] == SCRATCH and max(row["curve"]) < peak - within:
        return len(row["curve"]), matched_epochs(row["curve"], baseline["curve"], patience=PATIENCE, within=within)[1]
    return matched_epochs(row["curve"], baseline["curve"], patience=PATIENCE, within=within)


def repeatability(pairs: Sequence[Pair]) -> float:
    """The correlation of log ratios between folds: what nothing that foretells one of them can surpass by much."""
    logs = np.array([np.log(np.array(pair.epochs) / np.array(pair.baseline_epochs)) for pair in whole(pairs)])
    if len(logs) < 2 or logs.shape[1] < 2 or (logs.std(axis=0) < 1e-9).any():
        return 0.0
    between = np.corrcoef(logs.T)
    return float(between[np.triu_indices(len(between), 1)].mean())


def attainable(pairs: Sequence[Pair]) -> float:
    """The correlation that can be expected of who foretells the truth, with means over folds (Spearman and Brown)."""
    repeats, folds = max(0.0, repeatability(pairs)), max((len(pair.epochs) for pair in pairs), default=1)
    return float(np.sqrt(folds * repeats / (1 + (folds - 1) * repeats)))


def whole(pairs: Sequence[Pair]) -> list[Pair]:
    """Those that were measured on all folds: the others are mostly chance."""
    most = max((len(pair.epochs) for pair in pairs), default=0)
    return [pair for pair in pairs if len(pair.epochs) == most]


def outcomes_of(pairs: Sequence[Pair], ratios: Mapping[tuple[str, str], float]) -> list[Outcome]:
    """What a predictor learns from: pairs with their evidence; `ratios` are by (target, source)."""
    return [
        Outcome(
            Evidence(
                target=pair.target,
                source=pair.source,
                ratio=ratios[pair.target, pair.source],
                scores=pair.scores,
                source_images=pair.source_images,
                target_images=pair.images,
            ),
            epoch_ratio=pair.ratio,
            gain_points=pair.gain_points,
            architecture=pair.architecture,
        )
        for pair in pairs
        if pair.source != SCRATCH
    ]


def keep_starts(outcomes: Sequence[Outcome], machines: str, path: Path = FILE) -> Path:
    """Write what was measured into the package: rankings learn from it where nothing was measured yet."""
    ordered = sorted((one.to_json() for one in outcomes), key=lambda one: json.dumps(one, sort_keys=True))
    text = json.dumps({"measured": machines, "starts": [_rounded(one) for one in ordered]}, indent=1)
    path.write_text(f"{text}\n", encoding="utf-8")
    return path


def _rounded(value: Any) -> Any:
    """Five digits are more than was measured."""
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    return float(f"{value:.5g}") if isinstance(value, float) else value


def fill_distances(
    rows: Rows, sets: Sequence[str], baselines: Sequence[str], kinds: Sequence[Kind], *, most: int = 10**6
) -> None:
    """The distances between all sets, and to those that stand for ImageNet, that have no row yet.

    `most` images of each set are looked at.
    """
    for kind in kinds:
        for place, name in enumerate(sets):
            others = [*sets[place + 1 :], *baselines]
            job = {"kind": kind, "set": name, "others": others}
            if rows.done(job):
                continue
            began = time.monotonic()
            how = _HOW[kind]
            ours = _signature(name, kind, most)
            found = {other: round(dataset_distance(ours, _signature(other, kind, most), how), 5) for other in others}
            rows.append({**job, "distances": found, "seconds": round(time.monotonic() - began, 2)})


def distances_of(rows: Sequence[Mapping[str, Any]], kind: Kind) -> dict[tuple[str, str], float]:
    """Distances by (one set, another), both ways."""
    found = {}
    for row in rows:
        if row["kind"] == kind:
            for other, value in row["distances"].items():
                found[row["set"], other] = found[other, row["set"]] = float(value)
    return found


def ratios_of(distances: Mapping[tuple[str, str], float], baseline: str = BASELINE) -> dict[tuple[str, str], float]:
    """Equation 4 by (target, source): the distance to a source over that to the set that stands for ImageNet."""
    return {
        (target, source): value / distances[target, baseline]
        for (target, source), value in distances.items()
        if (target, baseline) in distances and source != target
    }


@lru_cache(maxsize=32)
def _signature(name: str, kind: Kind, most: int) -> Signature:
    features, labels, classes = _features(name, kind, most)
    settings = UnitSettings(stairs=((1, 1),)) if kind == "plain" else UnitSettings()
    space = f"{CARD}@{SIZE}" if kind == "embedded" else pixel_space()
    return signature_of(features, labels, classes, name=name, space=space, settings=settings)


def _features(name: str, kind: Kind, most: int) -> tuple[NDArray[Any], NDArray[np.int64], tuple[str, ...]]:
    side = _LOOKED_AT if kind == "embedded" else _PIXELS
    whole = pooled(name, *(_OF_DRAWN if name.startswith(DRAWN) else (side, most)))
    look: Callable[[NDArray[np.uint8]], NDArray[Any]] = embed if kind == "embedded" else _pixels
    return look(whole.images), whole.labels, whole.classes


def _pixels(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return pixel_features(images, SIDE)
