"""Jobs that wait for other jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Waiter
from seedbed.runtime.jobs.states import State


@dataclass(frozen=True)
class Dependencies:
    """The states of everything that waiting jobs wait for."""

    states: Mapping[str, State]

    @classmethod
    def of(cls, queue: Queue, waiters: Sequence[Waiter]) -> "Dependencies":
        """Look them up, all at once."""
        wanted = {name for waiter in waiters for name in waiter.spec.dependencies}
        return cls(queue.states(wanted) if wanted else {})

    def are_met(self, waiter: Waiter) -> bool:
        """Whether everything that a job needs is done."""
        return all(self.states.get(name) is State.DONE for name in waiter.spec.dependencies)

    def verdict(self, waiter: Waiter) -> tuple[State, str] | None:
        """How a job must end because one that it needs ended badly; a job that is gone has failed."""
        for name in waiter.spec.dependencies:
            state = self.states.get(name, State.FAILED)
            if state is State.FAILED:
                return State.FAILED, f"Job {name}, which it needs, failed"
            if state is State.CANCELLED:
                return State.CANCELLED, f"Job {name}, which it needs, was cancelled"
        return None

    def reason(self, waiter: Waiter) -> str:
        """Why a job waits for others, in words; empty when it does not, or must end."""
        unmet = [name for name in waiter.spec.dependencies if self.states.get(name) is not State.DONE]
        if not unmet or self.verdict(waiter):
            return ""
        more = f" and {len(unmet) - 1} more" if len(unmet) > 1 else ""
        return f"Waiting for job {unmet[0]}{more} to finish"
