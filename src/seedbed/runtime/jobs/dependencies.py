"""Jobs that wait for other jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Waiter
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State


@dataclass(frozen=True)
class Fall:
    """How a job ends that never ran, because one that it needs ended badly; `fell_with` is the id of that one."""

    state: State
    reason: str
    fell_with: str


@dataclass(frozen=True)
class Dependencies:
    """How everything stands that waiting jobs wait for: state and name."""

    standings: Mapping[str, tuple[State, str]]

    @classmethod
    def of(cls, queue: Queue, waiters: Sequence[Waiter]) -> "Dependencies":
        """Look them up, all at once."""
        wanted = {name for waiter in waiters for name in waiter.spec.dependencies}
        return cls(queue.standings(wanted) if wanted else {})

    def are_met(self, waiter: Waiter) -> bool:
        """Whether everything that a job needs is done, and what it can do without has ended."""
        return not self._unmet(waiter)

    def fall(self, spec: JobSpec) -> Fall | None:
        """How a job must end because one that it needs ended badly; a job that is gone has failed."""
        for job in spec.needed:
            state, name = self._standing(job)
            if state is State.FAILED:
                return Fall(State.FAILED, f"Job '{name}', which it needs, failed", job)
            if state is State.CANCELLED:
                return Fall(State.CANCELLED, f"Job '{name}', which it needs, was cancelled", job)
        return None

    def reason(self, waiter: Waiter) -> str:
        """Why a job waits for others, in words; empty when it does not, or must end."""
        unmet = self._unmet(waiter)
        if not unmet or self.fall(waiter.spec):
            return ""
        more = f" and {len(unmet) - 1} more" if len(unmet) > 1 else ""
        return f"Waiting for job '{self._standing(unmet[0])[1]}'{more} to finish"

    def _unmet(self, waiter: Waiter) -> list[str]:
        needed = set(waiter.spec.needed)
        states = {job: self._standing(job)[0] for job in waiter.spec.dependencies}
        return [job for job, state in states.items() if not (state is State.DONE if job in needed else state.ended)]

    def _standing(self, job: str) -> tuple[State, str]:
        return self.standings.get(job, (State.FAILED, job))
