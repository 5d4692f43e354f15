"""Something real to look at: leaves, labels, judged predictions, and jobs in every state."""

import csv
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.synthetic import CLASSES, write_leaves
from seedbed.assets.projects.labels import LabelEvent
from seedbed.assets.store.bundle import Lineage
from seedbed.base.ids import new_id
from seedbed.base.resources import Resources
from seedbed.flows.kinds.models import Predictions, Report
from seedbed.flows.platform import Platform
from seedbed.methods.learn.evaluate import evaluate
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State

EVIL = "<svg onload=window.hacked=1><img src=x onerror=window.hacked=1>"  # as far as names may go
_PER_CLASS, _LABELS = 8, 5


@dataclass(frozen=True)
class Content:
    """What there is to click through."""

    data: str
    project: str
    report: str
    predictions: str
    evil_bundle: str
    evil_data: str
    done: str
    running: str
    waiting: str
    failed: str


def fill(platform: Platform, place: Path) -> Content:
    """Through the use cases, with a server that schedules beside us."""
    images = place / "leaves"
    truth = write_leaves(images, _PER_CLASS, seed=3)
    project = platform.projects.create(
        "Leaf health", classes=CLASSES, settings={"grouping": False, "proposals": False}, by=SOLO
    )
    ingest = ended(platform, platform.data.add(images, name="crop leaves", project=project.id, by=SOLO))
    assert ingest.state == State.DONE, ingest.reason
    data = ingest.outputs["data"]
    platform.projects.set_data(project.id, data, by=SOLO)
    _label(platform, project.id, data, truth)
    report, predictions = _judge(platform, data, truth, images, place, project.id)
    evil_bundle, evil_data = _hostile(platform, place)
    done = ended(platform, platform.jobs.submit(_count("a quick count", 5, 0.05), by=SOLO))
    archive = place / "holiday.zip"
    archive.write_bytes(b"this is no archive")
    failed = ended(platform, platform.data.add(archive, name="holiday pictures", by=SOLO))
    assert failed.state == State.FAILED, failed.state
    running, waiting = _jobs(platform, project.id)
    return Content(data, project.id, report, predictions, evil_bundle, evil_data, done.id, running, waiting, failed.id)


def ended(platform: Platform, job: Job, seconds: float = 120.0) -> Job:
    """Wait until the server beside us has brought a job to its end."""
    until, cursor = time.monotonic() + seconds, platform.feed.last()
    while not (job := platform.jobs.get(job.id, by=SOLO)).state.ended:
        if time.monotonic() > until:
            raise TimeoutError(f"{job.name} is still {job.state}: {job.reason or job.doing}")
        _, cursor = platform.feed.wait(cursor, 1.0, by=SOLO)
    return job


def _label(platform: Platform, project: str, data: str, truth: Path) -> None:
    classes = _truth(truth)
    left = dict.fromkeys(CLASSES, _LABELS)
    events = []
    for record in platform.data.records(data, limit=1000, by=SOLO):
        klass = classes[record["file"]]
        if left[klass]:
            left[klass] -= 1
            events.append(LabelEvent(id=new_id(), image=record["id"], label=klass, by=SOLO.id))
    platform.projects.add_labels(project, events, by=SOLO)


def _truth(path: Path) -> dict[str, str]:
    with path.open(newline="") as file:
        return {row["file"]: row["class"] for row in csv.DictReader(file)}


def _judge(platform: Platform, data: str, truth: Path, images: Path, place: Path, project: str) -> tuple[str, str]:
    """Nearest mean on small thumbnails: a poor model, but a real one, judged by the platform's own method."""
    classes, records = _truth(truth), platform.data.records(data, limit=1000, by=SOLO)
    files = [record["file"] for record in records]
    pixels = np.stack([np.asarray(Image.open(images / file).convert("RGB").resize((12, 12))) for file in files])
    flat = pixels.reshape(len(files), -1).astype(np.float64) / 255
    numbers = np.array([CLASSES.index(classes[file]) for file in files])
    known = np.arange(len(files)) % 2 == 0
    means = np.stack([flat[known & (numbers == number)].mean(axis=0) for number in range(len(CLASSES))])
    apart = ((flat[:, None] - means[None]) ** 2).sum(axis=2)
    shares = np.exp(-0.6 * (apart - apart.min(axis=1, keepdims=True)))
    probabilities = (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)
    judged = evaluate(probabilities[~known], numbers[~known], CLASSES, temperature=1.5)
    rows = np.flatnonzero(~known)
    wrong = [{**vars(one), "index": int(rows[one.row]), "file": files[rows[one.row]]} for one in judged.mistakes]
    curve = [{"step": step, "accuracy": 1 - 1 / step, "loss_held_out": 9 / step} for step in range(30, 151, 30)]
    facts = {**judged.to_json(), "mistakes": wrong, "curve": curve}
    lineage = Lineage(step="nearest-mean", inputs=(("data", data),))
    report = Report.write(place / "report", facts).draft(name="leaves.report", lineage=lineage, project=project)
    called = Predictions.write(place / "predictions", files, probabilities, CLASSES)
    drafts = [report, called.draft(name="leaves.predictions", lineage=lineage, project=project)]
    first, second = (platform.store.publish(draft) for draft in drafts)
    return first.uuid, second.uuid


def _hostile(platform: Platform, place: Path) -> tuple[str, str]:
    folder = place / "hostile" / "<img src=x onerror=window.hacked=2>"
    folder.mkdir(parents=True)
    for number in range(3):
        Image.new("RGB", (40, 40), (40 * number, 120, 60)).save(folder / f"<b>{number}.png")
    bundle = platform.bundles.add([folder / "<b>0.png"], name=EVIL, tags={"<i>": EVIL[:60]}, by=SOLO)
    data = ended(platform, platform.data.add(place / "hostile", name=EVIL, by=SOLO))
    assert data.state == State.DONE, data.reason
    return bundle.uuid, data.outputs["data"]


def _count(name: str, steps: int, seconds: float, **more: object) -> JobSpec:
    room = Resources(cpus=0.1, memory=128 << 20)
    params = {"steps": steps, "seconds_per_step": seconds, "tag": new_id()}
    return JobSpec("sleep-and-count", params, name=name, **{"resources": room, **more})


def _jobs(platform: Platform, project: str) -> tuple[str, str]:
    slow = platform.jobs.submit(_count("a slow count", 1800, 1.0, project=project), by=SOLO)
    large = Resources(cpus=2, memory=128 << 20)
    waits = platform.jobs.submit(_count("one that needs the whole machine", 3, 0.1, resources=large), by=SOLO)
    return slow.id, waits.id
