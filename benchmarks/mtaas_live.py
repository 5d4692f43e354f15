"""A bursty queue through the real job system, end to end: trainings fill the zoo, and the service chooses starts.

    python -m benchmarks.mtaas_live [--quick] [--json FILE]

On drawn leaves: models of two data sets are trained and taken into the zoo; then jobs on two other data sets arrive at
once, most of them on one, as when somebody tunes. First every job starts from ImageNet's weights, then the same queue
from what the service chooses. What is measured is what the service did: seconds of the training jobs, what each started
from and why, and what the cache of weights held in the end. `--quick` queues fewer and shorter jobs.
"""

import csv
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import harness
from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.synthetic import CLASSES, write_leaves
from seedbed.base.settings import Settings
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

TITLE = "A bursty queue through the job system, from ImageNet's weights and from chosen ones"
BASELINE = "others"
SETS: Mapping[str, tuple[int, ...]] = {  # classes of the drawn leaves
    BASELINE: (0, 1, 2, 3, 4, 5),
    "zoo-1": (0, 1, 2),
    "zoo-2": (3, 4, 5),
    "new-1": (0, 1, 2),
    "new-2": (1, 3, 5),
}


@dataclass(frozen=True)
class Scale:
    """How large the queue and its jobs are."""

    images: int = 40  # of a class
    steps: int = 60
    queue: tuple[str, ...] = ("new-1", "new-1", "new-2", "new-1")
    size: int = 40


QUICK = Scale(images=12, steps=8, queue=("new-1", "new-2"), size=32)


def replay(scale: Scale, folder: Path) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """A line per job of either queue, and the figures."""
    settings = Settings(home=folder / "home", port=0, baseline=BASELINE)
    with Platform.open(settings) as platform:
        truths = {name: _taken_in(platform, name, folder, scale) for name in SETS}
        for name in ("zoo-1", "zoo-2"):
            _done(platform, platform.zoo.add(_trained(platform, [name], truths, scale, "pretrained")[0].id, by=SOLO))
        lines, seconds = [], {}
        for weights in ("pretrained", "auto"):
            ended = _trained(platform, scale.queue, truths, scale, weights)
            seconds[weights] = sum(_seconds(job) for job in ended)
            for number, (name, job) in enumerate(zip(scale.queue, ended, strict=True)):
                told = platform.zoo.start_of(job.id, by=SOLO)
                facts = {"weights": weights, "job": number + 1, "data set": name, "started from": told.card}
                lines.append({**facts, "seconds": _seconds(job), "why": told.reason})
        cache = platform.zoo.cache(by=SOLO)
    return lines, {
        "imagenet_seconds": seconds["pretrained"],
        "chosen_seconds": seconds["auto"],
        "speedup_times": seconds["pretrained"] / seconds["auto"],
        "weights_in_memory": float(len(cache["entries"])),
        "cache_saved_seconds": float(cache["saved_seconds"]),
    }


def _taken_in(platform: Platform, name: str, folder: Path, scale: Scale) -> Path:
    """Draw a data set, take it in, and return the file of its classes."""
    place = folder / name
    truth = write_leaves(place, scale.images, seed=len(name) + list(SETS).index(name), size=48, by_class=True)
    kept = {CLASSES[kind] for kind in SETS[name]}
    for klass in set(CLASSES) - kept:
        shutil.rmtree(place / klass)
    with truth.open() as file:
        rows = [row for row in csv.DictReader(file) if row["class"] in kept]
    with truth.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["file", "class"])
        writer.writeheader()
        writer.writerows(rows)
    _done(platform, [platform.data.add(place, name=name, size=scale.size, by=SOLO)])
    return truth


def _trained(
    platform: Platform, names: Sequence[str], truths: Mapping[str, Path], scale: Scale, weights: str
) -> list[Job]:
    """The training jobs of a queue that was submitted at once, in its order."""
    params = {"size": scale.size, "steps": scale.steps, "algorithm": "supervised", "few": 3, "evaluate_every": 10}
    flows = [
        platform.models.train(name, str(truths[name]), params=params, seed=number, weights=weights, by=SOLO)
        for number, name in enumerate(names)
    ]
    ended = _done(platform, [job for jobs in flows for job in jobs])
    return [job for job in ended if job.step == "train"]


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
    with tempfile.TemporaryDirectory() as folder:
        lines, figures = replay(QUICK if quick else Scale(), Path(folder))
    return harness.Report(figures=figures, rows=lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    harness.main("mtaas_live", TITLE, lambda quick: measure(quick=quick), arguments)


if __name__ == "__main__":
    main()
