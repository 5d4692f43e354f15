"""Distances between data sets on a GPU, beside the same on the CPU of the same machine.

    python -m benchmarks.otdd_gpu [--quick] [--json FILE]

Both definitions, both label distances and both kinds of transport, on the largest inputs of a recorded run of OTDD's
reference implementation, 2,000 colour images each. What is exact is solved on the CPU either way: there a GPU finds the
costs only. Needs a GPU, and neither POT nor a server.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any, get_args

import torch

from benchmarks import harness
from benchmarks.otdd_inputs import RGB, ready, timed
from seedbed.methods.similarity.otdd import Definition, LabelDistance, Otdd, Outer

TITLE = "The distance between two labelled data sets on a GPU, beside a CPU"


def rows_of(pair: tuple[str, str], device: str, times: int) -> Iterator[dict[str, Any]]:
    """A row for each way to find the distance of two data sets."""
    ours, theirs = (ready(name) for name in pair)
    for definition, labels, outer in product(get_args(Definition), get_args(LabelDistance), get_args(Outer)):
        ways = [Otdd(definition, labels, outer, device=on) for on in ("cpu", device)]
        here, there = (timed(partial(way.distance, ours, theirs), times) for way in ways)
        yield {
            "definition": definition,
            "label distances": labels,
            "transport": outer,
            "value on the CPU": here.value,
            "on the GPU": there.value,
            "difference %": 100 * abs(there.value / here.value - 1),
            "s on the CPU": here.seconds,
            "s on the GPU": there.seconds,
        }


def measure(quick: bool) -> harness.Report:
    """Measure and report."""
    if not torch.cuda.is_available():
        raise SystemExit("There is no GPU here; `python -m benchmarks.otdd` measures the CPU.")
    rows = list(rows_of(RGB, "cuda", times=1 if quick else 2))
    entropic = [row for row in rows if row["transport"] == "entropic"]
    figures = {
        "max_device_difference_pct": max(row["difference %"] for row in rows),
        "entropic_times_as_fast": min(row["s on the CPU"] / row["s on the GPU"] for row in entropic),
    }
    threads = f"{torch.get_num_threads()} threads" if torch.get_num_threads() > 1 else "one thread"
    note = f"{torch.cuda.get_device_name()}, torch {torch.__version__}, beside {threads}; the best of two runs each."
    real = bool(harness.real_data())
    return harness.Report(figures, rows, data="real" if real else "synthetic", wants_real=True, note=note)


if __name__ == "__main__":
    harness.main("otdd_gpu", TITLE, measure)
