"""A bursty queue through the real job system, end to end: trainings fill the zoo, and the service chooses starts.

    python -m benchmarks.mtaas_live [--quick] [--json FILE]

On drawn leaves: models of two data sets are trained and taken into the zoo; on two earlier data sets a training from
ImageNet's weights and one from each card are measured, and the service learns from what came of them. Then jobs on two
new data sets arrive at once, most of them on one, as when somebody tunes. First every job starts from ImageNet's
weights, then the same queue from what the service chooses. What is measured is what the service did: seconds of the
training jobs, how soon each was as good as the one from ImageNet's weights ever got, what each started from and why,
and what the cache of weights held in the end. `--quick` has one zoo set, one job, and nothing that stands for ImageNet
or came earlier.
"""

import csv
import json
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
from seedbed.flows.kinds.zoo import Outcome
from seedbed.flows.platform import Platform
from seedbed.methods.similarity.evidence import reached_epochs
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

TITLE = "A bursty queue through the job system, from ImageNet's weights and from chosen ones"
PLAIN, CHOSEN = "pretrained", "auto"
AS_GOOD = "seconds until as good as from ImageNet's"
BASELINE = "others"
SETS: Mapping[str, tuple[int, ...]] = {  # classes of the drawn leaves
    BASELINE: (0, 1, 2, 3, 4, 5),
    "zoo-1": (0, 1, 2),
    "zoo-2": (3, 4, 5),
    "old-1": (0, 1, 2),
    "old-2": (3, 4, 5),
    "new-1": (0, 1, 2),
    "new-2": (1, 3, 5),
}
_AFTER = ("evaluate", "label-all", "export")  # what follows a training is left out: nobody waits for it here


@dataclass(frozen=True)
class Scale:
    """How large the queue and its jobs are."""

    images: int = 40  # of a class; half of them judge
    steps: int = 48
    zoo: tuple[str, ...] = ("zoo-1", "zoo-2")
    earlier: tuple[str, ...] = ("old-1", "old-2")
    queue: tuple[str, ...] = ("new-1", "new-1", "new-2", "new-1")
    size: int = 64

    @property
    def sets(self) -> tuple[str, ...]:
        """All data sets that take part."""
        first = (BASELINE,) if self.earlier else ()
        return tuple(dict.fromkeys((*first, *self.zoo, *self.earlier, *self.queue)))


QUICK = Scale(images=6, steps=4, zoo=("zoo-1",), earlier=(), queue=("new-1",))


def replay(scale: Scale, folder: Path) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """A line per job of either queue, and the figures."""
    settings = Settings(home=folder / "home", port=0, baseline=BASELINE)
    with Platform.open(settings) as platform:
        truths = {name: _taken_in(platform, name, folder, scale) for name in scale.sets}
        for name in scale.zoo:
            (job,) = _trained(platform, [name], truths, scale, PLAIN)
            _done(platform, platform.zoo.add(job.id, name=name, by=SOLO))
        for weights in (PLAIN, *scale.zoo) if scale.earlier else ():
            _trained(platform, scale.earlier, truths, scale, weights)
        queues = {weights: _trained(platform, scale.queue, truths, scale, weights) for weights in (PLAIN, CHOSEN)}
        lines = [
            _line(platform, weights, number, scale.queue[number], job, queues[PLAIN][number])
            for weights, jobs in queues.items()
            for number, job in enumerate(jobs)
        ]
        cache = platform.zoo.cache(by=SOLO)
    return lines, {
        "imagenet_seconds": _total(lines, PLAIN, "seconds"),
        "chosen_seconds": _total(lines, CHOSEN, "seconds"),
        "seconds_to_same_accuracy_times": _total(lines, PLAIN, AS_GOOD) / _total(lines, CHOSEN, AS_GOOD),
        "kept_weights_chosen": float(sum(line["started from"] in scale.zoo for line in lines)),
        "weights_in_memory": float(len(cache["entries"])),
        "cache_saved_seconds": float(cache["saved_seconds"]),
    }


def _line(platform: Platform, weights: str, number: int, name: str, job: Job, plain: Job) -> dict[str, Any]:
    told = platform.zoo.start_of(job.id, by=SOLO)
    return {
        "weights": weights,
        "job": number + 1,
        "data set": name,
        "started from": told.card,
        "seconds": _seconds(job),
        AS_GOOD: round(_seconds(job) * _share_until_as_good(_came(platform, job), _came(platform, plain)), 1),
        "why": told.reason,
    }


def _total(lines: Sequence[Mapping[str, Any]], weights: str, column: str) -> float:
    return float(sum(line[column] for line in lines if line["weights"] == weights))


def _share_until_as_good(mine: Mapping[str, Any], plain: Mapping[str, Any]) -> float:
    """Of a training, until its accuracy was not surely below the best of another; all of it where nothing was kept."""
    if not (mine and plain):
        return 1.0
    reached, _ = reached_epochs(mine["curve"], plain["curve"], judges=plain["judges"])
    return reached / len(mine["curve"])


def _came(platform: Platform, job: Job) -> dict[str, Any]:
    """What the service keeps of a training for later rankings; nothing where no labels were left to judge by."""
    for kept in platform.store.find(kind=Outcome.kind, all_versions=True, limit=1000):
        if ("model", job.outputs["model"]) in kept.lineage.inputs:
            facts: dict[str, Any] = json.loads(
                platform.store.path_of(kept.arrays["outcome"].files[0].digest).read_text()
            )
            return facts
    return {}


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
    params = {
        "size": scale.size,
        "steps": scale.steps,
        "algorithm": "supervised",
        "few": 3,
        "held_out": 0.5,
        "evaluate_every": 4,
    }
    flows = [
        platform.models.train(name, str(truths[name]), params=params, seed=number, weights=weights, by=SOLO)
        for number, name in enumerate(names)
    ]
    jobs = [job for flow in flows for job in flow]
    for job in reversed(jobs):
        if job.step in _AFTER:
            platform.jobs.cancel(job.id, by=SOLO)
    ended = _done(platform, [job for job in jobs if job.step not in _AFTER])
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
