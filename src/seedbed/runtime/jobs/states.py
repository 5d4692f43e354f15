"""The states of a job, and which may follow which."""

from enum import StrEnum

from seedbed.base.errors import Conflict


class State(StrEnum):
    """Where a job stands. A preempted job is stopping, then waiting at the head of its queue."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether nothing follows."""
        return not TRANSITIONS[self]

    @property
    def active(self) -> bool:
        """Whether an attempt of the job holds room on a machine."""
        return self in (State.STARTING, State.RUNNING, State.STOPPING)


_W, _S, _R, _STOP = State.WAITING, State.STARTING, State.RUNNING, State.STOPPING
_D, _F, _C = State.DONE, State.FAILED, State.CANCELLED

TRANSITIONS: dict[State, frozenset[State]] = {
    _W: frozenset({_S, _F, _C}),  # failed: what it waits for has failed
    _S: frozenset({_R, _STOP, _W, _D, _F, _C}),  # done: answered from the store; waiting: lost before it ran
    _R: frozenset({_STOP, _W, _D, _F}),  # waiting: lost or failed with tries left
    _STOP: frozenset({_W, _D, _F, _C}),  # done: it finished before it heard that it should stop
    _D: frozenset(),
    _F: frozenset(),
    _C: frozenset(),
}


def check(old: State, new: State) -> None:
    """Refuse a step that the table does not have."""
    if new not in TRANSITIONS[old]:
        allowed = ", ".join(sorted(TRANSITIONS[old])) or "nothing: it has ended"
        raise Conflict(f"A job that is {old} cannot become {new}.", hint=f"From {old} can follow: {allowed}.")
