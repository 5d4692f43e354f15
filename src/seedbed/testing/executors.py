"""What every executor must satisfy, as functions that take one; each raises AssertionError with what it saw.

`make` gives a new object of the executor each time, as a restarted server would; `folder` is an empty folder that the
attempts may use. `CHECKS` lists them all:

    @pytest.mark.parametrize("check", executors.CHECKS)
    def test_my_executor(check, tmp_path):
        check(MyExecutor, tmp_path)
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from seedbed.base.errors import Conflict
from seedbed.base.resources import Resources
from seedbed.runtime.executors.protocol import AttemptSpec, Executor, Exited, Handle, Running, Status

Make = Callable[[], Executor]
PATIENCE = 60.0

_OBEDIENT = """
import signal, sys, time
def stop(number, frame):
    print("asked to stop", flush=True)
    sys.exit(75)
signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
time.sleep(600)
"""
_STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""


def attempt(folder: Path, code: str, *, executor: Executor, fence: int = 1, memory: int = 1 << 30) -> AttemptSpec:
    """An attempt that runs a piece of Python."""
    node = executor.nodes()[0].name
    return AttemptSpec("job", fence, folder, [sys.executable, "-c", code], Resources(1.0, memory, 0), node=node)


def wait_until_ended(executor: Executor, handle: Handle, patience: float = PATIENCE) -> Status:
    """The first status that is not Running."""
    deadline = time.monotonic() + patience
    while isinstance(status := executor.poll(handle), Running):
        assert time.monotonic() < deadline, f"still {status} after {patience:g} s"
        time.sleep(0.01)
    return status


def wait_for_output(executor: Executor, handle: Handle, text: bytes, patience: float = PATIENCE) -> None:
    """Wait until the attempt has printed a text."""
    deadline = time.monotonic() + patience
    while text not in executor.logs(handle).text:
        assert time.monotonic() < deadline, f"{text!r} is not in {executor.logs(handle).text!r}"
        time.sleep(0.01)


def check_nodes_have_names_of_their_own_and_room(make: Make, folder: Path) -> None:
    """At least one node, with cpus and memory, no name twice."""
    nodes = make().nodes()
    assert nodes and len({node.name for node in nodes}) == len(nodes)
    assert all(node.capacity.cpus > 0 and node.capacity.memory > 0 for node in nodes)


def check_the_exit_code_is_told(make: Make, folder: Path) -> None:
    """What the command ends with is what poll says, 0 and others."""
    executor = make()
    for code in (0, 3, 75):
        handle = executor.start(attempt(folder / str(code), f"raise SystemExit({code})", executor=executor))
        status = wait_until_ended(executor, handle)
        assert isinstance(status, Exited) and status.code == code, status


def check_output_of_both_kinds_is_in_the_logs(make: Make, folder: Path) -> None:
    """stdout and stderr are kept, and can be read piece by piece."""
    executor = make()
    code = "import sys; print('one'); sys.stdout.flush(); print('two', file=sys.stderr)"
    handle = executor.start(attempt(folder / "a", code, executor=executor))
    wait_until_ended(executor, handle)
    assert executor.logs(handle).text == b"one\ntwo\n"
    assert executor.logs(handle, 4, 3).text == b"two"
    assert executor.logs(handle, 100).text == b""


def check_the_command_runs_in_its_folder(make: Make, folder: Path) -> None:
    """The working folder is the attempt's, and its environment arrives."""
    executor = make()
    spec = attempt(folder / "a", "import os; print(os.getcwd(), os.environ['WORD'])", executor=executor)
    spec.environment["WORD"] = "hello"
    handle = executor.start(spec)
    wait_until_ended(executor, handle)
    assert executor.logs(handle).text.decode().split() == [str((folder / "a").resolve()), "hello"]


def check_a_folder_is_started_only_once(make: Make, folder: Path) -> None:
    """A second start in the same folder is refused, also after the first ended, also by another object."""
    executor = make()
    spec = attempt(folder / "a", "pass", executor=executor)
    wait_until_ended(executor, executor.start(spec))
    try:
        make().start(spec)
    except Conflict:
        return
    raise AssertionError("a second start in the same folder was not refused")


def check_a_stopped_attempt_ends_by_itself(make: Make, folder: Path) -> None:
    """Stop asks first: a command that obeys ends with its own code, long before the grace period is over."""
    executor = make()
    handle = executor.start(attempt(folder / "a", _OBEDIENT, executor=executor))
    wait_for_output(executor, handle, b"ready")
    executor.stop(handle, 300.0)
    status = wait_until_ended(executor, handle)
    assert isinstance(status, Exited) and status.code == 75, status
    assert b"asked to stop" in executor.logs(handle).text


def check_an_attempt_that_does_not_obey_is_killed(make: Make, folder: Path) -> None:
    """After the grace period it is ended, with a reason in words."""
    executor = make()
    handle = executor.start(attempt(folder / "a", _STUBBORN, executor=executor))
    wait_for_output(executor, handle, b"ready")
    executor.stop(handle, 0.5)
    status = wait_until_ended(executor, handle)
    assert isinstance(status, Exited) and status.code != 0 and status.reason, status


def check_a_second_stop_can_only_hurry(make: Make, folder: Path) -> None:
    """Of two stops the earlier deadline counts."""
    executor = make()
    handle = executor.start(attempt(folder / "a", _STUBBORN, executor=executor))
    wait_for_output(executor, handle, b"ready")
    executor.stop(handle, 300.0)
    executor.stop(handle, 0.2)
    executor.stop(handle, 300.0)
    assert isinstance(wait_until_ended(executor, handle), Exited)


def check_stopping_what_has_ended_does_nothing(make: Make, folder: Path) -> None:
    """The answer stays what it was."""
    executor = make()
    handle = executor.start(attempt(folder / "a", "pass", executor=executor))
    before = wait_until_ended(executor, handle)
    executor.stop(handle, 0.0)
    assert executor.poll(handle) == before


def check_another_object_takes_over(make: Make, folder: Path) -> None:
    """A handle is all that a restarted server needs: to poll, to read the logs and to stop."""
    first = make()
    handle = first.start(attempt(folder / "a", _OBEDIENT, executor=first))
    second = make()
    assert isinstance(second.poll(handle), Running)
    wait_for_output(second, handle, b"ready")
    second.stop(handle, 300.0)
    assert wait_until_ended(second, handle) == wait_until_ended(first, handle)


def check_a_started_attempt_is_recovered(make: Make, folder: Path) -> None:
    """Whoever lost the handle finds it again by the folder."""
    executor = make()
    handle = executor.start(attempt(folder / "a", _OBEDIENT, executor=executor))
    found = make().recover(folder / "a")
    assert found is not None and isinstance(make().poll(found), Running)
    executor.stop(handle, 0.0)
    wait_until_ended(executor, handle)


def check_a_revoked_place_is_never_started(make: Make, folder: Path) -> None:
    """What has not begun when it is recovered can never begin."""
    executor = make()
    assert executor.recover(folder / "a") is None
    try:
        handle = executor.start(attempt(folder / "a", "import pathlib; pathlib.Path('ran').touch()", executor=executor))
    except Exception:
        pass
    else:
        wait_until_ended(executor, handle)
    assert not (folder / "a" / "ran").exists()


CHECKS: list[Callable[[Make, Path], None]] = [
    check_nodes_have_names_of_their_own_and_room,
    check_the_exit_code_is_told,
    check_output_of_both_kinds_is_in_the_logs,
    check_the_command_runs_in_its_folder,
    check_a_folder_is_started_only_once,
    check_a_stopped_attempt_ends_by_itself,
    check_an_attempt_that_does_not_obey_is_killed,
    check_a_second_stop_can_only_hurry,
    check_stopping_what_has_ended_does_nothing,
    check_another_object_takes_over,
    check_a_started_attempt_is_recovered,
    check_a_revoked_place_is_never_started,
]
