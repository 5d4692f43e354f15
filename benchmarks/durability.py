"""Does it lose anything? Random kill -9 of server, scheduler, workers and a publishing client, over real runs.

The figures are counted from outside: acknowledgements are written down by whoever received them, and who runs is read
from the process table many times a second, not from the database that is under test.

The siege leaves its victims time to have something to lose: server and scheduler are killed only while jobs run and
once the scheduler is 4 to 10 seconds old, the publisher pauses up to 0.1 s between writes, and trainings are killed at
drawn steps after their first checkpoint. Counting jobs and the publisher are killed at any moment.
"""

import os
import random
import shutil
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.siege import Plan, Siege, settings_for
from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.cache import cache_name
from seedbed.assets.data.records import ImageRecord, write_records
from seedbed.assets.data.synthetic import draw_leaves
from seedbed.base.ids import digest_of_bytes
from seedbed.base.resources import Resources
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.spec import JobSpec

TITLE = "What random kill -9 loses: acknowledged work, runs at once, orphans, and whether resumed training is the same"
SIZE = 32
ONE_CORE = Resources(cpus=1, memory=3 << 30)  # the number of threads is part of what a run computes
TRAINING: dict[str, Any] = {
    "size": SIZE,
    "steps": 30,
    "labelled_batch": 6,
    "unlabelled_batch": 6,
    "evaluate_every": 15,
    "checkpoint_every": 4,
    "report_every": 1,
}


def publish_training_data(home: Path, scratch: Path) -> dict[str, str]:
    """A small decoded data set and labels for some of it; the same bytes, and so the same digests, in every home."""
    pixels, classes, names = draw_leaves(8, seed=7, size=SIZE)
    ids = [digest_of_bytes(image.tobytes()) for image in pixels]
    (scratch / "decoded/facts").mkdir(parents=True)
    (scratch / "decoded/decoded").mkdir()
    records = [ImageRecord(id=name, file=f"{row}.jpg", image=f"{name}.jpg") for row, name in enumerate(ids)]
    (scratch / "decoded/facts/records.jsonl").write_bytes(write_records(records))
    np.save(scratch / "decoded/decoded" / cache_name(SIZE), pixels)
    few = {name: names[klass] for row, (name, klass) in enumerate(zip(ids, classes, strict=True)) if row % 2 == 0}
    decoded = Decoded.of(scratch / "decoded", SIZE, len(ids))
    labels = Labels.write(scratch / "labels", few)
    with Platform.open(settings_for(home)) as platform:
        drafts = [decoded.draft(name="leaves"), labels.draft(name="labels")]
        made = platform.store.publish_many(drafts)
    return {"decoded": made[0].uuid, "labels": made[1].uuid}


def unbroken(home: Path, inputs: Mapping[str, str], runs: int) -> list[str]:
    """The digests of the weights of runs that nobody disturbs."""
    with Platform.open(settings_for(home)) as platform:
        specs = [JobSpec("train", TRAINING, inputs, resources=ONE_CORE, seed=n, name=f"t{n}") for n in range(runs)]
        jobs = platform.jobs.submit_flow(specs, by=SOLO)
        platform.run_until_done([job.id for job in jobs])
        return [weights_of(platform, job.id) for job in jobs]


def weights_of(platform: Platform, job_id: str) -> str:
    """The digest of the weights that a training made; empty if it made none."""
    job = platform.queue.get(job_id)
    if "model" not in job.outputs:
        return ""
    model = platform.store.get(job.outputs["model"])
    return next(link.digest for link in model.arrays["model"].files if link.name.endswith(".safetensors"))


def plan_of(inputs: Mapping[str, str], *, quick: bool) -> Plan:
    """The trainings are those that ran undisturbed before, with as many new tries as it takes."""
    common = {"params": TRAINING, "inputs": dict(inputs), "retries": 1000, "resources": asdict(ONE_CORE)}
    trainings = tuple({**common, "seed": seed, "name": f"training-{seed}"} for seed in range(1 if quick else 4))
    if quick:
        return Plan(kills=21, jobs_at_once=2, steps=15, patience=60, kills_per_training=1, trainings=trainings)
    return Plan(kills=300, jobs_at_once=5, steps=40, patience=600, kills_per_training=3, trainings=trainings)


def measure(quick: bool) -> harness.Report:
    seed = int.from_bytes(os.urandom(4), "big")
    print(f"seed {seed}", flush=True)
    root = Path(tempfile.mkdtemp(prefix="seedbed-durability-"))
    try:
        inputs = publish_training_data(root / "undisturbed", root / "a")
        besieged = root / "besieged" / "home"
        plan = plan_of(publish_training_data(besieged, root / "b"), quick=quick)
        siege = Siege(besieged, plan, random.Random(seed))
        with ThreadPoolExecutor(1) as beside:
            undisturbed = beside.submit(unbroken, root / "undisturbed", inputs, len(plan.trainings))
            found = siege.run()
            expected = undisturbed.result()
        with Platform.open(settings_for(besieged)) as platform:
            resumed = [weights_of(platform, job) for job in siege.trained]
            broken = sum(len(platform.queue.attempts(job)) > 1 for job in siege.trained)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    figures = {name: found[name] for name in ("kills", "acknowledged_lost", "double_runs", "orphans")}
    figures["resumed_identical"] = int(broken > 0 and resumed == expected and "" not in expected)
    rows = [{"killed": name, "times": times} for name, times in sorted(siege.killed.items())]
    note = (
        f"Seed {seed}. Acknowledged and looked for afterwards: {found['bundles']} bundles, {found['labels']} labels, "
        f"{found['jobs']} jobs. The process table was read {found['looks']} times. "
        f"{broken} of {len(resumed)} trainings were broken off and resumed."
    )
    return harness.Report(figures, rows, note=note)


if __name__ == "__main__":
    harness.main("durability", TITLE, measure)
