"""How fast the semi-supervised trainer steps, beside semilearn 0.3.2 (USB) in the same run.

Both train the same network on the same images with the same batches, by turns (benchmarks/peers/turns.py), and the best
turn of each counts. semilearn runs as it comes, with its own augmentation, loaders, loop and hooks; on a GPU it also
runs with its option for half precision, and the faster of the two is what we are compared with. We run as we come and
compiled, as long runs are, and the faster of the two is compared. On a CPU we do not look at strong views that do not
count, so that a step takes the less time the fewer images the model is sure of: what is compared there has it sure of
every image, and how we come, with images of noise, stands beside it. Needs `make peers`.

    python -m benchmarks.ssl_speed [--quick] [--json FILE] [--minutes M]

On a machine with a GPU the figures are those of the GPU; else those of the CPU. What is measured is kept as it is found
(benchmarks.few_labels has where): within `--minutes` as much is done as fits, a later call at the same commit does what
is missing, and every report is of all that there is. A comparison is one row: both sides of it are of the same minutes.
"""

import argparse
import gc
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from benchmarks import harness
from benchmarks.backbone_time import seconds_in_backbone
from benchmarks.few_labels import Rows, commit, machines_of, rows_of
from benchmarks.filling import fill
from benchmarks.peers.players import ROOT, Lap, Player, compare, loaders, semilearn_command
from seedbed.assets.zoo.builder import Weights, build_backbone

TITLE = "training steps per second beside semilearn"
_ALGORITHMS = ("fixmatch", "freematch")
_CLASSES = 10
_CPU = "cpu"
_NETWORKS = ("vit", "lite0")
_EAGER_LITE0 = 24.0  # steps/s of a plain eager bf16 loop on the same GPU: what we want three times of


@dataclass(frozen=True)
class Case:
    """What is trained: a network, the size of the images, the batches; and for how long."""

    start: str  # our name of the network
    size: int
    labelled: int
    unlabelled: int
    warm: int  # steps before the first turn
    turn: int  # steps of a turn
    turns: int
    lead: int = 0  # steps at the start of a turn that are not measured
    weights: Weights = "none"
    net: str = ""  # semilearn's name of it
    net_options: tuple[tuple[str, int], ...] = ()
    report_every: int = 1
    images: int = 512
    compile: Literal["auto", "always"] = "auto"

    @property
    def name(self) -> str:
        """For the table."""
        return f"{self.start.removesuffix('_224')}, {self.size} px, {self.labelled} + {self.unlabelled}"

    @property
    def pace(self) -> dict[str, int]:
        """How the programs take turns."""
        return {"turns": self.turns, "lead": self.lead, "steps": self.turn}

    @property
    def steps(self) -> int:
        """More than will be asked for, so that no turn meets the end of the run."""
        return 2 * (self.warm + (self.lead + self.turn) * self.turns)


CPU = Case("vit_tiny", 32, 8, 8, warm=2, turn=5, turns=5, net="vit_tiny_patch2_32")
CPU_QUICK = replace(CPU, warm=1, turn=1, turns=2)
GPU = Case(
    "vit_small_patch16_224",
    96,
    64,
    448,
    warm=20,
    turn=20,
    turns=2,
    lead=40,
    net="vit_small_patch16_224",
    net_options=(("img_size", 96),),
    report_every=10,
    images=4096,
)
LITE0 = Case(
    "efficientnet_lite0.imagenet",
    128,
    64,
    256,
    warm=20,
    turn=100,
    turns=3,
    weights="pretrained",
    report_every=10,
    images=4096,
)


def ours() -> Player:
    """Our trainer."""
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return Player([sys.executable, "-m", "benchmarks.peers.seedbed_steps"], {"PYTHONPATH": os.pathsep.join(paths)})


def semilearn() -> Player:
    """The peer."""
    return Player(*semilearn_command("semilearn_steps.py"))


@contextmanager
def images_of(case: Case) -> Iterator[str]:
    """A file of random images, a quarter labelled, for both programs."""
    draws = np.random.default_rng(0)
    images = draws.integers(0, 256, (case.images, case.size, case.size, 3), dtype=np.uint8)
    truth = np.arange(case.images) % _CLASSES
    labelled = max(case.images // 4 // _CLASSES, 1) * _CLASSES
    labels = np.where(np.arange(case.images) < labelled, truth, -1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "images.npz"
        np.savez(path, images=images, truth=truth, labels=labels)
        yield str(path)


def job_of(case: Case, algorithm: str, images: str, **more: Any) -> dict[str, Any]:
    """A case as an order."""
    network = build_backbone(case.start, _CLASSES, weights="none", size=case.size).network
    return {
        "algorithm": algorithm,
        "images": images,
        "labels": max(case.images // 4 // _CLASSES, 1) * _CLASSES,
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
        "net_options": dict(case.net_options),
        "amp": False,
        "workers": 1,
        "options": {},
        **{name: getattr(case, name) for name in ("start", "weights", "net", "size", "labelled", "unlabelled")},
        **{name: getattr(case, name) for name in ("warm", "steps", "report_every", "compile")},
        **more,
    }


@dataclass(frozen=True)
class Pair:
    """Two programs that take turns: their names, and what is asked of them."""

    peer: str
    own: str
    half: bool = False  # semilearn in half precision, beside us compiled
    sure: bool = False  # ours is sure of every image, and so looks at all of them, as semilearn does


PLAIN = Pair("semilearn", "seedbed")
SURE = Pair("semilearn", "seedbed, sure of all", sure=True)
ALL_SURE: Mapping[str, Mapping[str, float]] = {"fixmatch": {"threshold": 0.0}, "freematch": {"memory": 1.0}}
# we are compiled beside the faster of theirs: a run of a ViT that is worth the name has thousands of steps
FASTEST = Pair("semilearn, half precision", "seedbed, compiled", half=True)


@dataclass(frozen=True)
class Scale:
    """What is measured, on which device; the backbone by itself and Lite0 only where there is a GPU."""

    device: str
    vit: Case
    pairs: tuple[Pair, ...]
    lite0: Case | None = None


def scale_of(*, quick: bool) -> Scale:
    """What this machine's fastest device is asked for."""
    if not torch.cuda.is_available():
        return Scale(_CPU, CPU_QUICK if quick else CPU, (PLAIN, SURE))
    gpu = torch.cuda.get_device_name()
    if quick:
        return Scale(gpu, replace(GPU, turns=1), (PLAIN, FASTEST), replace(LITE0, turns=2))
    return Scale(gpu, GPU, (PLAIN, FASTEST), LITE0)


def jobs_of(scale: Scale, at: str) -> Iterator[dict[str, Any]]:
    """What is to be measured, what is known soonest first; `at` is the commit that is measured."""
    common = {"device": scale.device, "commit": at}
    if scale.lite0:
        for pair in scale.pairs:
            yield {**common, "what": "alone", "network": scale.lite0.name, "algorithm": "freematch", "own": pair.own}
            for case in (scale.vit, scale.lite0):
                yield {**common, "what": "backbone", "network": case.name, "own": pair.own}
    for pair in reversed(scale.pairs):
        for algorithm in _ALGORITHMS:
            yield {**common, "what": "beside", "network": scale.vit.name, "algorithm": algorithm, "own": pair.own}


class Bench:
    """Measures one job after another; the programs are started when they are first needed, and once."""

    def __init__(self, scale: Scale) -> None:
        self._scale = scale
        self._open = ExitStack()
        self._players: dict[str, Player] = {}
        self._images: dict[Case, str] = {}

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def run(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """The row of a job."""
        found = {"beside": self._beside, "alone": self._alone, "backbone": self._backbone}[job["what"]](job)
        return {**job, **found}

    def _beside(self, job: Mapping[str, Any]) -> dict[str, Any]:
        case, pair = self._scale.vit, next(pair for pair in self._scale.pairs if pair.own == job["own"])
        workers = loaders(case.unlabelled, case.size) if self._scale.lite0 else 1
        compiled = replace(case, compile="always" if pair.half else "auto")
        options = dict(ALL_SURE[job["algorithm"]]) if pair.sure else {}
        order = job_of(compiled, job["algorithm"], self._file(case), workers=workers, amp=pair.half, options=options)
        sides = {"theirs": (self._player("semilearn"), order), "ours": (self._player("seedbed"), order)}
        laps = self._compared(sides, case)
        return {"peer": pair.peer, "loaders": 3 * workers, **{side: asdict(lap) for side, lap in laps.items()}}

    def _alone(self, job: Mapping[str, Any]) -> dict[str, Any]:
        assert self._scale.lite0 is not None
        case = replace(self._scale.lite0, compile="always" if "compiled" in job["own"] else "auto")
        order = job_of(case, job["algorithm"], self._file(self._scale.lite0))
        self._close("semilearn")  # what it keeps of the GPU is not free
        return {"ours": asdict(self._compared({"ours": (self._player("seedbed"), order)}, case)["ours"])}

    def _backbone(self, job: Mapping[str, Any]) -> dict[str, Any]:
        case = next(case for case in (self._scale.vit, self._scale.lite0) if case and case.name == job["network"])
        self._close("semilearn")
        self._close("seedbed")
        images = case.size, case.labelled, case.unlabelled
        seconds = seconds_in_backbone(case.start, case.weights, *images, compile="compiled" in job["own"])
        gc.collect()
        torch.cuda.empty_cache()  # the programs that come next are not to miss it
        return {"seconds": seconds}

    def _compared(self, sides: Mapping[str, tuple[Player, dict[str, Any]]], case: Case) -> dict[str, Lap]:
        """A program that fell over is not asked again: the next job has a new one."""
        try:
            return compare(sides, **case.pace)
        except Exception:
            for name in list(self._players):
                self._close(name)
            raise

    def _player(self, name: str) -> Player:
        if name not in self._players:
            self._players[name] = semilearn() if name == "semilearn" else ours()
            self._open.callback(self._close, name)
        return self._players[name]

    def _close(self, name: str) -> None:
        if player := self._players.pop(name, None):
            player.close()

    def _file(self, case: Case) -> str:
        if case not in self._images:
            self._images[case] = self._open.enter_context(images_of(case))
        return self._images[case]


def newest(rows: Iterable[Mapping[str, Any]], scale: Scale) -> list[Mapping[str, Any]]:
    """Of every job of this scale the last row, in the order of the jobs."""
    last = {_key(row): row for row in rows}
    return [last[key] for job in jobs_of(scale, "") if (key := _key(job)) in last]


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("device", "what", "network", "algorithm", "own"))


def table(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A line per program; ours says how many times as fast it is as a plain loop, or as what the figures divide by."""
    lines = []
    for row in rows:
        if row["what"] == "beside":
            turn = [row] if row["device"] == _CPU else rows
            lines.append(_line(row, row["peer"], row["theirs"]))
            lines.append(_line(row, row["own"], row["ours"], _fastest(turn, row["algorithm"], "theirs")))
        elif row["what"] == "alone":
            lines.append(_line(row, row["own"], row["ours"], _EAGER_LITE0))
    return lines


def _line(
    row: Mapping[str, Any], program: str, lap: Mapping[str, float], against: float | None = None
) -> dict[str, Any]:
    return {
        "algorithm": row["algorithm"],
        "network": row["network"],
        "program": program,
        "steps/s": lap["steps_per_s"],
        "CPU s per step": lap["cpu_s_per_step"],
        "GPU memory (GB)": lap["gpu_gb"],
        "times as fast": "" if against is None else lap["steps_per_s"] / against,
    }


def _fastest(rows: Sequence[Mapping[str, Any]], algorithm: str, side: str) -> float:
    """The steps per second of the fastest of one side's programs."""
    beside = [row for row in rows if row["what"] == "beside" and row["algorithm"] == algorithm]
    return max(float(row[side]["steps_per_s"]) for row in beside)


def figures(rows: Sequence[Mapping[str, Any]], scale: Scale) -> dict[str, float]:
    """What claims rest on; a figure is there when every row that it needs is."""
    beside = [row for row in rows if row["what"] == "beside"]
    found: dict[str, float] = {}
    if len(beside) == len(_ALGORITHMS) * len(scale.pairs):
        if scale.lite0 is None:
            return _on_a_cpu(beside)
        ratios = [_fastest(rows, name, "ours") / _fastest(rows, name, "theirs") for name in _ALGORITHMS]
        found["gpu_steps_vs_semilearn"] = min(ratios)
        found["vit_small_peak_gb"] = max(row["ours"]["gpu_gb"] for row in beside)
    if alone := [row["ours"]["steps_per_s"] for row in rows if row["what"] == "alone"]:
        found["lite0_steps_per_s"] = max(alone)
    return found | _shares(rows, scale)


def _on_a_cpu(beside: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The smallest ratios to semilearn: sure of all images, and as we come."""
    found = {}
    for own, words in ((SURE.own, ""), (PLAIN.own, "as_it_comes_")):
        both = [(row["ours"], row["theirs"]) for row in beside if row["own"] == own]
        found[f"cpu_steps_{words}vs_semilearn"] = min(
            ours["steps_per_s"] / theirs["steps_per_s"] for ours, theirs in both
        )
        found[f"cpu_seconds_{words}vs_semilearn"] = min(
            theirs["cpu_s_per_step"] / ours["cpu_s_per_step"] for ours, theirs in both
        )
    return found


def _shares(rows: Sequence[Mapping[str, Any]], scale: Scale) -> dict[str, float]:
    """The part of a step that is not the network's, in the quickest way in which both were measured; last of both."""
    shares = {}
    for name, case in zip(_NETWORKS, (scale.vit, scale.lite0), strict=True):
        own = [row for row in rows if case and row["network"] == case.name]
        inside = {row["own"]: row["seconds"] for row in own if row["what"] == "backbone"}
        steps = [(row["ours"]["steps_per_s"], row["own"]) for row in own if "ours" in row and row["own"] in inside]
        if steps:
            most, way = max(steps)
            shares[f"share_outside_backbone_{name}_pct"] = 100 * (1 - most * inside[way])
    return shares | ({"share_outside_backbone_pct": max(shares.values())} if len(shares) == len(_NETWORKS) else {})


def report_of(rows: Sequence[Mapping[str, Any]], scale: Scale) -> harness.Report:
    """What was found, and what is missing."""
    left = len(list(jobs_of(scale, ""))) - len(rows)
    missing = f" {left} of the measurements are missing: another call makes them." if left else ""
    if scale.lite0 is None:
        about = (
            f"{torch.get_num_threads()} threads each, in full precision. '{PLAIN.own}' is how we come, and looks at no "
            "strong views that do not count; the images are noise, of which other shares count than of real ones. "
            f"'{SURE.own}' looks at all of them, and is what is compared with semilearn."
        )
    else:
        used = max((row["loaders"] for row in rows if row["what"] == "beside"), default=0)
        loading = f"semilearn loads images with {used} processes"
        about = f"{scale.device}; {loading}; Lite0 beside {_EAGER_LITE0:.0f} steps/s of a plain eager loop."
    return harness.Report(
        figures(rows, scale),
        table(rows),
        note=f"torch {torch.__version__}; {about}{missing}",
        part="on a GPU" if scale.lite0 else "",
        origin=machines_of(rows) if rows else "",
    )


def measure(scale: Scale, rows: Rows, *, minutes: float) -> harness.Report:
    """Measure what is missing as far as time allows, and report all that there is."""
    with Bench(scale) as bench:
        fill(rows, jobs_of(scale, commit()), bench.run, _told, minutes=minutes)
    return report_of(newest(rows, scale), scale)


def _told(row: Mapping[str, Any]) -> str:
    if row["what"] == "backbone":
        return f"{row['network']}: {row['own']} {1e3 * row['seconds']:.2f} ms in the network alone"
    beside = f", {row['peer']} {row['theirs']['steps_per_s']:.3g}" if row["what"] == "beside" else ""
    return f"{row['algorithm']}, {row['network']}: {row['own']} {row['ours']['steps_per_s']:.3g} steps/s{beside}"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=60.0)
    options, rest = parser.parse_known_args(arguments)

    def measured(quick: bool) -> harness.Report:
        scale = scale_of(quick=quick)
        if not quick:
            return measure(scale, rows_of("ssl_speed"), minutes=options.minutes)
        with tempfile.TemporaryDirectory() as folder:
            return measure(scale, Rows(Path(folder) / "rows.jsonl"), minutes=options.minutes)

    harness.main("ssl_speed", TITLE, measured, rest)


if __name__ == "__main__":
    main()
