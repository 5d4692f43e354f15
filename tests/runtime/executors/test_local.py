"""The local executor under everything that can be killed around an attempt."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from seedbed.base.errors import Conflict, Failed
from seedbed.base.resources import Resources
from seedbed.runtime.executors.local import LocalExecutor
from seedbed.runtime.executors.processes import is_alive, marked
from seedbed.runtime.executors.protocol import AttemptSpec, Exited, Handle, Lost, Running
from seedbed.runtime.executors.supervisor import identity, start_time
from seedbed.testing import executors
from seedbed.testing.executors import attempt, wait_for_output, wait_until_ended

SLEEP = "import time; print('ready', flush=True); time.sleep(600)"
# a worker with a child, and a grandchild that left the session and closed everything, as a daemon does
FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
daemon = ("import os, time\\nif os.fork(): os._exit(0)\\nos.setsid()\\nif os.fork(): os._exit(0)\\n"
          "open('daemon', 'w').write(str(os.getpid()))\\ntime.sleep(600)")
subprocess.run([sys.executable, "-c", daemon])
while not os.path.exists("daemon"): time.sleep(0.01)
print("ready", child.pid, flush=True)
"""


@pytest.fixture
def executor() -> LocalExecutor:
    return LocalExecutor(cpus=8, memory=8 << 30, gpus=0)


@pytest.fixture(autouse=True)
def leaves_nothing_behind(tmp_path: Path) -> Iterator[None]:
    yield
    for folder in tmp_path.rglob("supervisor.json"):
        with contextlib.suppress(KeyError):
            if is_alive(json.loads(folder.read_text())["supervisor"]):
                os.kill(json.loads(folder.read_text())["supervisor"]["pid"], signal.SIGKILL)


@pytest.mark.parametrize("check", executors.CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_conformance(check: Callable[[executors.Make, Path], None], tmp_path: Path) -> None:
    check(lambda: LocalExecutor(cpus=8, memory=8 << 30, gpus=0), tmp_path)


def worker_pid(handle: Handle) -> int:
    return int(json.loads((Path(handle["folder"]) / "supervisor.json").read_text())["worker"]["pid"])


def wait_until(true: Callable[[], bool], patience: float = 30.0) -> None:
    deadline = time.monotonic() + patience
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_killed_worker_is_noticed(executor: LocalExecutor, tmp_path: Path) -> None:
    handle = executor.start(attempt(tmp_path / "a", SLEEP, executor=executor))
    os.kill(worker_pid(handle), signal.SIGKILL)
    assert wait_until_ended(executor, handle) == Exited(137, 9, "")


@pytest.mark.parametrize("killed", ["worker", "supervisor", "nobody"])
def test_nothing_of_the_tree_survives(killed: str, executor: LocalExecutor, tmp_path: Path) -> None:
    code = FAMILY + ("time.sleep(600)" if killed != "nobody" else "")
    handle = executor.start(attempt(tmp_path / "a", code, executor=executor))
    wait_for_output(executor, handle, b"ready")
    child = int(executor.logs(handle).text.split()[1])
    daemon = int((tmp_path / "a" / "daemon").read_text())
    tree = [identity(pid) for pid in (child, daemon, worker_pid(handle))]
    if killed != "nobody":
        assert all(is_alive(member) for member in tree)
        os.kill(handle["supervisor"]["pid"] if killed == "supervisor" else worker_pid(handle), signal.SIGKILL)
    status = wait_until_ended(executor, handle)
    assert not any(is_alive(member) for member in tree)
    assert not marked(str(tmp_path / "a"))
    assert isinstance(status, Lost if killed == "supervisor" else Exited), status


def test_a_killed_supervisor_takes_the_worker_with_it(executor: LocalExecutor, tmp_path: Path) -> None:
    handle = executor.start(attempt(tmp_path / "a", SLEEP, executor=executor))
    worker = identity(worker_pid(handle))
    os.kill(handle["supervisor"]["pid"], signal.SIGKILL)
    wait_until(lambda: not is_alive(worker))  # by the kernel: nobody polls
    status = executor.poll(handle)
    assert status == Lost("The process that watched over it was killed.")


def test_a_memory_hog_is_killed_with_a_sentence(executor: LocalExecutor, tmp_path: Path) -> None:
    hog = "import time\nkept = []\nwhile True: kept.append(b'x' * (8 << 20)); time.sleep(0.01)"
    handle = executor.start(attempt(tmp_path / "a", hog, executor=executor, memory=128 << 20))
    status = wait_until_ended(executor, handle)
    assert isinstance(status, Exited) and status.signal == 9
    assert "more than the 128 MiB that the job asked for" in status.reason
    assert status.memory > 128 << 20


def test_memory_of_children_counts_and_shared_pages_count_once(executor: LocalExecutor, tmp_path: Path) -> None:
    """Four processes share 60 MiB: 240 MiB if each were counted alone, well under the limit of 180 MiB in truth."""
    shares = """
import os, time
block = bytearray(os.urandom(60 << 20))
children = []
for _ in range(3):
    pid = os.fork()
    if not pid:
        time.sleep(1); sum(block[::4096]); os._exit(0)
    children.append(pid)
for pid in children: os.waitpid(pid, 0)
"""
    handle = executor.start(attempt(tmp_path / "a", shares, executor=executor, memory=180 << 20))
    assert wait_until_ended(executor, handle) == Exited(0)
    splits = shares.replace("time.sleep(1);", "block = bytearray(os.urandom(60 << 20)); time.sleep(20);")
    handle = executor.start(attempt(tmp_path / "b", splits, executor=executor, memory=180 << 20))
    status = wait_until_ended(executor, handle)
    assert isinstance(status, Exited) and "180 MiB" in status.reason


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A folder on a disk, also where that for temporary files is in memory: what is mapped from there is held."""
    held_by = subprocess.run(["stat", "-f", "-c", "%T", "/var/tmp"], capture_output=True, text=True, check=True).stdout
    if held_by.strip() in ("tmpfs", "ramfs"):
        pytest.skip(f"/var/tmp is in memory here ({held_by.strip()}): what is mapped from there is held, and counts.")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


def test_pages_of_mapped_files_do_not_count(executor: LocalExecutor, on_disk: Path) -> None:
    """A training may look at more images than it may hold: the system takes such pages back when it needs room."""
    looks = """
import mmap, time
with open("large", "wb") as file: file.write(bytes(200 << 20))
with open("large", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
    assert not sum(pages[place] for place in range(0, 200 << 20, 4096)); time.sleep(1)
"""
    handle = executor.start(attempt(on_disk / "a", looks, executor=executor, memory=100 << 20))
    assert wait_until_ended(executor, handle) == Exited(0)


def test_an_attempt_outlives_the_process_that_started_it(tmp_path: Path) -> None:
    """A server that is killed with its whole process group leaves its attempts running, for the next one to adopt."""
    server = f"""
import json, pathlib, time
from seedbed.runtime.executors.local import LocalExecutor
from seedbed.testing.executors import attempt
executor = LocalExecutor(cpus=8, memory=8 << 30, gpus=0)
handle = executor.start(attempt(pathlib.Path({str(tmp_path / "a")!r}), {SLEEP!r}, executor=executor))
print(json.dumps(handle), flush=True)
time.sleep(600)
"""
    command = [sys.executable, "-c", server]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, text=True) as process:
        assert process.stdout
        handle = json.loads(process.stdout.readline())
        os.killpg(process.pid, signal.SIGKILL)
    executor = LocalExecutor(cpus=8, memory=8 << 30, gpus=0)
    status = executor.poll(handle)
    assert isinstance(status, Running) and time.time() - status.heartbeat < 10
    executor.stop(handle, 0.0)
    assert isinstance(wait_until_ended(executor, handle), Exited)


def test_a_reused_pid_is_not_taken_for_the_attempt(executor: LocalExecutor, tmp_path: Path) -> None:
    handle = executor.start(attempt(tmp_path / "a", SLEEP, executor=executor))
    os.kill(handle["supervisor"]["pid"], signal.SIGKILL)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as stranger:
        forged = {**handle, "supervisor": {**handle["supervisor"], "pid": stranger.pid}}
        assert isinstance(wait_until_ended(executor, forged), Lost)
        executor.stop(forged, 0.0)
        assert stranger.poll() is None
        stranger.kill()


def test_an_attempt_from_before_a_restart_of_the_machine_is_lost(executor: LocalExecutor, tmp_path: Path) -> None:
    handle = executor.start(attempt(tmp_path / "a", SLEEP, executor=executor))
    os.kill(handle["supervisor"]["pid"], signal.SIGKILL)
    before = {**handle, "supervisor": {**handle["supervisor"], "boot": "another"}}
    assert wait_until_ended(executor, before) == Lost("The machine was restarted while it ran.")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_attempts_at_once_get_cores_of_their_own(executor: LocalExecutor, tmp_path: Path) -> None:
    show = "import os, time; print(sorted(os.sched_getaffinity(0)), 'ready', flush=True); time.sleep(600)"
    first = executor.start(attempt(tmp_path / "a", show, executor=executor))
    other = LocalExecutor(cpus=8, memory=8 << 30, gpus=0)
    other.poll(first)  # a server that came back learns here what is taken
    second = other.start(attempt(tmp_path / "b", show, executor=other))
    for handle in (first, second):
        wait_for_output(executor, handle, b"ready")
    seen = [executor.logs(handle).text.split(b"]")[0] for handle in (first, second)]
    assert seen[0] != seen[1] and all(b"," not in cores for cores in seen)
    for handle in (first, second):
        executor.stop(handle, 0.0)
        wait_until_ended(executor, handle)


def test_an_unknown_command_ends_with_127_and_says_so(executor: LocalExecutor, tmp_path: Path) -> None:
    handle = executor.start(AttemptSpec("job", 1, tmp_path / "a", ["/no/such/program"]))
    assert wait_until_ended(executor, handle) == Exited(127)
    assert b"could not be started: /no/such/program" in executor.logs(handle).text


def test_secrets_of_the_server_do_not_reach_the_worker(
    executor: LocalExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SEEDBED_DATABASE", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "hunter2")
    handle = executor.start(attempt(tmp_path / "a", "import os; print(dict(os.environ))", executor=executor))
    wait_until_ended(executor, handle)
    assert b"hunter2" not in executor.logs(handle).text and b"PATH" in executor.logs(handle).text


def test_an_attempt_sees_only_its_gpus(
    executor: LocalExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6")
    show = [sys.executable, "-c", "import os; print(repr(os.environ['CUDA_VISIBLE_DEVICES']))"]
    for number, (gpus, seen) in enumerate([((0, 2), b"'4,6'\n"), ((), b"''\n")]):
        handle = executor.start(AttemptSpec("job", 1, tmp_path / str(number), show, gpu_ids=gpus))
        wait_until_ended(executor, handle)
        assert executor.logs(handle).text == seen


def test_a_shutdown_of_the_machine_lets_the_worker_end(executor: LocalExecutor, tmp_path: Path) -> None:
    """SIGTERM at the supervisor, with no stop file, is what a shutdown looks like."""
    handle = executor.start(attempt(tmp_path / "a", executors._OBEDIENT, executor=executor))
    wait_for_output(executor, handle, b"ready")
    os.kill(handle["supervisor"]["pid"], signal.SIGTERM)
    assert wait_until_ended(executor, handle) == Exited(75)


def test_two_starts_of_one_folder_at_once_run_it_once(executor: LocalExecutor, tmp_path: Path) -> None:
    spec = attempt(tmp_path / "a", "print('ran')", executor=executor)
    handles = []
    for _ in range(3):
        with contextlib.suppress(Conflict, Failed):
            handles.append(executor.start(spec))
    wait_until_ended(executor, handles[0])
    assert len(handles) == 1 and executor.logs(handles[0]).text == b"ran\n"


def test_a_supervisor_that_comes_after_its_place_was_revoked_does_nothing(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    """The window between start.json and the supervisor's first breath, in which a scheduler may die."""
    program = Path(executors.__file__).parents[1] / "runtime" / "executors" / "supervisor.py"
    folder = tmp_path / "a"
    folder.mkdir()
    plan = {"command": [sys.executable, "-c", "open('ran', 'w')"], "environment": {}, "memory": 0, "cores": []}
    (folder / "start.json").write_text(json.dumps({**plan, "grace": 1}))
    assert executor.recover(folder) is None
    assert subprocess.run([sys.executable, "-I", "-S", program, folder], pass_fds=()).returncode != 0
    assert not (folder / "ran").exists() and not (folder / "supervisor.json").exists()


def test_starting_an_attempt_costs_little(executor: LocalExecutor, tmp_path: Path) -> None:
    """From start to the command's end, above what the command alone takes; on a busy machine, so the best of 25."""

    def took(run: Callable[[int], object]) -> float:
        times = []
        for number in range(25):
            began = time.perf_counter()
            run(number)
            times.append(time.perf_counter() - began)
        return min(times)

    def supervised(number: int) -> None:
        spec = AttemptSpec("job", 1, tmp_path / str(number), ["/bin/true"], Resources())
        wait_until_ended(executor, executor.start(spec))

    assert took(supervised) - took(lambda number: subprocess.run(["/bin/true"], check=True)) < 0.15


def test_no_zombies_are_left(executor: LocalExecutor, tmp_path: Path) -> None:
    handle = executor.start(attempt(tmp_path / "a", "pass", executor=executor))
    wait_until_ended(executor, handle)
    wait_until(lambda: start_time(handle["supervisor"]["pid"]) is None)
    executor.poll(handle)
    with pytest.raises(ChildProcessError):
        os.waitpid(handle["supervisor"]["pid"], os.WNOHANG)


def test_of_a_log_beyond_its_limit_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    limit, lines = 100_000, 40_000
    executor = LocalExecutor(cpus=8, memory=8 << 30, gpus=0, log_limit=limit)
    code = f"import time\nfor n in range({lines}):\n    print('line', n, flush=True)\n    n % 10000 or time.sleep(0.5)"
    handle = executor.start(attempt(tmp_path / "a", code, executor=executor))
    followed, offset = b"", 0
    while not isinstance(executor.poll(handle), Exited):  # somebody who reads along, piece by piece
        piece, offset = executor.logs(handle, offset, 5000)
        followed += piece
    printed = b"".join(b"line %d\n" % number for number in range(lines))
    kept = (tmp_path / "a" / "log.txt").read_bytes()
    assert len(kept) <= limit < len(printed)
    head, cut, tail = re.split(rb"\[([\d,]+) bytes that were printed here are not kept.*\]\n", kept)
    assert head and printed.startswith(head) and tail and printed.endswith(tail)
    assert len(head) + int(cut.replace(b",", b"")) + len(tail) == len(printed)
    assert _all_of(executor, handle) == kept, "whoever comes later reads past the cut"
    assert executor.logs(handle, len(printed) - 9).text == b"ne 39999\n", "offsets count all that was printed"
    assert executor.logs(handle, offset).following == len(printed) and followed.startswith(head)


def _all_of(executor: LocalExecutor, handle: Handle) -> bytes:
    text, offset = b"", 0
    while (piece := executor.logs(handle, offset, 7000)).text:
        text, offset = text + piece.text, piece.following
    return text
