"""Distances between data sets on a GPU, beside the same on the CPU of the same machine.

    python -m benchmarks.otdd_gpu [--quick] [--json FILE] [--minutes M]

Both definitions, both label distances and both kinds of transport, on the largest inputs of a recorded run of OTDD's
reference implementation, 2,000 colour images each. What is exact is solved on the CPU either way: there a GPU finds the
costs only. Needs a GPU, and neither POT nor a server. Each row is printed as soon as it is measured; after so many
minutes none is begun, and a table that is not whole is not kept.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, get_args

import numpy as np
import torch

from benchmarks import harness
from benchmarks.otdd_inputs import RGB, ready, recorded, timed, unit_of
from seedbed.methods.similarity.otdd import Definition, LabelDistance, Otdd, Outer
from seedbed.methods.similarity.units import Unit

TITLE = "The distance between two labelled data sets on a GPU, beside a CPU"


def rows_of(pair: tuple[str, str], device: str, times: int, until: float = math.inf) -> Iterator[dict[str, Any]]:
    """A row for each way to find the distance of two data sets; none is begun after that time."""
    (ours, theirs), few = (_parts(pair, every) for every in (1, 20))
    for definition, labels, outer in product(get_args(Definition), get_args(LabelDistance), get_args(Outer)):
        if time.monotonic() > until:
            raise SystemExit("The minutes were over before the table was whole; what was measured stands above.")
        ways = [Otdd(definition, labels, outer, device=on) for on in ("cpu", device)]
        ways[1].distance(*few)  # a GPU is slow at whatever it does for the first time
        here, there = (timed(partial(way.distance, ours, theirs), times) for way in ways)
        yield {
            "definition": definition,
            "label distances": labels,
            "transport": outer,
            "images": len(ours.labels) + len(theirs.labels),
            "value on the CPU": here.value,
            "on the GPU": there.value,
            "difference %": 100 * abs(there.value / here.value - 1),
            "s on the CPU": here.seconds,
            "s on the GPU": there.seconds,
        }


def _parts(pair: tuple[str, str], every: int) -> tuple[Unit, Unit]:
    """Every so manieth image of both, with all that is found once for a data set."""
    ours, theirs = (ready(unit.part(np.arange(0, len(unit.labels), every))) for unit in map(unit_of, pair))
    return ours, theirs


def measure(quick: bool, *, minutes: float = 60.0) -> harness.Report:
    """Measure and report."""
    if not torch.cuda.is_available():
        raise SystemExit("There is no GPU here; `python -m benchmarks.otdd` measures the CPU.")
    times = 1 if quick else 2
    rows = []
    for row in rows_of(RGB, "cuda", times, time.monotonic() + 60 * minutes):
        print(json.dumps(row), flush=True)  # whoever ends this early has what was measured before
        rows.append(row)
    entropic = [row for row in rows if row["transport"] == "entropic"]
    figures = {
        "max_device_difference_pct": max(row["difference %"] for row in rows),
        "entropic_times_as_fast": min(row["s on the CPU"] / row["s on the GPU"] for row in entropic),
    }
    threads = f"{torch.get_num_threads()} threads" if torch.get_num_threads() > 1 else "one thread"
    note = (
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, beside {threads}; the best of {times}, on the GPU "
        "after a small one to warm up."
    )
    real = recorded(RGB)
    return harness.Report(figures, rows, data="real" if real else "synthetic", wants_real=True, note=note)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=60.0)
    options, rest = parser.parse_known_args(arguments)
    harness.main("otdd_gpu", TITLE, partial(measure, minutes=options.minutes), rest)


if __name__ == "__main__":
    main()
