"""A bursty queue through the real job system, end to end: trainings fill the zoo, and the service chooses starts.

    python -m benchmarks.mtaas_live [--quick] [--json FILE]

A model of a data set is trained and taken into the zoo. Then jobs on two other data sets arrive at once, most of them
on one, as when somebody tunes: first every job starts from ImageNet's weights, then the same queue from what the
service chooses, which takes fewer steps where a start is surely faster. What is measured is what the service did:
seconds of the training jobs, seconds of the jobs that choose, how good each model is on the images put aside, what each
started from and why, and what the cache of weights held in the end. What the service knows beforehand are the measured
starts that come with it, those on these very data sets among them: whether it can foretell a set that it has never seen
is the question of benchmarks.dsd_correlation. `--quick`, and machines without the real data, have small drawn sets.
"""

import csv
import io
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.few_labels import available
from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.synthetic import CLASSES, write_leaves
from seedbed.base.settings import Settings
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

TITLE = "A bursty queue through the job system, from ImageNet's weights and from chosen ones"
PLAIN, CHOSEN = "pretrained", "auto"
DRAWN: Mapping[str, tuple[int, ...]] = {  # classes of the drawn leaves
    "others": (0, 1, 2, 3, 4, 5),
    "zoo-1": (0, 1, 2),
    "new-1": (0, 1, 2),
    "new-2": (1, 3, 5),
}
_CHOOSING = ("signature", "rank-weights")
_UNASKED = ("label-all", "export")  # what follows a test is left out: nobody waits for it here


@dataclass(frozen=True)
class Scale:
    """How large the queue and its jobs are."""

    zoo: tuple[str, ...] = ("plantvillage",)
    queue: tuple[str, ...] = ("tomato-leaf", "rice-insects", "tomato-leaf")
    baseline: str = "tiny-imagenet"  # stands for ImageNet
    labels: int = 20  # of a class that a job of the queue learns from
    zoo_steps: int = 1000  # after 480 its features were too weak for anybody to be sure of them
    size: int = 64
    images: int = 0  # of a class of drawn sets
    params: tuple[tuple[str, Any], ...] = (("algorithm", "supervised"),)

    @property
    def sets(self) -> tuple[str, ...]:
        """All data sets that take part."""
        return tuple(dict.fromkeys((self.baseline, *self.zoo, *self.queue)))


QUICK = Scale(
    ("zoo-1",), ("new-1",), "others", labels=3, zoo_steps=4, size=32, images=8,
    params=(("algorithm", "supervised"), ("steps", 4)),
)  # fmt: skip


def replay(scale: Scale, folder: Path) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """A line per job of either queue, and the figures."""
    settings = Settings(home=folder / "home", port=0, baseline=scale.baseline)
    with Platform.open(settings) as platform:
        truths = {name: _taken_in(platform, name, folder / name, scale) for name in scale.sets}
        asked: dict[str, Any] = {"size": scale.size, **dict(scale.params)}
        for name in scale.zoo:
            (jobs,) = _trained(platform, [name], truths, PLAIN, **{**asked, "steps": scale.zoo_steps})
            _done(platform, platform.zoo.add(jobs["train"].id, name=name, by=SOLO))
        queues = {
            weights: _trained(platform, scale.queue, truths, weights, labels=scale.labels, **asked)
            for weights in (PLAIN, CHOSEN)
        }
        lines = [
            _line(platform, weights, number + 1, scale.queue[number], jobs)
            for weights, queue in queues.items()
            for number, jobs in enumerate(queue)
        ]
        cache = platform.zoo.cache(by=SOLO)
    return lines, {
        **figures(lines),
        "kept_weights_chosen": float(sum(line["started from"] in scale.zoo for line in lines)),
        "weights_in_memory": float(len(cache["entries"])),
        "cache_saved_seconds": float(cache["saved_seconds"]),
    }


def figures(lines: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Seconds of both queues, with and without those of choosing, and the points that the chosen ones are ahead by."""
    plain, chosen = ([line for line in lines if line["weights"] == weights] for weights in (PLAIN, CHOSEN))
    learning, choosing = (sum(line[column] for line in chosen) for column in ("s of learning", "s of choosing"))
    usual = sum(line["s of learning"] for line in plain)
    pairs = zip(chosen, plain, strict=True)
    return {
        "imagenet_seconds": usual,
        "chosen_seconds": learning,
        "choosing_seconds": choosing,
        "learning_times_as_fast": usual / learning,
        "all_times_as_fast": usual / (learning + choosing),
        "accuracy_points": float(np.mean([100 * (one["accuracy"] - other["accuracy"]) for one, other in pairs])),
    }


def in_words(lines: Sequence[Mapping[str, Any]]) -> str:
    """Whether either queue of chosen starts was quicker, as is wanted, and how far apart jobs are that did the same."""
    found, apart = figures(lines), same_jobs_apart(lines)
    told = "All seconds are the clock's, of a single run. "
    if apart:
        spread = " to ".join(dict.fromkeys(f"{100 * of:.0f}" for of in (min(apart), max(apart))))
        told += (
            f"{len(apart)} of {len(lines) // 2} jobs took as many steps from the same weights in both queues, and "
            f"their seconds of learning were {spread} % apart all the same. "
        )
    else:
        told += "No job did the same in both queues: how far apart that alone may be is not known. "
    for words, name in {"Learning alone": "learning", "With what choosing costs, it": "all"}.items():
        times = found[f"{name}_times_as_fast"]
        near = bool(apart) and max(times, 1 / times) - 1 <= max(apart)
        told += (
            f"{words} is {times:.2f} times as fast as from ImageNet's weights (wanted: above 1, "
            f"{'met' if times > 1 else 'missed'}{', but no further from 1 than those jobs are apart' * near}). "
        )
    return told.strip()


def same_jobs_apart(lines: Sequence[Mapping[str, Any]]) -> list[float]:
    """Of each job that did the same in both queues, by how much the slower time of learning is above the quicker."""
    plain, chosen = ([line for line in lines if line["weights"] == weights] for weights in (PLAIN, CHOSEN))
    same = [pair for pair in zip(plain, chosen, strict=True) if len({_done_by(line) for line in pair}) == 1]
    times = [sorted(line["s of learning"] for line in pair) for pair in same]
    return [slower / quicker - 1 for quicker, slower in times]


def _done_by(line: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(line[column] for column in ("data set", "started from", "steps"))


def _line(platform: Platform, weights: str, number: int, name: str, jobs: Mapping[str, Job]) -> dict[str, Any]:
    told = platform.zoo.start_of(jobs["train"].id, by=SOLO)
    report = platform.store.get(jobs["evaluate"].outputs["report"])
    return {
        "weights": weights,
        "job": number,
        "data set": name,
        "started from": told.card,
        "steps": int(str(platform.store.get(jobs["train"].outputs["model"]).arrays["steps"].items[0])),
        "s of learning": _seconds(jobs["train"]),
        "s of choosing": round(sum(_seconds(jobs[step]) for step in _CHOOSING if step in jobs), 1),
        "accuracy": float(str(report.arrays["accuracy"].items[0])),
        "why": told.reason,
    }


def _taken_in(platform: Platform, name: str, folder: Path, scale: Scale) -> Path:
    """Lay a data set's images into a folder, take them in, and return the file of their classes."""
    truth = _drawn(folder, name, scale.images) if name in DRAWN else _real(folder, name)
    _done(platform, [platform.data.add(folder, name=name, size=scale.size, by=SOLO)])
    return truth


def _drawn(folder: Path, name: str, images: int) -> Path:
    whole = write_leaves(folder, images, seed=list(DRAWN).index(name), size=48, by_class=True)
    kept = {CLASSES[kind] for kind in DRAWN[name]}
    for klass in set(CLASSES) - kept:
        shutil.rmtree(folder / klass)
    with whole.open() as file:
        return _table(folder, [(row["file"], row["class"]) for row in csv.DictReader(file) if row["class"] in kept])


def _real(folder: Path, name: str) -> Path:
    """The training images; those of the test stay out, as networks were measured on them."""
    data = harness.real_data()
    assert data is not None
    rows = []
    with zipfile.ZipFile(data / "images" / f"{name}.zip") as archive:
        for path in (one for one in archive.namelist() if one.startswith("train/") and not one.endswith("/")):
            file = PurePosixPath(path).relative_to("train")
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(archive.read(path))
            rows.append((str(file), file.parts[0]))
    return _table(folder, rows)


def _table(folder: Path, rows: Sequence[tuple[str, str]]) -> Path:
    text = io.StringIO()
    csv.writer(text).writerows([("file", "class"), *rows])
    path = folder.with_name(f"{folder.name}-classes.csv")
    path.write_text(text.getvalue())
    return path


def _trained(
    platform: Platform,
    names: Sequence[str],
    truths: Mapping[str, Path],
    weights: str,
    *,
    labels: int = 0,
    **params: Any,
) -> list[dict[str, Job]]:
    """The jobs of each flow of a queue that was submitted at once, by their steps."""
    flows = [
        platform.models.train(
            name, str(truths[name]), params=params, seed=number, labels_per_class=labels, weights=weights, by=SOLO
        )
        for number, name in enumerate(names)
    ]
    for job in (job for flow in flows for job in reversed(flow) if job.step in _UNASKED):
        platform.jobs.cancel(job.id, by=SOLO)
    return [
        {job.step: job for job in _done(platform, [job for job in flow if job.step not in _UNASKED])} for flow in flows
    ]


def _done(platform: Platform, jobs: Sequence[Job]) -> list[Job]:
    ended = platform.run_until_done([job.id for job in jobs])
    for job in ended:
        if job.state is not State.DONE:
            raise RuntimeError(f"{job.name or job.step} ended as {job.state}: {job.reason}")
    return ended


def _seconds(job: Job) -> float:
    return round(float(job.ended - job.started), 1)


def measure(*, quick: bool) -> harness.Report:
    """Both queues in a home of their own."""
    real = not quick and len(available(Scale().sets)) == len(Scale().sets)
    with tempfile.TemporaryDirectory() as folder:
        lines, found = replay(Scale() if real else QUICK, Path(folder))
    note = in_words(lines) if real else "These jobs are of small drawn sets, and say only that everything works."
    return harness.Report(figures=found, rows=lines, data="real" if real else "synthetic", wants_real=True, note=note)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    harness.main("mtaas_live", TITLE, lambda quick: measure(quick=quick), arguments)


if __name__ == "__main__":
    main()
