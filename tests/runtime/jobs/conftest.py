"""A small real service: a database, a store, the local executor, and steps that are a few lines of Python."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from seedbed.assets.db.engine import Database
from seedbed.assets.projects.projects import Projects
from seedbed.assets.store.store import Store
from seedbed.base.resources import Resources
from seedbed.runtime.executors.local import LocalExecutor
from seedbed.runtime.executors.processes import is_alive, kill_marked, marked
from seedbed.runtime.jobs.collector import Collector
from seedbed.runtime.jobs.fitgpp import FitGpp
from seedbed.runtime.jobs.folders import JobFolders
from seedbed.runtime.jobs.launcher import Answered, Prepared
from seedbed.runtime.jobs.lease import Lease
from seedbed.runtime.jobs.policy import Policy
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Attempt, Job
from seedbed.runtime.jobs.reruns import Reruns
from seedbed.runtime.jobs.scheduler import Scheduler
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State

SMALL = Resources(1.0, 256 << 20, 0)

# counts to `to` with a checkpoint at every number, and publishes all the numbers that it has seen
PRELUDE = """
import json, os, pathlib, signal, sys, time
from seedbed.assets.store.bundle import ArrayType, Draft, DraftArray
from seedbed.base.run import FolderRun
here = pathlib.Path(".")
told = json.loads((here / "attempt.json").read_text())
params = told["params"]
run = FolderRun(here, resume=here / "resume" if (here / "resume").exists() else None)
signal.signal(signal.SIGTERM, lambda number, frame: run.ask_to_stop())

def give(**outputs):
    for name, numbers in outputs.items():
        folder = here / "outbox" / name
        folder.mkdir(parents=True)
        arrays = {"values": DraftArray(ArrayType.INT, tuple(numbers))}
        Draft(name, "numbers", arrays, key=params.get("key", "")).write(folder)
    (here / "outbox").mkdir(exist_ok=True)
    (here / "outbox" / "done.json").write_text("{}")

def count():
    seen = json.loads((run.resume / "seen").read_text()) if run.resume else []
    while len(seen) < params.get("to", 3):
        seen.append(len(seen))
        run.report({"n": len(seen)}, step=len(seen), total=params.get("to", 3), doing="counting")
        run.checkpoint(lambda folder: (folder / "seen").write_text(json.dumps(seen)), step=len(seen))
        if run.should_stop():
            sys.exit(75)
        time.sleep(params.get("pause", 0))
    give(result=seen)
"""


class Launcher:
    """Runs the Python in a job's parameters."""

    def __init__(self, queue: Queue, store: Store) -> None:
        self.queue, self.store = queue, store

    def prepare(self, job: Job, fence: int, folder: Path) -> Prepared | Answered:
        params = dict(job.spec.params)
        known = self.store.by_key(params.get("key", ""))
        if known and not job.spec.again:
            return Answered({"result": known.uuid}, key=params["key"])
        for name, uuid in self.queue.resolve(job).items():
            self.store.checkout(self.store.get(uuid), folder / "inputs" / name, links=True)
        told = {"job": job.id, "fence": fence, "params": params}
        (folder / "attempt.json").write_text(json.dumps(told))
        code = PRELUDE + params.get("code", "count()")
        return Prepared([sys.executable, "-c", code], {"PYTHONPATH": os.pathsep.join(sys.path)}, params.get("key", ""))


class Service:
    """The parts of one server; `restart` makes new ones on the same home, as after a crash."""

    def __init__(self, url: str, home: Path, policy: Policy | None = None) -> None:
        self.url, self.home, self.policy = url, home, policy or FitGpp()
        self.others: list[Service] = []  # that came after it
        self.database = Database(url)
        self.store = Store(self.database, home)
        self.queue = Queue(self.database, self.store.events)
        self.projects = Projects(self.database, self.store.events, self.queue.clock)
        self.lease = Lease(self.database)
        self.folders = JobFolders(home / "jobs")
        self.reruns = Reruns(self.queue, self.folders)
        self.collector = Collector(self.queue, self.store, self.folders, self.lease)
        self.executor = LocalExecutor(cpus=4, memory=4 << 30, gpus=0)
        self.launcher = Launcher(self.queue, self.store)
        self.scheduler = Scheduler(
            self.queue, self.executor, self.policy, self.launcher, self.collector, self.lease, backoff=0.01
        )

    def submit(self, code: str = "count()", **more: Any) -> Job:
        params = {"code": code, **more.pop("params", {})}
        return self.queue.submit(JobSpec("python", params, **{"resources": SMALL, "grace": 20.0, **more}))

    def project(self, name: str) -> str:
        """The id of a new project."""
        return self.projects.create(name, "ann").id

    def restart(self) -> "Service":
        """What comes back after this one was killed: nothing is handed over but the home, and the lease is free."""
        other = Service(self.url, self.home, self.policy)
        self.others.append(other)
        self.lease.release()  # a killed process is known to be dead; these two are one process
        return other

    def until(self, true: Callable[[], bool], patience: float = 30.0) -> None:
        """Make turns until something is so."""
        deadline = time.monotonic() + patience
        while not true():
            assert time.monotonic() < deadline, [(j.id, j.state, j.reason) for j in self.queue.list()]
            self.scheduler.tick()
            time.sleep(0.01)

    def until_state(self, job: Job, *states: State) -> Job:
        self.until(lambda: self.queue.get(job.id).state in states)
        return self.queue.get(job.id)

    def finish(self, job: Job) -> Job:
        return self.until_state(job, State.DONE, State.FAILED, State.CANCELLED)

    def until_step(self, job: Job, step: int) -> Job:
        """Until a checkpoint of at least this step is admitted."""
        self.until(lambda: int((self.queue.get(job.id).checkpoint or "0-0").split("-")[1]) >= step)
        return self.queue.get(job.id)

    def attempt(self, job: Job) -> Attempt:
        return self.queue.attempts(job.id)[-1]

    def folder(self, job: Job, fence: int = 1) -> Path:
        return self.folders.attempt(job.id, fence)

    def kill(self, job: Job, who: str = "worker") -> None:
        told = json.loads((self.folder(job, self.attempt(job).fence) / "supervisor.json").read_text())
        os.kill(told[who]["pid"], signal.SIGKILL)

    def numbers(self, job: Job) -> tuple[Any, ...]:
        bundle = self.store.get(self.queue.get(job.id).outputs["result"])
        return tuple(bundle.arrays["values"].items)

    def alive(self, job: Job) -> list[int]:
        folders = (self.home / "jobs" / job.id).glob("[0-9]*")
        return [pid for folder in folders for pid in marked(str(folder))]


@pytest.fixture
def service(database_url: str, home: Path) -> Iterator[Service]:
    made = Service(database_url, home)
    yield made
    for path in home.glob("jobs/*/*/supervisor.json"):
        supervisor = json.loads(path.read_text())["supervisor"]
        if is_alive(supervisor):
            os.kill(supervisor["pid"], signal.SIGKILL)
        kill_marked(str(path.parent))
    for each in (made, *made.others):
        each.database.dispose()
