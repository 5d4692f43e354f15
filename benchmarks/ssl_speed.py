"""How fast the semi-supervised trainer steps, beside semilearn 0.3.2 (USB) in the same run.

Both train the same network on the same images with the same batches, by turns (benchmarks/peers/turns.py), and the best
turn of each counts. semilearn runs as it comes, with its own augmentation, loaders, loop and hooks; on a GPU it also
runs with its option for half precision, and the faster of the two is what we are compared with. We run as we come and
compiled, as long runs are, and the faster of the two is compared. Needs `make peers`.

On a machine with a GPU the figures are those of the GPU; else those of the CPU.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from benchmarks import harness
from benchmarks.backbone_time import seconds_in_backbone
from benchmarks.peers.players import ROOT, Lap, Player, compare, loaders, semilearn_command
from seedbed.assets.zoo.builder import Weights, build_backbone

TITLE = "training steps per second beside semilearn"
_ALGORITHMS = ("fixmatch", "freematch")
_CLASSES = 10
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
    """A file of random images, a quarter labelled, for both programs; a step is as fast with any images."""
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
        **{name: getattr(case, name) for name in ("start", "weights", "net", "size", "labelled", "unlabelled")},
        **{name: getattr(case, name) for name in ("warm", "steps", "report_every", "compile")},
        **more,
    }


def row_of(case: Case, algorithm: str, program: str, lap: Lap, against: float | None = None) -> dict[str, Any]:
    """A line of the table."""
    return {
        "algorithm": algorithm,
        "network": case.name,
        "program": program,
        "steps/s": lap.steps_per_s,
        "CPU s per step": lap.cpu_s_per_step,
        "GPU memory (GB)": lap.gpu_gb,
        "times as fast": "" if against is None else lap.steps_per_s / against,
    }


def on_cpu(quick: bool) -> harness.Report:
    """The trainer beside semilearn on this machine's cores."""
    case = CPU_QUICK if quick else CPU
    rows, steps, seconds = [], [], []
    with images_of(case) as images, closing(semilearn()) as peer, closing(ours()) as own:
        for algorithm in _ALGORITHMS:
            job = job_of(case, algorithm, images)
            them, us = compare({"semilearn": (peer, job), "seedbed": (own, job)}, **case.pace).values()
            rows.append(row_of(case, algorithm, "semilearn", them))
            rows.append(row_of(case, algorithm, "seedbed", us, them.steps_per_s))
            steps.append(us.steps_per_s / them.steps_per_s)
            seconds.append(them.cpu_s_per_step / us.cpu_s_per_step)
    figures = {"cpu_steps_vs_semilearn": min(steps), "cpu_seconds_vs_semilearn": min(seconds)}
    return harness.Report(figures, rows, note=_note(f"{torch.get_num_threads()} threads each, in full precision."))


def on_gpu(quick: bool) -> harness.Report:
    """The trainer beside semilearn on this machine's GPU, and what its steps spend outside the network."""
    vit, lite0 = (replace(GPU, turns=1), replace(LITE0, turns=2)) if quick else (GPU, LITE0)
    rows, ratios, memory = _vit_beside_semilearn(vit)
    plain, compiled = _lite0_as_it_is_and_compiled(lite0)
    rows.append(row_of(lite0, "freematch", "seedbed", plain, _EAGER_LITE0))
    rows.append(row_of(lite0, "freematch", "seedbed, compiled", compiled, _EAGER_LITE0))
    as_it_is = max(row["steps/s"] for row in rows if (row["network"], row["program"]) == (vit.name, "seedbed"))
    rates = {vit: as_it_is, lite0: plain.steps_per_s}  # the network by itself is not compiled either
    shares = [100 * (1 - rate * _seconds_in_backbone(case)) for case, rate in rates.items()]
    figures = {
        "gpu_steps_vs_semilearn": min(ratios),
        "lite0_steps_per_s": max(plain.steps_per_s, compiled.steps_per_s),
        "share_outside_backbone_pct": max(shares),
        "share_outside_backbone_vit_pct": shares[0],
        "share_outside_backbone_lite0_pct": shares[1],
        "vit_small_peak_gb": memory,
    }
    loading = f"semilearn loads images with {3 * loaders(vit.unlabelled, vit.size)} processes"
    about = f"{torch.cuda.get_device_name()}; {loading}; Lite0 beside {_EAGER_LITE0:.0f} steps/s of a plain eager loop."
    return harness.Report(figures, rows, note=_note(about), part="on a GPU")


def _vit_beside_semilearn(case: Case) -> tuple[list[dict[str, Any]], list[float], float]:
    """Rows, how many times as fast, and the peak of our memory in GB.

    We are compiled beside the faster of the two: a run of this network that is worth the name has thousands of steps.
    """
    rows: list[dict[str, Any]] = []
    ratios, memory = [], []
    pairs = (("semilearn", False, "seedbed"), ("semilearn, half precision", True, "seedbed, compiled"))
    with images_of(case) as images, closing(semilearn()) as peer, closing(ours()) as own:
        for algorithm in _ALGORITHMS:
            theirs, mine = {}, {}
            for program, half, us in pairs:
                compiled = replace(case, compile="always" if half else "auto")
                job = job_of(compiled, algorithm, images, workers=loaders(case.unlabelled, case.size), amp=half)
                laps = compare({program: (peer, job), us: (own, job)}, **case.pace)
                theirs[program], mine[us] = laps[program], laps[us]
            against = max(lap.steps_per_s for lap in theirs.values())
            rows += [row_of(case, algorithm, name, lap) for name, lap in theirs.items()]
            rows += [row_of(case, algorithm, name, lap, against) for name, lap in mine.items()]
            ratios.append(max(lap.steps_per_s for lap in mine.values()) / against)
            memory += [lap.gpu_gb for lap in mine.values()]
    return rows, ratios, max(memory)


def _lite0_as_it_is_and_compiled(case: Case) -> tuple[Lap, Lap]:
    """As a run of a few hundred steps does it, and as one of thousands does, which wins back the time to compile."""
    laps = []
    with images_of(case) as images:
        for one in (case, replace(case, compile="always")):
            with closing(ours()) as player:
                job = job_of(one, "freematch", images)
                laps.append(compare({"seedbed": (player, job)}, **one.pace)["seedbed"])
    return laps[0], laps[1]


def _seconds_in_backbone(case: Case) -> float:
    return seconds_in_backbone(case.start, case.weights, case.size, case.labelled, case.unlabelled)


def _note(about: str) -> str:
    return f"torch {torch.__version__}; {about}"


def measure(quick: bool) -> harness.Report:
    """The figures of this machine's fastest device."""
    return on_gpu(quick) if torch.cuda.is_available() else on_cpu(quick)


if __name__ == "__main__":
    harness.main("ssl_speed", TITLE, measure)
