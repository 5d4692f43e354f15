"""Jobs as people use them: submit, look, cancel, run again."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.db.engine import Along
from seedbed.assets.store.bundle import Draft
from seedbed.base.clock import Clock, SystemClock
from seedbed.base.errors import InvalidInput
from seedbed.base.ids import new_id
from seedbed.base.registry import near_matches
from seedbed.flows.check import SpecChecker
from seedbed.flows.usecases.pages import require_project, visible_projects
from seedbed.runtime.executors.protocol import Executor
from seedbed.runtime.jobs.queue import JUST_SUBMITTED, Queue
from seedbed.runtime.jobs.records import Attempt, Job
from seedbed.runtime.jobs.reruns import Reruns
from seedbed.runtime.jobs.spec import JobSpec, Limits
from seedbed.runtime.jobs.states import State

_LOOKED_AT = 15.0  # seconds within which a scheduler that is there has looked at a new job


class Jobs:
    """What people do with jobs. Every mistake in what they submit is reported at once, before anything is queued."""

    def __init__(
        self,
        queue: Queue,
        checker: SpecChecker,
        executor: Executor,
        audit: Audit,
        reruns: Reruns,
        clock: Clock | None = None,
    ) -> None:
        self._queue = queue
        self._checker = checker
        self._executor = executor
        self._audit = audit
        self._reruns = reruns
        self._clock = clock or SystemClock()

    def submit(self, spec: JobSpec, *, by: Identity) -> Job:
        """Queue one job."""
        return self.submit_flow([spec], by=by)[0]

    def check(self, specs: Sequence[JobSpec], *, by: Identity, drafts: Sequence[Draft] = ()) -> "list[JobSpec]":
        """Refuse what could not be submitted, and change nothing; `drafts` and the order as for `submit_flow`."""
        return self._checker.check(specs, by, coming={draft.uuid: draft.kind for draft in drafts})

    def submit_flow(self, specs: Sequence[JobSpec], *, by: Identity, drafts: Sequence[Draft] = ()) -> "list[Job]":
        """Queue several jobs that share a flow id, all or none.

        Among themselves they refer to each other by name: `job:<name>/<output>`. `drafts` are bundles that some of
        them take as inputs, by the uuids of the drafts; they are published once nothing is wrong with the jobs.
        """
        checked = self.check(specs, by=by, drafts=drafts)
        if drafts:
            self._checker.store.publish_many(drafts)
        ids = {spec.name: new_id() for spec in checked if spec.name}
        wired = {ids.get(spec.name) or new_id(): spec.wired(ids) for spec in checked}
        jobs = self._queue.submit_many(wired, flow=new_id())
        for job in jobs:
            self._audit.record(by.name, "job.submit", job.id, data={"step": job.step, "name": job.name})
        return jobs

    def get(self, job_id: str, *, by: Identity) -> Job:
        """One job by its id, the beginning of it, or its name (then the newest)."""
        return self._explained(self._require(job_id, Role.VIEWER, by))

    def list(
        self,
        *,
        by: Identity,
        state: str = "",
        project: str = "",
        flow: str = "",
        curves: bool = False,
        limit: int = 100,
        offset: int = 0,
    ) -> "list[Job]":
        """The newest first; of one state, project (by id or name) or flow where that is given.

        `curves`: only those that have measured something more than once, so that there is a line to draw.
        """
        if state and state not in list(State):
            raise InvalidInput(f"'{state}' is not a state of jobs.", hint=near_matches(state, list(State)))
        places: Sequence[str] | None = visible_projects(by)
        if project:
            place = self._checker.projects.get(project).id
            by.require(Role.VIEWER, place)
            places = [place]
        states = [State(state)] if state else []
        found = self._queue.list(states=states, project=places, flow=flow, curves=curves, limit=limit, offset=offset)
        return [self._explained(job) for job in found]

    def cancel(self, job_id: str, *, by: Identity) -> Job:
        """Stop it, or take it out of the queue."""
        job = self._require(job_id, Role.TRAINER, by)
        return self._queue.cancel(job.id, by=by.name, along=self._told("job.cancel", job, by))

    def pause(self, job_id: str, *, by: Identity) -> Job:
        """Let it put its state away and wait until somebody lets it go on; nothing that it learnt is lost."""
        job = self._require(job_id, Role.TRAINER, by)
        return self._queue.pause(job.id, by=by.name, along=self._told("job.pause", job, by))

    def resume(self, job_id: str, *, by: Identity) -> Job:
        """Let a paused job go on from where it was."""
        job = self._require(job_id, Role.TRAINER, by)
        return self._queue.resume(job.id, along=self._told("job.resume", job, by))

    def rerun(
        self,
        job_id: str,
        *,
        by: Identity,
        again: bool = False,
        memory: int | None = None,
        timeout: float | None = None,
    ) -> Sequence[Job]:
        """A new job with exactly the same inputs, which goes on from the last checkpoint of one that failed.

        After it come those that fell with the old one and come back now, as far as `by` may train in their projects.
        `again` runs it from the beginning, even if the store knows the answer. `memory` (bytes) and `timeout` (None:
        what the old one had) are for the job alone, and not for those that come back.
        """
        old = self._require(job_id, Role.TRAINER, by)
        if memory is not None and memory < 1:
            raise InvalidInput(f"memory is {memory}; it must be a number of at least 1.")
        limits = Limits(memory or 0, timeout)
        # what it refers to is checked too: that its bundles still exist and that `by` may use them
        jobs = self._reruns.rerun(old, lambda spec: self._checker.check([spec], by)[0], again=again, limits=limits)
        asked = {name: value for name, value in (("memory", memory), ("timeout", timeout)) if value is not None}
        for job in jobs:
            told = {"of": old.id, "again": again, **(asked if job is jobs[0] else {})}
            self._audit.record(by.name, "job.rerun", job.id, data=told)
        return jobs

    def logs(self, job_id: str, *, by: Identity, offset: int = 0) -> tuple[str, int]:
        """What the newest attempt printed from `offset` (bytes), and the offset to go on from."""
        job = self._require(job_id, Role.VIEWER, by)
        tries = [attempt for attempt in self._queue.attempts(job.id) if attempt.handle]
        if not tries:
            return "", offset
        found = self._executor.logs(tries[-1].handle, offset)
        return found.text.decode(errors="replace"), found.following

    def metrics(
        self, job_id: str, *, by: Identity, names: Sequence[str] = ()
    ) -> Mapping[str, Sequence[tuple[int, float]]]:
        """Curves: for each name its (step, value) points in order."""
        job = self._require(job_id, Role.VIEWER, by)
        curves: dict[str, list[tuple[int, float]]] = {}
        for metric in self._queue.metrics(job.id, names):
            curves.setdefault(metric.name, []).append((metric.step, metric.value))
        return curves

    def attempts(self, job_id: str, *, by: Identity) -> Sequence[Attempt]:
        """Every try, oldest first."""
        return self._queue.attempts(self._require(job_id, Role.VIEWER, by).id)

    def _explained(self, job: Job) -> Job:
        """Nobody looks at the queue: that is then why the job waits."""
        unseen = job.state is State.WAITING and job.reason == JUST_SUBMITTED
        if not unseen or self._clock.now() - job.submitted < _LOOKED_AT:
            return job
        return replace(job, reason="No server is running that would start it: seedbed up")

    def _told(self, action: str, job: Job, by: Identity) -> Along:
        """The line of the audit log, in the commit that makes it true."""
        return lambda conn: self._audit.record(by.name, action, job.id, connection=conn)

    def _require(self, job_id: str, role: Role, by: Identity) -> Job:
        job = self._queue.get(job_id)
        require_project(by, role, job.project, what=f"job '{job_id}'")
        return job
