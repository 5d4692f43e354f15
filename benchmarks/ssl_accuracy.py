"""Test error from a few labels: every algorithm beside labels alone, a linear probe, all labels and semilearn.

    python -m benchmarks.ssl_accuracy [--quick] [--json FILE] [--minutes M] [--workers N] [--only-table]
        [--more] [--laptop] [--methods a,b] [--sets a,b] [--labels 10,20] [--seeds 0] [--compiled]

The core table is of seven real sets, 5 and 40 labels a class, three seeds. `--more` goes on with 10, 20 and 80 labels
and with the other sets, one seed; `--laptop` fills a table of its own, with the defaults of a CPU instead of a GPU's.
`--methods` and the like choose among them, also with `--quick`. "semilearn freematch" is semilearn's own FreeMatch at
the same number of steps, and needs `make peers`. `--compiled` is for a GPU and many runs: a worker compiles once, and
its runs are quicker from then on. Rows are kept as runs finish; a later call goes on where this one ended, and every
report is made from all rows that there are: see `benchmarks.ssl_report`. Rows that were measured with former defaults
are measured anew; until then they are shown as what they are.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks import harness
from benchmarks.few_labels import SYNTHETIC, Rows, Set, available, choose, load_set, recipe_of, rows_of
from benchmarks.filling import fill
from benchmarks.ssl_peer import answers_of
from benchmarks.ssl_report import ALL, BUDGETS, CORE, DEFAULT, LABELS_ONLY, MORE_BUDGETS, OTHERS, PEER, PROBE, report_of
from seedbed.base.run import MemoryRun
from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.evaluate import evaluate
from seedbed.methods.learn.predict import predict
from seedbed.methods.learn.settings import ON_A_GPU, Strength, TrainSettings
from seedbed.methods.learn.trainer import train

TITLE = "Test error from a few labels per class"
SEEDS = (0, 1, 2)
_SCORES = ("accuracy", "precision", "recall", "f1")  # the last three are means over the classes
_KINDS = 64  # of views, sizes and turns that a worker compiles; after torch's usual 8 it would compile no more
_LEARNT_BY = {PROBE: LABELS_ONLY, ALL: LABELS_ONLY, PEER: "freematch"}  # other methods are algorithms' names


@dataclass(frozen=True)
class Scale:
    """How large the runs are."""

    sets: tuple[str, ...] = CORE
    size: int = ON_A_GPU["size"]
    steps: int = ON_A_GPU["steps"]
    labelled: int = ON_A_GPU["labelled_batch"]
    unlabelled: int = ON_A_GPU["unlabelled_batch"]
    rate: float = ON_A_GPU["learning_rate"]
    seeds: tuple[int, ...] = SEEDS
    methods: tuple[str, ...] = (DEFAULT, LABELS_ONLY, PROBE, ALL)
    budgets: tuple[int, ...] = BUDGETS
    beside: int = 1  # runs at the same time
    augment: Strength = field(default_factory=Strength)
    ema: float = ON_A_GPU["ema"]
    compiled: bool = False


EVERY = (DEFAULT, LABELS_ONLY, PROBE, ALL, *(name for name in ALGORITHMS if name not in (DEFAULT, LABELS_ONLY)))
FULL = Scale(methods=(*EVERY, PEER))
_CPU = TrainSettings()
LAPTOP = Scale(
    size=_CPU.size,
    steps=_CPU.steps,
    labelled=_CPU.labelled_batch,
    unlabelled=_CPU.unlabelled_batch,
    rate=_CPU.rate(),
    ema=_CPU.ema,
    methods=EVERY,
)
MORE = (  # after the core: other budgets, then other sets
    Scale(seeds=SEEDS[:1], methods=EVERY, budgets=MORE_BUDGETS),
    Scale(OTHERS, seeds=SEEDS[:1], methods=EVERY, budgets=(*BUDGETS, *MORE_BUDGETS)),
)
QUICK = Scale(
    ("coffee-symptom",), 32, 16, 8, 24, 5e-5, (0,), (DEFAULT, LABELS_ONLY, PROBE, ALL), augment=Strength(turn=20.0)
)


def jobs_of(scale: Scale) -> Iterator[dict[str, Any]]:
    """The runs of a table, what matters most first: every method with one seed before any has two."""
    for seed in scale.seeds:
        for method in scale.methods:
            for budget in (0,) if method == ALL else scale.budgets:
                for name in scale.sets:
                    asked = {"method": method, "set": name, "labels": budget, "seed": seed, "size": scale.size}
                    yield {**asked, "recipe": recipe_for(method, scale)}


def run(job: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """One run: how good it is on the test images, and what it took."""
    data = loaded(job["set"], job["size"])
    labels, marked = choose(data.labels_train, job["labels"], job["seed"])
    began = time.monotonic()
    if job["method"] == PEER:
        settings = settings_of(PEER, scale, data.classes)
        answers = answers_of(data, labels, settings, job["seed"], beside=scale.beside)
        steps = scale.steps
    else:
        settings = settings_of(job["method"], scale, data.classes)
        answers, steps = trained_answers(data, labels, settings, job["seed"])
    scores = evaluate(answers, data.labels_test, data.classes).metrics()
    facts = {name: scores[name] for name in _SCORES} | {"marked": marked, "steps": steps}
    return {**job, **facts, "seconds": round(time.monotonic() - began, 2)}


def trained_answers(
    data: Set, labels: NDArray[np.int64], settings: TrainSettings, seed: int
) -> tuple[NDArray[np.float64], int]:
    """What a model trained with these settings says of the test images, and after how many steps."""
    if settings.compile == "always":
        torch._dynamo.config.recompile_limit = _KINDS
    with tempfile.TemporaryDirectory() as folder:
        trained = train(data.images_train, labels, settings, MemoryRun(Path(folder), seed=seed))
        return predict(trained.model, data.images_test), trained.steps


def settings_of(method: str, scale: Scale, classes: tuple[str, ...] = ()) -> TrainSettings:
    """The same network, steps and batches for every method; only the probe leaves the network as it is."""
    algorithm = _LEARNT_BY.get(method, method)
    worth_compiling = scale.compiled and algorithm != LABELS_ONLY
    return TrainSettings(
        classes=classes,
        algorithm=algorithm,
        ema=scale.ema,
        size=scale.size,
        steps=1 if method == PROBE else scale.steps,
        learning_rate=1e-9 if method == PROBE else scale.rate,
        labelled_batch=scale.labelled,
        unlabelled_batch=scale.unlabelled,
        augment=scale.augment,
        report_every=100,
        checkpoint_every=10**9,
        compile="always" if worth_compiling else "never",
    )


def recipe_for(method: str, scale: Scale) -> str:
    """The recipe of a method's runs. What the probe's one step would see and average is no matter: it moves nothing."""
    return recipe_of(settings_of(method, scale), without=("ema", "augment") if method == PROBE else ())


@lru_cache(maxsize=len(CORE) + len(OTHERS))
def loaded(name: str, size: int) -> Set:
    """A set that a process decodes once."""
    return load_set(name, size)


def _line(row: Mapping[str, Any]) -> str:
    return f"{row['method']}, {row['set']}, {row['labels']} labels, seed {row['seed']}: {100 * row['accuracy']:.1f} %"


def measure(
    scales: Sequence[Scale], rows: Rows, *, real: bool, minutes: float, workers: int, core: Scale, part: str = ""
) -> harness.Report:
    """Fill the tables as far as time allows, and report all that there is of the core's size of images."""
    until = time.monotonic() + 60 * minutes
    for scale in scales:
        left = (until - time.monotonic()) / 60
        fill(
            rows,
            jobs_of(scale),
            partial(run, scale=replace(scale, beside=workers)),
            _line,
            minutes=left,
            workers=workers,
        )
    found = [row for row in rows if row["size"] == core.size]
    today = {method: recipe_for(method, core) for method in core.methods}
    return report_of(found, core.sets, today, real=real, drawn=core is FULL, part=part)


def asked(options: argparse.Namespace) -> tuple[Scale, ...]:
    """What is to be run: the core, more of it, or what the options name."""
    core = (LAPTOP,) if options.laptop else (FULL,)
    return tuple(named_in(options, scale) for scale in (MORE if options.more else core))


def named_in(options: argparse.Namespace, scale: Scale) -> Scale:
    """A table with only the methods, sets, budgets and seeds that the options name."""
    named: dict[str, Any] = {}
    for name, given in (("methods", options.methods), ("sets", options.sets)):
        named |= {name: tuple(given.split(","))} if given else {}
    for name, given in (("budgets", options.labels), ("seeds", options.seeds)):
        named |= {name: tuple(int(number) for number in given.split(","))} if given else {}
    named["compiled"] = options.compiled
    return replace(scale, **named)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--workers", type=int, default=1)
    for name in ("--only-table", "--more", "--compiled", "--laptop"):
        parser.add_argument(name, action="store_true")
    for name in ("--methods", "--sets", "--labels", "--seeds"):
        parser.add_argument(name, default="")
    options, rest = parser.parse_known_args(arguments)
    if options.more and options.laptop:
        parser.error("--more goes on with the table of a GPU: leave out --laptop.")

    def measured(quick: bool) -> harness.Report:
        if available(FULL.sets) and not quick:
            scales = () if options.only_table else asked(options)
            core, part = (LAPTOP, "laptop") if options.laptop else (FULL, "")
            rows, minutes = rows_of("ssl_accuracy"), options.minutes
            return measure(scales, rows, real=True, minutes=minutes, workers=options.workers, core=core, part=part)
        real = bool(available(QUICK.sets))
        scale = named_in(options, QUICK if real else replace(QUICK, sets=(SYNTHETIC,)))
        with tempfile.TemporaryDirectory() as folder:
            return measure([scale], Rows(Path(folder) / "rows.jsonl"), real=real, minutes=10, workers=1, core=scale)

    harness.main("ssl_accuracy", TITLE, measured, rest)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    torch.set_num_threads(2)
    main()
