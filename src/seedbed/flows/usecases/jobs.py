"""Jobs as people use them: submit, look, cancel, run again."""

from collections.abc import Sequence

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Identity, Role
from seedbed.base.errors import NotFound
from seedbed.flows.check import SpecChecker
from seedbed.flows.usecases.pages import may_see, visible_page
from seedbed.runtime.executors.protocol import Executor
from seedbed.runtime.jobs.queue import Attempt, Job, Queue
from seedbed.runtime.jobs.spec import JobSpec

_LOG_PIECE = 1 << 20


class Jobs:
    """What people do with jobs. Every mistake in what they submit is reported at once, before anything is queued."""

    def __init__(self, queue: Queue, checker: SpecChecker, executor: Executor, audit: Audit) -> None:
        self._queue = queue
        self._checker = checker
        self._executor = executor
        self._audit = audit

    def submit(self, spec: JobSpec, *, by: Identity) -> Job:
        """Queue one job."""
        return self.submit_flow([spec], by=by)[0]

    def submit_flow(self, specs: Sequence[JobSpec], *, by: Identity) -> list[Job]:
        """Queue several jobs that share a flow id, all or none.

        Among themselves they refer to each other by name: `job:<name>/<output>`.
        """
        raise NotImplementedError

    def get(self, job_id: str, *, by: Identity) -> Job:
        """One job by its id or the beginning of it."""
        raise NotImplementedError

    def list(
        self, *, by: Identity, state: str = "", project: str = "", flow: str = "", limit: int = 100, offset: int = 0
    ) -> list[Job]:
        """The newest first."""
        raise NotImplementedError

    def cancel(self, job_id: str, *, by: Identity) -> Job:
        """Stop it, or take it out of the queue."""
        raise NotImplementedError

    def rerun(self, job_id: str, *, by: Identity, again: bool = False) -> Job:
        """A new job with exactly the same inputs; `again` runs it even if the store knows the answer."""
        raise NotImplementedError

    def logs(self, job_id: str, *, by: Identity, offset: int = 0) -> tuple[str, int]:
        """What the newest attempt printed from `offset` (bytes), and the offset to go on from."""
        raise NotImplementedError

    def metrics(self, job_id: str, *, by: Identity, names: Sequence[str] = ()) -> dict[str, list[tuple[int, float]]]:
        """Curves: for each name its (step, value) points in order."""
        raise NotImplementedError

    def attempts(self, job_id: str, *, by: Identity) -> list[Attempt]:
        """Every try, oldest first."""
        raise NotImplementedError
