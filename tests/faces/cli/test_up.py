"""`seedbed up`: one per home, private, with a scheduler that lives as long as it does."""

import contextlib
import json
import os
import signal
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil

from tests.faces.servers import Server, run, serving


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)


def is_gone(process: psutil.Process | None) -> bool:
    assert process is not None
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_the_address_with_the_token_is_printed_and_noted_for_the_owner_only(server: Server) -> None:
    printed = (server.home.parent / "home.log").read_text()
    assert f"{server.url}/?token={server.token}" in printed
    mode = stat.S_IMODE((server.home / "server.json").stat().st_mode)
    assert mode == 0o600
    assert server.url.startswith("http://127.0.0.1:")


def test_a_second_server_on_the_same_home_is_refused_with_a_sentence(server: Server) -> None:
    done = run(server.home, "up", "--port", "0")
    assert done.returncode == 6
    assert server.url in done.stderr and "already running" in done.stderr
    assert server.http().get("/api/v1/health").status_code == 200


def test_a_taken_port_is_said_in_a_sentence(server: Server, tmp_path: Path) -> None:
    done = run(tmp_path / "other", "up", "--port", str(server.port))
    assert done.returncode == 9
    assert str(server.port) in done.stderr and "--port 0" in done.stderr


def test_commands_speak_to_a_server_when_its_address_is_set(server: Server, tmp_path: Path) -> None:
    away = {"SEEDBED_URL": server.url, "SEEDBED_TOKEN": server.token}
    submit = ("jobs", "submit", "sleep-and-count", "-p", "steps=1", "-p", "seconds_per_step=0.01", "--json")
    done = run(tmp_path / "not-used", *submit, **away)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "done"
    assert not (tmp_path / "not-used").exists()
    refused = run(tmp_path / "not-used", "jobs", "list", SEEDBED_URL=server.url, SEEDBED_TOKEN="wrong")
    assert refused.returncode == 3


def test_a_file_is_uploaded_when_the_server_is_elsewhere(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("over the network")
    away = {"SEEDBED_URL": server.url, "SEEDBED_TOKEN": server.token}
    done = run(tmp_path, "store", "add", str(tmp_path / "a.txt"), "--name", "sent", "--json", **away)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["arrays"]["files"]["items"][0]["size"] == 16


def test_a_command_on_the_home_of_a_running_server_leaves_the_scheduling_to_it(server: Server) -> None:
    done = run(
        server.home, "jobs", "submit", "sleep-and-count", "-p", "steps=2", "-p", "seconds_per_step=0.02", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "done"


def test_a_scheduler_that_dies_is_started_again(server: Server) -> None:
    wait_for(lambda: server.scheduler() is not None)
    first = server.scheduler()
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    wait_for(lambda: (now := server.scheduler()) is not None and now.pid != first.pid)
    done = run(
        server.home, "jobs", "submit", "sleep-and-count", "-p", "steps=1", "--again", "--json",
        SEEDBED_URL=server.url, SEEDBED_TOKEN=server.token,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_scheduler_does_not_outlive_its_server_however_that_ends(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as killed:
        wait_for(lambda: killed.scheduler() is not None)
        scheduler = killed.scheduler()
        os.kill(killed.process.pid, signal.SIGKILL)
        killed.process.wait()
        wait_for(lambda: is_gone(scheduler))
    with serving(tmp_path / "home") as stopped:
        wait_for(lambda: stopped.scheduler() is not None)
        scheduler = stopped.scheduler()
        patient = threading.Thread(target=_wait_for_news, args=(stopped,))
        patient.start()
        time.sleep(0.5)
        began = time.monotonic()
    assert time.monotonic() - began < 20, "somebody who waits for news holds up the end"
    patient.join()
    assert is_gone(scheduler)
    assert stopped.process.returncode == 0
    assert not (tmp_path / "home" / "server.json").exists()


def _wait_for_news(server: Server) -> None:
    with contextlib.suppress(httpx.TransportError):
        server.http().get("/api/v1/events", params={"after": 1_000_000, "wait": 25})
