"""A home under siege: a real service whose processes are killed at random while jobs run and a client publishes."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psutil

from seedbed.assets.access.roles import SOLO
from seedbed.assets.projects.labels import LabelEvent
from seedbed.assets.store.bundle import ArrayType, Draft, DraftArray, DraftFile
from seedbed.base.errors import SeedbedError, Unavailable
from seedbed.base.ids import new_id
from seedbed.base.settings import Settings, load_settings
from seedbed.faces.client.client import Client
from seedbed.flows.platform import Platform
from seedbed.runtime.executors.processes import MARK

ORPHAN_AFTER = 30.0  # seconds that a process may outlive its attempt
WEIGHTS = {"worker": 50, "publisher": 25, "scheduler": 16, "server": 9}


@dataclass(frozen=True)
class Plan:
    """How much is killed, and what runs meanwhile."""

    kills: int
    jobs_at_once: int
    steps: int  # of each counting job
    patience: float  # seconds for everything to come to its end afterwards
    kills_per_training: int
    trainings: tuple[Mapping[str, Any], ...] = ()  # what POST /jobs takes


def settings_for(home: Path) -> Settings:
    return load_settings({"home": home, "port": 0}, environ={})


def quick_start() -> dict[str, str]:
    """An environment in which Python keeps what it compiles, so that restarts are as quick as on a user's machine."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


# --- who is killed ----------------------------------------------------------------------------------------------------


class Service:
    """`seedbed up`, started again whenever it is gone, as an init system would."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.process: subprocess.Popen[bytes] | None = None

    def ensure(self) -> None:
        if self.process is None or self.process.poll() is not None:
            environment = {**quick_start(), "SEEDBED_HOME": str(self.home), "SEEDBED_PORT": "0", "NO_COLOR": "1"}
            command = [sys.executable, "-m", "seedbed.faces.cli.main", "up"]
            log = (self.home / "up.log").open("ab")
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            log.close()

    def client(self) -> Client:
        """A client of the server as it is now; Unavailable while it starts."""
        try:
            known = json.loads((self.home / "server.json").read_text())
        except (OSError, ValueError):
            raise Unavailable("The server is starting.") from None
        return Client(known["url"], known["token"], timeout=10)

    def scheduler(self) -> psutil.Process | None:
        if self.process is None or self.process.poll() is not None:
            return None
        with suppress(psutil.Error):
            for child in psutil.Process(self.process.pid).children():
                if "scheduler" in child.cmdline():
                    return child
        return None

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Publisher:
    """A client that publishes bundles and labels without end, and notes what was acknowledged after it was."""

    def __init__(self, home: Path, project: str) -> None:
        self.home, self.project = home, project
        self.notes = home.parent / "acknowledged.txt"
        self.process: subprocess.Popen[bytes] | None = None
        self._noted = 0

    @property
    def is_at_work(self) -> bool:
        """Whether it was acknowledged something since its last start."""
        return self.process is not None and self.process.poll() is None and self._size() > self._noted

    def _size(self) -> int:
        return self.notes.stat().st_size if self.notes.exists() else 0

    def ensure(self) -> None:
        if self.process is None or self.process.poll() is not None:
            code = "from benchmarks.siege import publish_without_end as p; import sys; p(*sys.argv[1:])"
            command = [sys.executable, "-c", code, str(self.home), self.project, str(self.notes)]
            self._noted = self._size()
            self.process = subprocess.Popen(command, env=quick_start(), stderr=subprocess.DEVNULL)

    def acknowledged(self, kind: str) -> list[str]:
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        return [line.split()[1] for line in lines if line.startswith(f"{kind} ") and len(line.split()) == 2]

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def publish_without_end(home: str, project: str, notes: str) -> None:
    """The publishing client's main: a bundle, a note; a label, a note; until it is killed."""
    parent = os.getppid()
    platform = Platform.open(settings_for(Path(home)))
    random_bytes = random.Random(os.getpid())
    with Path(notes).open("a") as file, tempfile.TemporaryDirectory() as scratch:
        for number in count():
            if os.getppid() != parent:
                return
            path = Path(scratch) / "noise.bin"
            path.write_bytes(random_bytes.randbytes(random_bytes.randint(1, 1 << 16)))
            arrays = {"noise": DraftArray(ArrayType.FILE, (DraftFile(path, "noise.bin"),))}
            bundle = platform.store.publish(Draft(name=f"noise-{number % 50}", kind="noise", arrays=arrays))
            _note(file, f"bundle {bundle.uuid}")
            event = LabelEvent(id=new_id(), image=f"image-{number}", label="leaf", by="publisher")
            platform.projects.add_labels(project, [event], by=SOLO)
            _note(file, f"label {event.id}")
            time.sleep(random_bytes.uniform(0, 0.1))  # SQLite's write lock is not fair: leave others their turn


def _note(file: Any, line: str) -> None:
    file.write(line + "\n")
    file.flush()
    os.fsync(file.fileno())


# --- who looks on -----------------------------------------------------------------------------------------------------


@dataclass
class Witness:
    """Looks at the process table all the while: two attempts of one job at once, and processes that stay too long."""

    home: Path
    place_of: Callable[[], Mapping[str, int]]  # job -> fencing number of the attempt that may run, 0: none may
    double_runs: int = 0
    orphans: int = 0
    looks: int = 0
    _lost_since: dict[tuple[int, float], float] = field(default_factory=dict)
    _counted: set[Any] = field(default_factory=set)

    def run(self, stop: threading.Event) -> None:
        next_places = 0.0
        while not stop.wait(0.02):
            self.looks += 1
            running = self.attempts()
            self._count_doubles(running)
            if time.monotonic() >= next_places:
                self._count_orphans(running, self.place_of())
                next_places = time.monotonic() + 1.0

    def attempts(self) -> dict[tuple[str, int], list[psutil.Process]]:
        """The processes of each attempt (job, fence), by the mark that they inherited."""
        found: dict[tuple[str, int], list[psutil.Process]] = {}
        mark = f"{MARK}={self.home / 'jobs'}/".encode()
        for pid in psutil.pids():
            with suppress(OSError, ValueError, psutil.Error):
                environment = Path(f"/proc/{pid}/environ").read_bytes()
                start = environment.find(mark)
                if start >= 0:
                    job, fence = environment[start + len(mark) :].split(b"\0")[0].decode().split("/")
                    found.setdefault((job, int(fence)), []).append(psutil.Process(pid))
        return found

    def _count_doubles(self, running: Mapping[tuple[str, int], list[psutil.Process]]) -> None:
        by_job: dict[str, list[tuple[int, list[psutil.Process]]]] = {}
        for (job, fence), processes in running.items():
            by_job.setdefault(job, []).append((fence, processes))
        for job, tries in by_job.items():
            alive = [fence for fence, processes in tries if any(map(_runs, processes))]
            if len(alive) > 1 and (job, *sorted(alive)) not in self._counted:
                self._counted.add((job, *sorted(alive)))
                self.double_runs += 1

    def _count_orphans(
        self, running: Mapping[tuple[str, int], list[psutil.Process]], places: Mapping[str, int]
    ) -> None:
        now = time.monotonic()
        for (job, fence), processes in running.items():
            for process in processes:
                with suppress(psutil.Error):
                    who = (process.pid, process.create_time())
                    if places.get(job) == fence:
                        self._lost_since.pop(who, None)
                    elif now - self._lost_since.setdefault(who, now) > ORPHAN_AFTER and who not in self._counted:
                        self._counted.add(who)
                        self.orphans += 1


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return bool(process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD))
    return False


# --- the run ----------------------------------------------------------------------------------------------------------


@dataclass
class Siege:
    """One home under random kills."""

    home: Path
    plan: Plan
    rng: random.Random
    killed: dict[str, int] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)  # acknowledged
    trained: list[str] = field(default_factory=list)
    _moments: dict[str, list[int]] = field(default_factory=dict)  # the steps at which trainings are still to be killed

    def run(self) -> dict[str, float]:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is stopped
        with Platform.open(settings_for(self.home)) as platform:
            project = platform.projects.create("siege", classes=["leaf"], by=SOLO).id
            service, publisher = Service(self.home), Publisher(self.home, project)
            witness = Witness(self.home, lambda: _places(platform))
            stop = threading.Event()
            watching = [
                threading.Thread(target=witness.run, args=(stop,), daemon=True),
                threading.Thread(target=self._interrupt_trainings, args=(witness, stop), daemon=True),
            ]
            for thread in watching:
                thread.start()
            try:
                self._kill(platform, service, publisher, witness)
                publisher.stop()
                self._let_end(platform, service)
                self._wait_for_orphans(witness, platform)
            finally:
                publisher.stop()
                service.stop()
                stop.set()
                for thread in watching:
                    thread.join()
            return {
                "kills": sum(self.killed.values()),
                "acknowledged_lost": self._lost(platform, publisher, project),
                "double_runs": witness.double_runs,
                "orphans": witness.orphans,
                "looks": witness.looks,
                "bundles": len(publisher.acknowledged("bundle")),
                "labels": len(publisher.acknowledged("label")),
                "jobs": len(self.jobs) + len(self.trained),
            }

    def _kill(self, platform: Platform, service: Service, publisher: Publisher, witness: Witness) -> None:
        with _progress("kills", self.plan.kills) as advance:
            while sum(self.killed.values()) < self.plan.kills or self._trainings_to_come(platform):
                service.ensure()
                publisher.ensure()
                self._submit(service)
                time.sleep(self.rng.uniform(0.05, 0.5))
                name, victim = self._choose(service, publisher, witness)
                if victim is not None and _kill(victim):
                    self.killed[name] = self.killed.get(name, 0) + 1
                    advance()

    def _choose(self, service: Service, publisher: Publisher, witness: Witness) -> tuple[str, psutil.Process | None]:
        """Somebody who is at work: killing what has nothing to lose would prove little."""
        there: dict[str, list[psutil.Process]] = {}
        with suppress(psutil.Error):
            workers = witness.attempts()
            counting = [processes for (job, _), processes in workers.items() if job not in self.trained]
            there["worker"] = [process for processes in counting for process in processes]
            there["worker"] += [parent for worker in there["worker"] if (parent := _supervisor(worker))]
            if publisher.process and publisher.is_at_work:
                there["publisher"] = [psutil.Process(publisher.process.pid)]
            if workers and service.process and (scheduler := service.scheduler()):
                patience = self.rng.uniform(4, 10)  # seconds: one that never gets to work has nothing to lose
                if time.time() - scheduler.create_time() > patience:
                    there |= {"scheduler": [scheduler], "server": [psutil.Process(service.process.pid)]}
        names = [name for name, processes in there.items() if processes]
        if not names:
            return "", None
        name = self.rng.choices(names, weights=[WEIGHTS[name] for name in names])[0]
        return name, self.rng.choice(there[name])

    def _trainings_to_come(self, platform: Platform) -> bool:
        """Whether a training that still runs is to be killed."""
        return any(moments and not platform.queue.get(job).state.ended for job, moments in self._moments.items())

    def _interrupt_trainings(self, witness: Witness, stop: threading.Event) -> None:
        """Kill trainings at steps drawn beforehand, with a checkpoint kept: chance would rarely hit one."""
        while not stop.wait(0.05):
            for (job, fence), workers in witness.attempts().items():
                moments = self._moments.get(job, [])
                kept = any((self.home / "jobs" / job / "checkpoint").glob("*"))
                if moments and kept and self._step(job, fence) >= moments[0] and _kill(workers[0]):
                    self.killed["training"] = self.killed.get("training", 0) + 1
                    moments.pop(0)

    def _step(self, job: str, fence: int) -> int:
        """How far an attempt is, by its own account."""
        with suppress(OSError, ValueError, IndexError):
            return int(
                json.loads((self.home / f"jobs/{job}/{fence}/metrics.jsonl").read_text().splitlines()[-1])["step"]
            )
        return 0

    def _submit(self, service: Service) -> None:
        """Keep jobs in the queue; what the server did not acknowledge is not counted."""
        try:
            with service.client() as client:
                active = [
                    job for job in client.jobs.list(limit=50) if job["state"] in ("waiting", "starting", "running")
                ]
                for training in self.plan.trainings[len(self.trained) :]:
                    job = client.jobs.submit("train", **training)["id"]
                    self.trained.append(job)
                    steps = range(training["params"]["steps"] // 2)
                    self._moments[job] = sorted(self.rng.sample(steps, self.plan.kills_per_training))
                for _ in range(self.plan.jobs_at_once - len(active) + len(self.trained)):
                    params = {"steps": self.plan.steps, "seconds_per_step": 0.1, "checkpoint_every": 2, "tag": new_id()}
                    self.jobs.append(client.jobs.submit("sleep-and-count", params=params, retries=1000)["id"])
        except Unavailable:
            return

    def _let_end(self, platform: Platform, service: Service) -> None:
        """Nothing is killed any more: everything acknowledged must come to a good end."""
        deadline = time.monotonic() + self.plan.patience
        ids = self.jobs + self.trained
        with _progress("jobs that end", len(ids)) as advance:
            ended: set[str] = set()
            while len(ended) < len(ids) and time.monotonic() < deadline:
                service.ensure()
                for job in ids:
                    with suppress(SeedbedError):
                        if job not in ended and platform.queue.get(job).state.ended:
                            ended.add(job)
                            advance()
                time.sleep(0.3)

    def _wait_for_orphans(self, witness: Witness, platform: Platform) -> None:
        deadline = time.monotonic() + ORPHAN_AFTER + 3
        while witness.attempts() and time.monotonic() < deadline:
            time.sleep(0.5)

    def _lost(self, platform: Platform, publisher: Publisher, project: str) -> int:
        known = {bundle.uuid for bundle in _all_bundles(platform, "noise")}
        damaged = {name for finding in _findings(platform) for name in finding}
        bundles = [uuid for uuid in publisher.acknowledged("bundle") if uuid not in known or uuid in damaged]
        events = {label.id for label in _all_labels(platform, project)}
        labels = [name for name in publisher.acknowledged("label") if name not in events]
        jobs = [job for job in self.jobs + self.trained if not _ended_well(platform, job)]
        return len(bundles) + len(labels) + len(jobs)


def _places(platform: Platform) -> dict[str, int]:
    """The attempt of each job that may run now, as the database says."""
    return {job.id: attempt.fence for job, attempt in platform.queue.active()}


def _all_bundles(platform: Platform, kind: str) -> Iterator[Any]:
    for offset in count(0, 500):
        page = platform.store.find(kind=kind, all_versions=True, limit=500, offset=offset)
        yield from page
        if len(page) < 500:
            return


def _all_labels(platform: Platform, project: str) -> Iterator[Any]:
    after = 0
    kept = platform._kept_projects
    while page := kept.history(project, after=after, limit=1000):
        yield from page
        after = page[-1].number


def _findings(platform: Platform) -> list[tuple[str, ...]]:
    report = platform.bundles.verify(by=SOLO)
    return [tuple(str(part) for part in vars(finding).values()) for finding in report.findings]


def _ended_well(platform: Platform, job_id: str) -> bool:
    try:
        job = platform.queue.get(job_id)
        return job.state == "done" and all(platform.store.get(uuid) for uuid in job.outputs.values())
    except SeedbedError:
        return False


def _supervisor(worker: psutil.Process) -> psutil.Process | None:
    with suppress(psutil.Error):
        parent = worker.parent()
        if parent and any("supervisor.py" in part for part in parent.cmdline()):
            return parent
    return None


def _kill(victim: psutil.Process) -> bool:
    if not _runs(victim):
        return False
    try:
        victim.send_signal(signal.SIGKILL)
    except psutil.Error:
        return False
    return True


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    done = count(1)
    every = max(1, total // 10)

    def advance() -> None:
        if (number := next(done)) % every == 0 or number == total:
            print(f"  {number} of {total} {what}", flush=True)

    yield advance
