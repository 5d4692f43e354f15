"""The gradient of a depthwise convolution's weights on a CPU where maps are small: torch's beside ours.

    python -m benchmarks.small_maps [--quick] [--json FILE]

The layers of EfficientNet-Lite0 at 64 px whose results are smaller than their kernel, and whole steps of the default
training with and without our way, by turns, every image being looked at. Both once more as on a processor without
AVX-512 (`ONEDNN_MAX_CPU_ISA=AVX2`, which oneDNN reads when it starts, so that this is a process of its own). One
thread; milliseconds are the processor's, the best of several.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.nn.functional import conv2d

from benchmarks import harness
from benchmarks.few_labels import choose
from seedbed.assets.data.synthetic import draw_leaves
from seedbed.base.run import MemoryRun
from seedbed.methods.learn import small_maps
from seedbed.methods.learn.group import ALONE
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import TrainingRun

TITLE = "Gradients of depthwise convolutions of small maps, on a CPU"
_PROCESSORS = {"as it is": "", "without AVX-512": "AVX2"}
_IMAGES = 64  # of a step: 16 labelled and 48 others


@dataclass(frozen=True)
class Layer:
    """One shape of layer, and how many the network has of it."""

    channels: int
    pixels: int  # of a side, with the zeros around where the stride is 2
    side: int
    stride: int = 1
    layers: int = 1


LAYERS = (
    Layer(480, 4, 5),
    Layer(672, 4, 5, layers=2),
    Layer(672, 7, 5, stride=2),
    Layer(1152, 2, 5, layers=3),
    Layer(1152, 2, 3),
)


def layer_row(layer: Layer, times: int) -> dict[str, Any]:
    """Milliseconds of the convolution and of its weights' gradient, by torch and by us."""
    draws = torch.Generator().manual_seed(0)
    zeros = (layer.side // 2,) * 2 if layer.stride == 1 else (0, 0)
    stride = (layer.stride, layer.stride)
    shape = (_IMAGES, layer.channels, layer.pixels, layer.pixels)
    images = torch.randn(shape, generator=draws).contiguous(memory_format=torch.channels_last)
    weight = torch.randn(layer.channels, 1, layer.side, layer.side, generator=draws)

    def convolved() -> Tensor:
        return conv2d(images, weight, None, stride, zeros, groups=layer.channels)

    gradient = torch.randn(convolved().shape, generator=draws).contiguous(memory_format=torch.channels_last)

    def by_torch() -> Tensor:
        given = gradient, images, weight, None, stride, zeros, (1, 1), False, (0, 0), layer.channels
        found: Tensor = torch.ops.aten.convolution_backward(*given, (False, True, False))[1]
        return found

    def by_us() -> Tensor:
        return small_maps.to_weight(gradient, images, weight, stride, zeros)

    apart = float((by_torch() - by_us()).abs().max() / by_torch().abs().max())
    theirs, ours = _milliseconds(by_torch, times), _milliseconds(by_us, times)
    return {
        "channels": layer.channels,
        "pixels": layer.pixels,
        "side": layer.side,
        "stride": layer.stride,
        "layers": layer.layers,
        "ms of the convolution": _milliseconds(convolved, times),
        "ms by torch": theirs,
        "ms by us": ours,
        "times as fast": theirs / ours,
        "difference": apart,
    }


def steps(turns: int, count: int) -> tuple[float, float]:
    """Milliseconds of a step of the default training without our way and with it."""
    images, labels, classes = draw_leaves(30, seed=0, size=64)
    known, _ = choose(labels, 5, 0)
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainSettings(classes=classes, options={"threshold": 0.0}, device="cpu")
        run = TrainingRun(images, known, settings, MemoryRun(Path(folder)), ALONE)
        run.begin()
        plain, ours = [], []
        for turn in range(2 * turns + 2):
            if turn % 2:
                ours.append(_of_steps(run, count))
            else:
                with mock.patch.object(small_maps, "is_small", return_value=False):
                    plain.append(_of_steps(run, count))
    return min(plain[1:]), min(ours[1:])


def _of_steps(run: TrainingRun, count: int) -> float:
    began = time.process_time()
    for step in range(count):
        run.learner.advance(run.feed.at(step), step)
    return 1e3 * (time.process_time() - began) / count


def _milliseconds(function: Callable[[], Tensor], times: int) -> float:
    """The best of several, after one that is not counted."""
    found = []
    for _ in range(times + 1):
        began = time.process_time()
        function()
        found.append(1e3 * (time.process_time() - began))
    return min(found[1:])


def here(*, quick: bool) -> dict[str, Any]:
    """What this process finds, with the instructions that oneDNN allows itself."""
    turns, count, times = (2, 2, 5) if quick else (5, 10, 20)
    plain, ours = steps(turns, count)
    return {"layers": [layer_row(layer, times) for layer in LAYERS], "step": [plain, ours]}


def measure(*, quick: bool) -> harness.Report:
    """A process for each kind of processor."""
    rows: list[dict[str, Any]] = []
    figures: dict[str, float] = {}
    for name, most in _PROCESSORS.items():
        environment = {**os.environ, **({"ONEDNN_MAX_CPU_ISA": most} if most else {})}
        command = [sys.executable, "-m", "benchmarks.small_maps", "--here", *(["--quick"] if quick else [])]
        ended = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        found = json.loads(ended.stdout.splitlines()[-1])
        rows += [{"processor": name, **row} for row in found["layers"]]
        theirs, ours = (sum(row["layers"] * row[f"ms by {who}"] for row in found["layers"]) for who in ("torch", "us"))
        plain, quick_step = found["step"]
        ending = name.replace(" ", "_").replace("-", "_")
        figures |= {
            f"gradients_times_as_fast_{ending}": theirs / ours,
            f"step_times_as_fast_{ending}": plain / quick_step,
            f"step_ms_{ending}": quick_step,
        }
    note = (
        f"torch {torch.__version__}, one thread, {_IMAGES} images. A step is one of the default training that looks at "
        "every image (threshold 0); the difference is relative to the largest gradient."
    )
    return harness.Report(figures, rows, note=note)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line; `--here` is for the processes that it starts."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--here", action="store_true")
    options, rest = parser.parse_known_args(arguments)
    if options.here:
        torch.set_num_threads(1)
        print(json.dumps(here(quick="--quick" in rest)))
    else:
        harness.main("small_maps", TITLE, lambda quick: measure(quick=quick), rest)


if __name__ == "__main__":
    main()
