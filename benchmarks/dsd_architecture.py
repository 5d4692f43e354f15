"""Whether the distance between a predicted and the true test set tells which network suits a data set.

    python -m benchmarks.dsd_architecture [--quick] [--json FILE]

Figure 6 of the paper: per data set three networks in three folds, trained from ImageNet's weights; the accuracy of each
on the images that it has not seen, and the distance between those images with the labels that it says and with the
true ones. The nearer, the better the network should be. What the networks said is kept with the rows of
`benchmarks.transfers`; the distances are computed here. Where no rows are kept, a network is trained on small drawn
sets for one, two and more epochs, and those stand for three networks.
"""

import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from benchmarks import harness, transfers
from benchmarks.few_labels import Rows, available, machines_of, rows_of
from benchmarks.pictures import picture
from benchmarks.transfers import IMAGENET, LITE0, Scale, pooled
from seedbed.methods.similarity.architecture import prediction_distance
from seedbed.methods.similarity.features import pixel_features

TITLE = "Accuracy of a network, and the distance of the test set that it predicts to the true one"
SMALL = Scale(
    sets=("drawn-012", "drawn-345"),
    few_sets=(),
    architectures=(LITE0,),
    folds=1,
    size=32,
    batch=16,
    rate=5e-4,
    images=120,
)
_QUICK_SETS = 3
_ACROSS = 4  # panels of the picture
EPOCHS = (1, 2, 5)  # of the runs that stand for three networks


@dataclass(frozen=True)
class Judged:
    """One network on one data set, over folds."""

    target: str
    network: str
    accuracies: tuple[float, ...]
    distances: tuple[float, ...]

    @property
    def accuracy(self) -> float:
        """Mean over folds."""
        return float(np.mean(self.accuracies))

    @property
    def distance(self) -> float:
        """Mean over folds."""
        return float(np.mean(self.distances))


def judged(rows: Sequence[Mapping[str, Any]], scale: Scale) -> list[Judged]:
    """Every network that was trained from ImageNet's weights on each set, with the distance of what it said."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if row["start"] == IMAGENET and "said" in row:
            network = row.get("network", row["architecture"])
            found[row["target"], network].append((_accuracy(row, scale), _distance(row, scale)))
    return [Judged(*names, *zip(*values, strict=True)) for names, values in sorted(found.items())]


def _accuracy(row: Mapping[str, Any], scale: Scale) -> float:
    data = pooled(row["target"], scale.size, scale.images)
    truth = data.labels[data.parts(row["fold"])[1]]
    return float((np.array(row["said"]) == truth).mean())


def _distance(row: Mapping[str, Any], scale: Scale) -> float:
    data = pooled(row["target"], scale.size, scale.images)
    judges = data.parts(row["fold"])[1]
    pixels = pixel_features(data.images[judges])
    return prediction_distance(pixels, data.labels[judges], np.array(row["said"]), data.classes)


def comparable(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows from ImageNet's weights of the sets and folds that all networks of the set were trained on, if several.

    Rows may still be coming in, and networks are compared on the same images only.
    """
    from_imagenet = [row for row in rows if row["start"] == IMAGENET and "said" in row]
    of_set, of_fold = defaultdict(set), defaultdict(set)
    for row in from_imagenet:
        of_set[row["target"]].add(row["architecture"])
        of_fold[row["target"], row["fold"]].add(row["architecture"])
    whole = {key for key, networks in of_fold.items() if networks == of_set[key[0]] and len(networks) > 1}
    return [row for row in from_imagenet if (row["target"], row["fold"]) in whole]


def agreement(found: Sequence[Judged]) -> float:
    """Of the pairs of networks on one set, the share (%) whose better one is also the nearer; ties count half."""
    marks = []
    for one, other in combinations(found, 2):
        if one.target == other.target:
            order = (one.accuracy - other.accuracy) * (other.distance - one.distance)
            marks.append(1.0 if order > 0 else 0.5 if order == 0 else 0.0)
    return 100 * float(np.mean(marks)) if marks else 0.0


def single_runs(found: Sequence[Judged]) -> float:
    """The mean over sets of Spearman's rank correlation of accuracy and nearness, each fold of each network a point."""
    values = []
    for target in sorted({one.target for one in found}):
        mine = [one for one in found if one.target == target]
        accuracies = [value for one in mine for value in one.accuracies]
        distances = [-value for one in mine for value in one.distances]
        if len(set(accuracies)) > 1 and len(set(distances)) > 1:
            values.append(float(spearmanr(accuracies, distances).statistic))
    return float(np.mean(values)) if values else 0.0


def best_found(found: Sequence[Judged]) -> float:
    """Of the sets, the share (%) whose nearest network is the most accurate one."""
    hits = []
    for target in sorted({one.target for one in found}):
        mine = [one for one in found if one.target == target]
        nearest = min(mine, key=lambda one: one.distance)
        hits.append(nearest.accuracy == max(one.accuracy for one in mine))
    return 100 * float(np.mean(hits)) if hits else 0.0


def lines(found: Sequence[Judged]) -> list[dict[str, Any]]:
    """A line per set: accuracy and distance of each network."""
    shown = []
    networks = sorted({one.network for one in found})
    for target in sorted({one.target for one in found}):
        mine = {one.network: one for one in found if one.target == target}
        cells = {
            name: f"{100 * mine[name].accuracy:.1f} % at {mine[name].distance:.3f}" if name in mine else ""
            for name in networks
        }
        shown.append({"set": target, **cells, "pairs in order %": f"{agreement(list(mine.values())):.0f}"})
    return shown


def drawing(found: Sequence[Judged]) -> Figure:
    """Figure 6: distance against accuracy, a panel per set and a point per network; better is right and below."""
    targets = sorted({one.target for one in found})
    networks = sorted({one.network for one in found})
    rows = -(-len(targets) // _ACROSS)
    figure = Figure(figsize=(2.6 * _ACROSS, 2.2 * rows), layout="constrained")
    panels = figure.subplots(rows, _ACROSS, squeeze=False).flatten()
    for axes, target in zip(panels, targets, strict=False):
        for number, network in enumerate(networks):
            mine = [one for one in found if (one.target, one.network) == (target, network)]
            axes.scatter(
                [100 * one.accuracy for one in mine], [one.distance for one in mine], color=f"C{number}", label=network
            )
        axes.set_title(target, fontsize=9)
        axes.margins(0.2)
    for axes in panels[len(targets) :]:
        axes.set_visible(False)
    figure.supxlabel("accuracy, %")
    figure.supylabel("distance of the predicted test set")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(networks))
    return figure


def small_runs(folder: Path) -> list[dict[str, Any]]:
    """One network on small drawn sets for more and more epochs, in the place of better and better networks."""
    found = []
    for epochs in EPOCHS:
        scale = replace(SMALL, epochs=epochs)
        for name in scale.sets:
            job = {"architecture": LITE0, "target": name, "fold": 0, "start": IMAGENET, "size": scale.size}
            found.append({**transfers.run(job, scale, folder), "network": f"{epochs} epochs"})
    return found


def measure(*, quick: bool) -> harness.Report:
    """From the kept rows; from small drawn sets where there are none."""
    rows: Sequence[Mapping[str, Any]] = comparable(list(rows_of("transfers")))
    real = bool(rows) and bool(available(transfers.SETS))
    note = ""
    if real:
        scale = Scale()
        if quick:
            kept = sorted({row["target"] for row in rows})[:_QUICK_SETS]
            rows = [row for row in rows if row["target"] in kept and row["fold"] == 0]
            note = f"Quick: {len(kept)} of the sets, one fold. "
        found = judged(rows, scale)
    else:
        with tempfile.TemporaryDirectory() as folder:
            drawn = Rows(Path(folder) / "rows.jsonl")
            for row in small_runs(Path(folder)):
                drawn.append(row)
            rows = list(drawn)
        found = judged(rows, SMALL)
        note = "No trainings on real sets are kept here: one network after more and more epochs on small drawn sets. "
    if real and not quick:
        picture("dsd_architecture", drawing(found))
        note += "Drawn in pictures/dsd_architecture.svg."
    shown = {
        "pairs_in_order_pct": agreement(found),
        "best_network_found_pct": best_found(found),
        "rank_correlation": single_runs(found),
    }
    return harness.Report(
        figures=shown,
        rows=lines(found),
        data="real" if real else "synthetic",
        wants_real=True,
        note=note.strip(),
        origin=machines_of(rows),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    harness.main("dsd_architecture", TITLE, lambda quick: measure(quick=quick), arguments)


if __name__ == "__main__":
    torch.set_num_threads(2)
    main()
