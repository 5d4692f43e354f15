"""Servers, workers and supervisors killed at random while real jobs run: nothing is lost, nothing runs twice."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from seedbed.base.resources import Resources
from seedbed.runtime.executors.processes import is_alive
from seedbed.runtime.jobs.states import State
from tests.runtime.jobs.conftest import Service

SERVER = """
import sys, pathlib, threading
from tests.runtime.jobs.conftest import Service
service = Service(sys.argv[1], pathlib.Path(sys.argv[2]))
print("up", flush=True)
service.scheduler.run(threading.Event())
"""
# holds a lock of its job for as long as it lives, and says so where somebody else has it
ALONE = """
import fcntl
lock = open(f"../../{told['job']}.lock", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    (here / "../../twice").write_text(told["job"])
count()
"""


@contextmanager
def server(service: Service) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", SERVER, service.url, str(service.home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout and process.stdout.readline() == "up\n"
        try:
            yield process
        finally:
            process.kill()


def kill_one(home: Path, who: str, draw: random.Random) -> bool:
    """Kill the worker or supervisor of some running attempt."""
    for path in sorted(home.glob("jobs/*/*/supervisor.json"), key=lambda path: draw.random()):
        with suppress(OSError, ValueError):
            told = json.loads(path.read_text())
            if not (path.parent / "exit.json").exists() and told[who] and is_alive(told[who]):
                os.kill(told[who]["pid"], signal.SIGKILL)
                return True
    return False


def survive(service: Service, kills: int, seed: int) -> None:
    draw = random.Random(seed)
    resources = Resources(1.0, 256 << 20, 0)
    jobs = [
        service.submit(ALONE, params={"to": 15, "pause": 0.04}, resources=resources, retries=1000) for _ in range(4)
    ]
    done = 0
    while done < kills:
        with server(service) as process:
            for _ in range(draw.randint(1, 3)):
                time.sleep(draw.uniform(0.05, 0.5))
                done += kill_one(service.home, draw.choice(["worker", "supervisor"]), draw)
            if all(state.ended for state in service.queue.states([job.id for job in jobs]).values()):
                more = service.submit(ALONE, params={"to": 15, "pause": 0.04}, resources=resources, retries=1000)
                jobs.append(more)
            process.kill()
            done += 1
    with server(service):
        deadline = time.monotonic() + 120
        while not all(state.ended for state in service.queue.states([job.id for job in jobs]).values()):
            assert time.monotonic() < deadline, [(j.state, j.reason) for j in service.queue.list()]
            time.sleep(0.05)
    for job in jobs:
        assert service.queue.get(job.id).state is State.DONE, service.queue.get(job.id)
        assert service.numbers(job) == tuple(range(15))
        assert [a.outcome for a in service.queue.attempts(job.id)].count("done") == 1
        assert service.alive(job) == []
    assert not (service.home / "jobs" / "twice").exists()
    assert len(service.store.find(all_versions=True, limit=1000)) == len(jobs)


@pytest.mark.parametrize("database_url", ["sqlite", "postgresql"], indirect=True)
def test_jobs_survive_random_kills(service: Service) -> None:
    survive(service, kills=7, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_jobs_survive_many_random_kills(service: Service, seed: int) -> None:
    survive(service, kills=40, seed=seed)


def test_the_loop_wakes_when_a_job_comes_and_ends_when_it_is_told(service: Service) -> None:
    stop = threading.Event()
    loop = threading.Thread(target=service.scheduler.run, args=(stop,))
    loop.start()
    job = service.submit(params={"to": 2})
    deadline = time.monotonic() + 30
    while service.queue.get(job.id).state is not State.DONE:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    stop.set()
    loop.join(10)
    assert not loop.is_alive()
    assert service.restart().lease.hold()  # given back


def test_two_servers_at_once_do_not_disturb_each_other(service: Service) -> None:
    with server(service), server(service):
        jobs = [service.submit(ALONE, params={"to": 10, "pause": 0.02}) for _ in range(4)]
        deadline = time.monotonic() + 60
        while not all(state is State.DONE for state in service.queue.states([job.id for job in jobs]).values()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert all(len(service.queue.attempts(job.id)) == 1 for job in jobs)
    assert not (service.home / "jobs" / "twice").exists()
