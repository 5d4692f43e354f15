"""Several ranks: do they compute what one does, and how much faster are they?

Two gloo ranks with one thread each train ViT-tiny (patches of 2 pixels) with FreeMatch. The gradient of every algorithm
on a global batch is compared with that of one process. Then weak and strong scaling are timed in the layout of
HARVEST's figures 9 and 10. Batches have as many unlabelled as labelled images; an epoch is a pass over 1,024 unlabelled
images, and its seconds are those of a step times its steps.

`--gpu [--minutes M]` asks a machine with one GPU for what more of them would cost: see `benchmarks.scaling_gpu`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import harness
from seedbed.base.registry import Registry
from seedbed.methods.learn.settings import TrainSettings

TITLE = "two ranks beside one: gradients, weak and strong scaling"
GPU_TITLE = "scaling to 16 GPUs, projected from one"
EPOCH = 1024  # unlabelled images
BATCHES = (32, 64)
RANKS = 2
GPU: Registry[Any] = Registry("mode", {"measure": "benchmarks.scaling_gpu:measure"})  # torch comes with it
_NOTE = """\
Seconds are those of the best lap, with one thread per rank. Two processes that do not talk at all, on the same two
cores, are {ceiling} times as fast as one: what is lost against that is what the ranks cost, and what is gained is
chance. HARVEST reports on 16 A100
GPUs: weak 14.84 (batch 32) and 15.43 (64), strong 8 and 10.51."""


def measure(quick: bool) -> harness.Report:
    """Two ranks on this machine's cores."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "ask.json").write_text(json.dumps(_ask(quick=quick)))
        _run_ranks(folder)
        found = json.loads((folder / "found.json").read_text())
    seconds = {int(batch): times for batch, times in found["seconds"].items()}
    ceilings = [RANKS * times["alone"] / times["apart"] for times in seconds.values()]
    note = _NOTE.format(ceiling=" and ".join(f"{ceiling:.2f}" for ceiling in ceilings))
    differences = ", ".join(f"{name} {value:.1e}" for name, value in found["differences"].items())
    return harness.Report(
        {"max_gradient_difference": max(found["differences"].values()), **_figures(seconds)},
        list(_rows(seconds)),
        note=f"{note}\n\nLargest difference of a gradient, relative to the largest gradient: {differences}.",
    )


def _run_ranks(folder: Path) -> None:
    together = ["--standalone", "--nproc-per-node", str(RANKS), "--max-restarts", "0"]
    command = [sys.executable, "-m", "torch.distributed.run", *together, "-m", "benchmarks.scaling_rank", str(folder)]
    subprocess.run(command, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})  # what they found is what counts


def _ask(*, quick: bool) -> dict[str, Any]:
    """What the ranks are to find out; the quick run has smaller images and fewer steps."""
    common: dict[str, Any] = {"classes": ("a", "b", "c", "d"), "start": "vit_tiny", "weights": "none"}
    common |= {"size": 8 if quick else 32, "learning_rate": 1e-4, "held_out": 0.0, "device": "cpu"}
    compared = TrainSettings(**common, steps=2 if quick else 3, labelled_batch=8, unlabelled_batch=8)
    timed = TrainSettings(**common, algorithm="freematch", steps=1000)
    return {
        "compared": compared.to_json(),
        "timed": timed.to_json(),
        "batches": BATCHES,
        "pace": {"laps": 2 if quick else 5, "steps": 1},
    }


def _figures(seconds: Mapping[int, Mapping[str, float]]) -> dict[str, float]:
    figures = {}
    for batch, times in seconds.items():
        figures[f"weak_speedup_{batch}"] = RANKS * times["alone"] / times["weak"]
        figures[f"strong_speedup_{batch}"] = times["alone"] / times["strong"]
        figures[f"two_apart_{batch}"] = RANKS * times["alone"] / times["apart"]
    return figures


def _rows(seconds: Mapping[int, Mapping[str, float]]) -> Iterator[dict[str, Any]]:
    for scaling, noun in (("weak", "local"), ("strong", "global")):
        for batch, times in seconds.items():
            alone = times["alone"] * EPOCH / batch
            together = times[scaling] * EPOCH / (batch * RANKS if scaling == "weak" else batch)
            for ranks, epoch in ((1, alone), (RANKS, together)):
                row = {"scaling": scaling, "batch": f"{noun} {batch}", "ranks": ranks}
                yield {**row, "seconds per epoch": epoch, "speed-up": alone / epoch}


def main() -> None:
    """With --gpu the projection, else two ranks on the CPU."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--minutes", type=float, default=60.0)
    options, rest = parser.parse_known_args()
    if options.gpu:
        harness.main("scaling_gpu", GPU_TITLE, partial(GPU.get("measure"), minutes=options.minutes), rest)
    else:
        harness.main("scaling", TITLE, measure, rest)


if __name__ == "__main__":
    main()
