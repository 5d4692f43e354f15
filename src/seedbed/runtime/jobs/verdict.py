"""How an attempt that has ended is judged: what becomes of its job."""

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from seedbed.base.errors import DiskFull, TooOften, Unavailable, family
from seedbed.base.resources import written_size
from seedbed.runtime.executors.protocol import Exited, Lost, Node
from seedbed.runtime.jobs.records import GO_ON, PAUSE, Job
from seedbed.runtime.jobs.states import State

STOPPED = 75  # the exit code of a worker that made a checkpoint because it was asked to stop
# What may go better next time; every other member of the family is a mistake that the same inputs would make again.
# An error from outside the family (code "error") may be anything, so it is tried again.
_PASSING = (DiskFull, TooOften, Unavailable)
_HOPELESS = {member.code for member in family() if member not in _PASSING}

Outcome = Literal["done", "failed", "preempted", "cancelled", "lost"]


@dataclass(frozen=True)
class Verdict:
    """The outcome of the attempt, the next state of the job, and why, in words.

    `failure`: it counts against the retry limit. `head`: the job returns to the head of its queue. `pause`: it waits
    there until somebody lets it go on.
    """

    outcome: Outcome
    state: State
    reason: str = ""
    failure: bool = False
    preemption: bool = False
    head: bool = False
    pause: bool = False


def judge(job: Job, status: Exited | Lost, error: Mapping[str, Any], nodes: Sequence[Node] = ()) -> Verdict:
    """What becomes of a job whose attempt has ended; `error` is what the worker left in error.json.

    `nodes` are the machines that it could run on again, as far as they are known; no advice asks for more than they
    have. `done` means that the results may be taken in: it is the collector that then ends the job.
    """
    if job.wish == "cancel":
        return Verdict("cancelled", State.CANCELLED, job.reason)
    if isinstance(status, Exited) and status.code == 0:
        return Verdict("done", State.DONE)
    if job.wish == "timeout":
        return Verdict("failed", State.FAILED, _too_long(job))
    stopped = isinstance(status, Lost) or status.code == STOPPED or status.signal is not None
    if job.wish == "preempt" and stopped:
        return Verdict("preempted", State.WAITING, "Made room for another job", preemption=True, head=True)
    if job.wish == PAUSE and stopped:
        return Verdict("preempted", State.WAITING, job.reason or "Stopped for now", head=True, pause=True)
    if job.wish == GO_ON and stopped:
        return Verdict("preempted", State.WAITING, job.reason, head=True)
    if isinstance(status, Lost):
        return failed(job, status.reason, outcome="lost")
    if status.code == STOPPED:
        return Verdict("lost", State.WAITING, "The machine asked it to stop", head=True)
    return failed(job, _words(job, status, error, nodes), hopeless=bool(status.reason) or is_hopeless(error))


def is_hopeless(error: Mapping[str, Any]) -> bool:
    """Whether trying again on the same inputs would end with the same error (what error.json holds)."""
    return error.get("code") in _HOPELESS


def failed(job: Job, reason: str, *, outcome: Outcome = "failed", hopeless: bool = False) -> Verdict:
    """A failure: tried again while the retry limit allows and there is hope."""
    if hopeless or job.failures >= job.spec.retries:
        return Verdict(outcome, State.FAILED, reason, failure=True)
    left = job.spec.retries - job.failures
    again = f"{reason} Will be tried again ({left} {'try' if left == 1 else 'tries'} left)."
    return Verdict(outcome, State.WAITING, again, failure=True)


# the kernel says nothing to a process that it takes the memory from
_NOBODY_DID = "If nobody did that, the machine ran out of memory: make the work smaller, or let less run at once."


def _words(job: Job, status: Exited, error: Mapping[str, Any], nodes: Sequence[Node]) -> str:
    if status.memory:
        return f"{status.reason} {_more_memory(job, status.memory, nodes)}"
    if status.reason:
        return status.reason
    if message := str(error.get("message", "")).strip():
        hint = str(error.get("hint", "")).strip()
        return f"{message} {hint}".strip()
    if status.signal is not None:
        told = f"It was killed by signal {status.signal}."
        return f"{told} {_NOBODY_DID}" if status.signal == signal.SIGKILL else told
    return f"It ended with exit code {status.code}; the log says more."


def _more_memory(job: Job, used: int, nodes: Sequence[Node]) -> str:
    """The advice to double what it had until that is more than it used, as far as a machine can give it so much."""
    had = max(1, job.spec.resources.memory)
    more = had * 2 ** (used // had).bit_length()
    rest = replace(job.spec.resources, memory=0)
    # in whole mebibytes, as the command has them: rounded up they would be too many
    rooms = [node.capacity.memory >> 20 << 20 for node in nodes if rest.fits_in(node.capacity)]
    most = max(rooms, default=more)
    if most <= used:
        return "No machine here has that much to give: make the work smaller."
    return _give("more", job, f"--memory {written_size(min(more, most))}")


def _too_long(job: Job) -> str:
    limit = job.spec.timeout
    return f"It ran longer than its limit of {limit:g} s. {_give('longer', job, f'--timeout {2 * limit:g}')}"


def _give(more: str, job: Job, option: str) -> str:
    """The command stands within the sentence: what ends it must not be copied with it."""
    return f"Give it {more} (seedbed jobs rerun {job.id} {option}), or make the work smaller."
