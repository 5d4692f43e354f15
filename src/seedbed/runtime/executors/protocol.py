"""The Executor: where attempts run, and how they are known again after everything else was killed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from seedbed.base.resources import Resources

Handle = Mapping[str, Any]  # a JSON object that the caller keeps in the database and hands back unchanged


@dataclass(frozen=True)
class Node:
    """A machine that attempts can be placed on."""

    name: str
    capacity: Resources


@dataclass(frozen=True)
class AttemptSpec:
    """One try at a job: the command to run in a folder of its own, and what it may use.

    `grace` is how long the attempt gets when the machine itself asks it to end (a shutdown); `Executor.stop` names
    its own. Gpus are numbered from 0 on their node.
    """

    job: str
    fence: int
    folder: Path
    command: list[str]
    resources: Resources = field(default_factory=Resources)
    environment: dict[str, str] = field(default_factory=dict)
    node: str = ""
    gpu_ids: tuple[int, ...] = ()
    grace: float = 30.0


@dataclass(frozen=True)
class Running:
    """The attempt goes on; `heartbeat` is when it was last seen to (seconds since the epoch)."""

    heartbeat: float


@dataclass(frozen=True)
class Exited:
    """The attempt's command ended, and nothing that it started is left.

    `signal` is the one that ended it (then `code` is 128 + signal); `reason` says in words why, where the executor
    ended it; `memory` is what it used, in bytes, where that was why.
    """

    code: int
    signal: int | None = None
    reason: str = ""
    memory: int = 0


@dataclass(frozen=True)
class Lost:
    """Nothing of the attempt is alive, and nobody recorded how it ended."""

    reason: str


Status = Running | Exited | Lost


class Printed(NamedTuple):
    """A piece of what an attempt printed, and the offset that the next piece begins at."""

    text: bytes
    following: int


class Executor(Protocol):
    """Starts attempts, tells how they are, stops them.

    Called by one scheduler at a time, from any one of its threads. An attempt outlives the caller: a new object of
    the same class, in another process, gives the same answers for the same handle. `poll` says Exited or Lost only
    when no process of the attempt is left, so that whoever hears it may start the next attempt at once.
    """

    def nodes(self) -> list[Node]:
        """The machines and what jobs may use of them."""
        ...

    def start(self, attempt: AttemptSpec) -> Handle:
        """Start an attempt; returns once it is known to run. A folder is started at most once, ever: else Conflict.

        Raises Failed when it could not be started; then nothing of it runs.
        """
        ...

    def recover(self, folder: Path) -> Handle | None:
        """The handle of an attempt whose starter died before it could write the handle down.

        None: it has not begun, and from now on it never will (its place is revoked).
        """
        ...

    def poll(self, handle: Handle) -> Status:
        """How the attempt is."""
        ...

    def stop(self, handle: Handle, grace: float) -> None:
        """Ask the attempt to end, and end it after `grace` seconds.

        Returns at once, holds even if the caller dies, and does nothing when the attempt has ended. Of several calls
        the earliest deadline counts.
        """
        ...

    def logs(self, handle: Handle, offset: int = 0, limit: int = 1 << 20) -> Printed:
        """At most `limit` bytes of what the attempt printed, from `offset`, and the offset to go on from.

        Offsets count all that was ever printed, also where an executor has not kept all of it.
        """
        ...
