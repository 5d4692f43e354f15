"""The small process that stands between one attempt and everything that may be killed around it.

Run by path with the standard library alone (`python -I -S supervisor.py FOLDER`), so that it starts in a few
hundredths of a second and depends on nothing that a worker's environment may break. It outlives the server. It

- begins only if it is the first in this folder and its place was not revoked: both are looked at under the exclusive
  lock on `lock`, which it then keeps until it dies. Whoever wants to declare an attempt "never begun" takes that lock
  first and leaves `revoked` behind, so a supervisor that comes late finds it and does nothing;
- starts the worker in its own session, with its cpus, and lets it run only after `supervisor.json` names it;
- asks the kernel to kill the worker when the supervisor dies, and to be given the worker's orphans;
- touches `heartbeat`, and watches the memory of everything that the worker started and the size of its log;
- on SIGTERM asks the worker, and only it, to end (its own helpers must not die under it while it writes a
  checkpoint), and kills after the grace period in `stop.json`, else in `start.json`;
- when the worker has ended, kills all that it left behind, and then writes `exit.json`, last of all.

Where there is no /proc (macOS) orphans that left the worker's session are not found and memory is not watched.
"""

# pathlib would be a good part of its start:
# ruff: noqa: PTH105, PTH110, PTH116, PTH123, PTH208

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

HEARTBEAT = 1.0  # seconds between heartbeats, and between looks at who belongs to the attempt
LOOK = 0.2  # seconds between looks at the memory
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
READY = 3  # the descriptor on which the executor waits to hear that the worker runs
TERM = bytes([signal.SIGTERM])
LINUX = sys.platform == "linux"


def main() -> int:
    """Supervise the attempt in the folder that is the argument; tell descriptor 3 once it runs."""
    os.chdir(sys.argv[1])
    os.set_inheritable(READY, False)
    lock = os.open("lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    if os.path.exists("revoked") or os.path.exists("supervisor.json"):
        return 3
    with open("start.json") as file:
        plan = json.load(file)
    bell = listen()
    if LINUX:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    write("supervisor.json", {"supervisor": identity(os.getpid()), "worker": None})
    worker, go = fork_worker(plan)
    write("supervisor.json", {"supervisor": identity(os.getpid()), "worker": identity(worker)})
    touch("heartbeat")
    os.write(go, b"go")
    os.close(go)
    with contextlib.suppress(OSError):  # nobody may be left to hear it
        os.write(READY, b"runs")
    os.close(READY)
    watch = Watch(worker, plan, bell)
    status = watch.until_end()
    kill_what_is_left(worker)
    cap_log(plan.get("log_limit", 0))
    signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    code = 128 + signalled if signalled else os.WEXITSTATUS(status)
    end = {"code": code, "signal": signalled, "reason": watch.reason, "memory": watch.memory, "at": time.time()}
    write_once_there_is_room("exit.json", end)
    return 0


class Watch:
    """Waits for the worker to end, and ends it when it must."""

    def __init__(self, worker: int, plan: dict[str, Any], bell: int) -> None:
        self.worker, self.plan, self.bell = worker, plan, bell
        self.reason = ""  # why the worker was ended, if it was
        self.memory = 0  # bytes that it used, where that was why
        self.asked = 0.0  # seconds of grace that the worker was given when it was asked to end
        self.deadline = float("inf")  # when the worker is killed
        self.wish: dict[str, Any] | None = None  # the last stop file that was followed
        self.members = [worker]
        self.next_beat = 0.0

    def until_end(self) -> int:
        """The wait status of the worker."""
        while True:
            status = reap(self.worker)
            if status is not None:
                return status
            self.look()
            wait = min(LOOK, max(0.0, self.deadline - time.monotonic()))
            if select.select([self.bell], [], [], wait)[0] and TERM in os.read(self.bell, 1024):
                self.follow_stop_file()
                if self.deadline == float("inf"):  # nobody but the machine itself wishes it
                    self.ask_to_end(float(self.plan["grace"]))

    def look(self) -> None:
        """One look at the clock, the stop file and the memory."""
        now = time.monotonic()
        if now >= self.next_beat:
            self.next_beat = now + HEARTBEAT
            touch("heartbeat")
            cap_log(self.plan.get("log_limit", 0))
            self.members = descendants(os.getpid()) or [self.worker]
            self.follow_stop_file()
        if now >= self.deadline:
            self.kill(f"It did not end within {self.asked:g} s of being asked to, and was killed.")
        elif (limit := self.plan["memory"]) and (used := memory_of(self.members, limit)) > limit:
            told = (
                f"It used {show(used)} of memory, more than the {show(limit)} that the job asked for, and was killed."
            )
            self.kill(told, memory=used)

    def follow_stop_file(self) -> None:
        """Do what a stop file asks that was not followed yet."""
        wish = read("stop.json")
        if wish and wish != self.wish:
            self.wish = wish
            self.ask_to_end(float(wish["grace"]))

    def ask_to_end(self, grace: float) -> None:
        """Forward the wish to end, once; a later wish can only bring the end nearer."""
        first, deadline = self.deadline == float("inf"), time.monotonic() + grace
        if deadline < self.deadline:
            self.asked, self.deadline = grace, deadline
        if first:
            send(self.worker, signal.SIGTERM)

    def kill(self, reason: str, *, memory: int = 0) -> None:
        """End the worker at once; what it leaves behind is ended by the caller."""
        if not self.reason:
            self.reason, self.memory = reason, memory
        self.deadline = time.monotonic() + HEARTBEAT  # and again, should the signal be lost on the way
        send(self.worker, signal.SIGKILL)


def listen() -> int:
    """A descriptor that becomes readable at SIGTERM and SIGCHLD; every other wish to end counts as SIGTERM."""
    bell, ring = os.pipe()
    for end in (bell, ring):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, lambda number, frame: None)
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    return bell


def fork_worker(plan: dict[str, Any]) -> tuple[int, int]:
    """The worker's pid, and a descriptor: it becomes the command when something is written there."""
    hold, go = os.pipe()
    supervisor = os.getpid()
    worker = os.fork()
    if worker:
        os.close(hold)
        return worker, go
    try:
        os.close(go)
        become_worker(plan, supervisor, hold)
    except BaseException as error:
        os.write(2, f"The command could not be started: {plan['command'][0]}: {error}\n".encode())
    os._exit(127)


def become_worker(plan: dict[str, Any], supervisor: int, hold: int) -> None:
    """Turn this process into the attempt's command."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    log = os.open("log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    if LINUX:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:  # it died before the kernel was told
            os._exit(127)
        if plan["cores"]:
            os.sched_setaffinity(0, plan["cores"])
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("300")  # if memory runs out, the kernel takes a worker before the server
    if os.read(hold, 2) != b"go":
        os._exit(127)
    os.execvpe(plan["command"][0], plan["command"], plan["environment"])


def kill_what_is_left(worker: int) -> None:
    """End every process that the worker left behind: all are, or become, children of this one."""
    if not LINUX:
        with contextlib.suppress(OSError):
            os.killpg(worker, signal.SIGKILL)
    pause = 0.002
    while reap_all():
        for pid in descendants(os.getpid()):
            send(pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(2 * pause, LOOK)
        touch("heartbeat")


def reap(worker: int) -> int | None:
    """The wait status of the worker once it has ended; orphans that ended are put away on the way."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == worker:
                return status
            if not pid:
                return None
    return None


def reap_all() -> bool:
    """Put away what has ended; whether children are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def descendants(root: int) -> list[int]:
    """Every process below this one."""
    found = [root]
    below = children if os.path.exists(f"/proc/{root}/task/{root}/children") else children_by_parent()
    for pid in found:
        found.extend(below(pid))
    return found[1:]


def children(pid: int) -> list[int]:
    """The direct children of a process: each thread lists those that it started."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                found.extend(map(int, file.read().split()))
    return found


def children_by_parent() -> Callable[[int], list[int]]:
    """The same from a look at all processes, for kernels that keep no lists."""
    below: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                below.setdefault(int(file.read().rpartition(b")")[2].split()[1]), []).append(int(name))
    return lambda pid: below.get(pid, [])


def memory_of(pids: list[int], limit: int) -> int:
    """Bytes that processes hold: what each has in memory, and only where that passes the limit, which is rarely, the
    dearer count in which pages that several share are split between them, and those of files are left out."""
    resident = sum(filter(None, map(resident_of, pids)))
    return resident if resident <= limit else sum(map(proportional_of, pids))


def resident_of(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError, ValueError), open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def proportional_of(pid: int) -> int:
    """Without the pages of mapped files, which the system takes back when it needs room: a training may look at more
    images than fit into memory."""
    with contextlib.suppress(OSError, ValueError, KeyError), open(f"/proc/{pid}/smaps_rollup") as file:
        held = {line.split()[0]: int(line.split()[1]) for line in file if line.startswith("Pss")}
        return (held["Pss:"] - held.get("Pss_File:", 0)) * 1024
    return resident_of(pid)


def cap_log(limit: int) -> None:
    """Cut the middle out of a log that has grown beyond its limit; 0: it has none.

    The worker goes on writing at the end, wherever that is. `log.json` says where the cut is and how much is missing,
    so that a place in all that was printed can be found in what is left of it.
    """
    with contextlib.suppress(OSError):
        if not limit or os.stat("log.txt").st_size <= limit:
            return
        log = os.open("log.txt", os.O_RDWR)
        try:
            cut_middle(log, limit // 4)
        finally:
            os.close(log)


def cut_middle(log: int, each: int) -> None:
    """Keep about so many bytes at either end, in whole lines."""
    size = os.fstat(log).st_size
    known = read("log.json") or {"head": os.pread(log, each, 0).rfind(b"\n") + 1 or each, "removed": 0}
    head, tail = known["head"], os.pread(log, each, size - each)
    tail = tail[tail.find(b"\n") + 1 :]
    gone = size + known["removed"] - head - len(tail)
    words = f"[{gone:,} bytes that were printed here are not kept: a log has its limit, the setting log_limit]\n"
    end = head + os.pwrite(log, words.encode() + tail, head)
    for _ in range(8):  # what came meanwhile; a worker that prints faster than this loses a line more
        if more := os.pread(log, each, size):
            end, size = end + os.pwrite(log, more, end), size + len(more)
    os.ftruncate(log, end)
    write("log.json", {"head": head, "removed": known["removed"] + size - end})


def identity(pid: int) -> dict[str, Any]:
    """What a process is known by: its number, when it started (in ticks since the boot) and the boot."""
    return {"pid": pid, "started": start_time(pid), "boot": boot_id()}


def start_time(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat; None where there is no such process, it has ended, or there is no /proc."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def boot_id() -> str:
    """Which start of the machine this is; empty where it is not told."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


def prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def send(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def write(name: str, value: dict[str, Any]) -> None:
    """Write a file that is there whole or not at all."""
    draft = f".{name}.draft"
    with open(draft, "w") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, name)


def write_once_there_is_room(name: str, value: dict[str, Any]) -> None:
    """How the attempt ended must not be lost to a full disk: go on trying, as one that is still there."""
    while True:
        try:
            return write(name, value)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            touch("heartbeat")
            time.sleep(HEARTBEAT)


def read(name: str) -> dict[str, Any] | None:
    """The object in a file; None while there is none."""
    try:
        with open(name) as file:
            value = json.load(file)
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def touch(name: str) -> None:
    with contextlib.suppress(OSError):
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT, 0o644))
        os.utime(name)


def show(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB" if size >= 1 << 30 else f"{size / (1 << 20):.0f} MiB"


if __name__ == "__main__":
    sys.exit(main())
