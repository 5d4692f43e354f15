"""The scheduler: follows the attempts that run, ends and retries them, and starts what the policy says.

Every step is written down before it is taken, so that whoever comes after a crash knows what may have happened:

1. `waiting -> starting` with a new fencing number and an attempt without a handle is committed. From here on, whatever
   an older attempt leaves is refused.
2. The attempt is started, and its handle is committed with `starting -> running`.

A scheduler that dies between the two leaves an attempt without a handle. The next one asks the executor to recover it:
either it has begun, and its handle is found; or its place is revoked, under the lock that it would begin with, so that
it can never begin; then the job waits again. So nothing runs twice at once and nothing is lost. A scheduler that was
only asleep finds that its lease is gone in its next transaction and writes nothing.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, update

from seedbed.assets.db.tables import attempts
from seedbed.base.clock import Instant
from seedbed.base.errors import Conflict, DiskFull, SeedbedError, Unavailable
from seedbed.runtime.executors.protocol import AttemptSpec, Executor, Handle, Node
from seedbed.runtime.executors.protocol import Running as StillRuns
from seedbed.runtime.jobs.collector import Collector, OutOfPlace
from seedbed.runtime.jobs.dependencies import Dependencies, Fall
from seedbed.runtime.jobs.folders import read_json
from seedbed.runtime.jobs.launcher import Answered, Launcher, Prepared
from seedbed.runtime.jobs.lease import Lease, LeaseLost
from seedbed.runtime.jobs.policy import Decision, Placement, Policy, Running, Waiting
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import PAUSE, PAUSED, Attempt, Job, Waiter
from seedbed.runtime.jobs.states import State
from seedbed.runtime.jobs.verdict import Verdict, failed, is_hopeless, judge

_log = logging.getLogger(__name__)
_LOOK = 0.25  # seconds between looks at attempts that run
_REST = 1.0  # seconds between turns when nothing runs, and between decisions when nothing happens
_LONGEST_PAUSE = 60.0


class Scheduler:
    """Runs the queue of one database on one executor. Several may stand by; only the holder of the lease acts.

    `tick` is one turn, made from one thread at a time; `run` makes turns until it is told to stop. `backoff` is the
    pause in seconds before the first retry of a failed job; it doubles with every failure.
    """

    def __init__(
        self,
        queue: Queue,
        executor: Executor,
        policy: Policy,
        launcher: Launcher,
        collector: Collector,
        lease: Lease,
        *,
        backoff: float = 1.0,
    ) -> None:
        self.queue = queue
        self.executor = executor
        self.policy = policy
        self.launcher = launcher
        self.collector = collector
        self.lease = lease
        self.backoff = backoff
        self.clock = queue.clock
        # The last event when the policy was asked, when that was, and until when the answer holds if nothing happens:
        self._decided: tuple[int, Instant, Instant] = (-1, 0.0, 0.0)

    # --- turns ----------------------------------------------------------------------------------------------------

    def run(self, stop: threading.Event) -> None:
        """Make turns until told to stop: at once when something happens to a job, and often while something runs."""
        renewer = threading.Thread(target=self._renew, args=(stop,), name="lease", daemon=True)
        renewer.start()
        cursor = self.queue.events.last()
        while not stop.is_set():
            try:
                busy = self.tick()
                cursor = self._rest(cursor, _LOOK if busy else _REST, stop)
            except Exception:
                _log.exception("A turn of the scheduler failed; the next one begins anew.")
                stop.wait(_REST)
        renewer.join()
        self.lease.release()

    def _rest(self, cursor: int, seconds: float, stop: threading.Event) -> int:
        """Wait for news of jobs, in short pieces, so that a wish to stop is heard; the cursor after the news."""
        for _ in range(round(seconds / _LOOK)):
            news = self.queue.events.wait(cursor, _LOOK, kinds=("job.",))
            if news or stop.is_set():
                return news[-1].number if news else cursor
        return cursor

    def _renew(self, stop: threading.Event) -> None:
        """Keep the lease through long turns; it is `tick` that takes it."""
        while not stop.wait(self.lease.seconds / 3):
            try:
                self.lease.renew()
            except Exception:
                _log.exception("The lease could not be renewed; it is tried again.")

    def tick(self) -> bool:
        """One turn; whether something runs, so that the next turn should come soon."""
        try:
            return self.lease.hold() and self._turn()
        except LeaseLost as lost:
            _log.warning("%s", lost)
            return False

    def _turn(self) -> bool:
        for job, attempt in self.queue.active():
            self._alone(self._follow, job, attempt)
        now, news = self.clock.now(), self.queue.events.last()
        heard, since, until = self._decided
        if news != heard or not since <= now < until:
            pauses = [end for end in self._decide_and_act() if end > now]
            self._decided = (news, now, min([*pauses, now + _REST]))
        return bool(self.queue.active())

    def _decide_and_act(self) -> list[Instant]:
        """Ask the policy and do what it says; the answer is when the pauses of waiting jobs end."""
        waiters = self._settle_dependencies(self.queue.waiting())
        nodes = self.executor.nodes()
        decision = self._decide(waiters, self.queue.active(), nodes)
        for name in decision.preempt:
            self._alone(self._preempt, name)
        for placement in decision.start:
            self._alone(self._start, placement, nodes)
        self._explain(waiters, decision.reasons)
        return [waiter.not_before for waiter in waiters]

    def _alone(self, act: Any, *about: Any) -> None:
        """Keep the trouble of one job from the others; the next turn finds it as it was left."""
        try:
            act(*about)
        except LeaseLost:
            raise
        except Conflict as refused:
            _log.info("%s", refused)
        except Exception:
            name = getattr(about[0], "id", about[0])
            _log.exception("%s failed for job %s; the next turn tries again.", act.__name__, name)

    # --- attempts that run ----------------------------------------------------------------------------------------

    def _follow(self, job: Job, attempt: Attempt) -> None:
        """Take in what an attempt has left, and act on how it is."""
        if not attempt.handle:
            recovered = self._recover(job, attempt)
            if recovered is None:
                return
            attempt = recovered
        status = self.executor.poll(attempt.handle)  # before its traces are read: what it left before it ended is there
        self.collector.take_metrics(attempt)
        self.collector.take_checkpoint(attempt, job.checkpoint)
        if isinstance(status, StillRuns):
            self._look_after(job, attempt)
            return
        job = self.queue.get(job.id)  # a wish may have come
        error = read_json(self._folder(attempt) / "error.json")
        self._conclude(job, attempt, judge(job, status, error, self.executor.nodes()))

    def _look_after(self, job: Job, attempt: Attempt) -> None:
        now = self.clock.now()
        if job.state is State.STARTING:
            with self.lease.write() as conn:
                self.queue.transition(conn, job.id, State.RUNNING, fence=attempt.fence, reason="")
        elif job.state is State.STOPPING and not attempt.stop_by:
            self._stop(job, attempt)
        elif job.state is State.RUNNING and 0 < job.spec.timeout < now - attempt.started:
            with self.lease.write() as conn:
                self.queue.transition(conn, job.id, State.STOPPING, fence=attempt.fence, wish="timeout")
            self._stop(job, attempt)

    def _stop(self, job: Job, attempt: Attempt) -> None:
        """Pass the wish on; the time by which it will have stopped says that this was done."""
        self.executor.stop(attempt.handle, job.spec.grace)
        self._note(attempt, stop_by=self.clock.now() + job.spec.grace)

    def _recover(self, job: Job, attempt: Attempt) -> Attempt | None:
        """Find the attempt that an earlier scheduler was starting when it died, or make sure that it never begins."""
        handle = self.executor.recover(self._folder(attempt))
        if handle is None:
            words = "The service ended while it was being started"
            state = State.CANCELLED if job.wish == "cancel" else State.WAITING
            reason = job.reason if job.wish in ("cancel", PAUSE) else words
            self._end(job, attempt, Verdict("lost", state, reason, pause=job.wish == PAUSE))
            return None
        self._note(attempt, handle=dict(handle))
        return Attempt(**{**vars(attempt), "handle": handle})

    def _conclude(self, job: Job, attempt: Attempt, verdict: Verdict) -> None:
        if verdict.outcome == "done":
            try:
                self.collector.take_results(attempt)
            except (DiskFull, Unavailable, OutOfPlace, LeaseLost):
                raise  # the results are safe in the outbox, or do not count: the next turn sees
            except (SeedbedError, OSError) as error:
                verdict = failed(job, f"Its results could not be taken in: {_sentence(error)}")
            else:
                self.collector.folders.tidy(job.id, attempt.fence, failed=False)
                self.collector.folders.forget_checkpoints(job.id)
                return
        self._end(job, attempt, verdict)

    def _end(self, job: Job, attempt: Attempt, verdict: Verdict) -> None:
        """Write down how an attempt ended and what becomes of its job."""
        now = self.clock.now()
        failures = job.failures + verdict.failure
        values: dict[str, Any] = {"reason": verdict.reason, "wish": "", "failures": failures}
        values["preemptions"] = job.preemptions + verdict.preemption
        if verdict.failure and verdict.state is State.WAITING:
            values["not_before"] = now + min(_LONGEST_PAUSE, self.backoff * 2 ** (failures - 1))
        if verdict.pause:
            values["not_before"] = PAUSED
        with self.lease.write() as conn:
            if self.queue.locked(conn, job.id).wish != job.wish:
                return  # somebody wished something in this very moment: the next turn judges anew
            if verdict.head:
                values["position"] = self.queue.head(conn)
            ended = {"outcome": verdict.outcome, "reason": verdict.reason, "ended": now}
            conn.execute(update(attempts).where(*_mine(attempt)).values(ended))
            self.queue.transition(conn, job.id, verdict.state, fence=attempt.fence, **values)
        self.collector.folders.tidy(job.id, attempt.fence, failed=verdict.failure)
        if verdict.state.ended and verdict.state is not State.FAILED:  # who runs it again may go on from there
            self.collector.folders.forget_checkpoints(job.id)

    # --- decisions ------------------------------------------------------------------------------------------------

    def _decide(self, waiters: Sequence[Waiter], active: Sequence[tuple[Job, Attempt]], nodes: list[Node]) -> Decision:
        now = self.clock.now()
        ready = [waiter for waiter in waiters if waiter.not_before <= now]
        decision = self.policy.decide(now, [_waiting(w) for w in ready], [_running(*pair) for pair in active], nodes)
        pauses = {waiter.id: waiter.reason for waiter in waiters if waiter.not_before > now}
        return Decision(decision.start, decision.preempt, {**decision.reasons, **pauses})

    def _settle_dependencies(self, waiters: Sequence[Waiter]) -> list[Waiter]:
        """The jobs that wait only for room; those that wait for others are told so, or end with them."""
        needed = Dependencies.of(self.queue, waiters)
        for waiter in waiters:
            if fall := needed.fall(waiter.spec):
                self._alone(self._let_fall, waiter.id, fall)
        self._explain(waiters, {waiter.id: words for waiter in waiters if (words := needed.reason(waiter))})
        return [waiter for waiter in waiters if needed.are_met(waiter)]

    def _let_fall(self, job_id: str, fall: Fall) -> None:
        with self.lease.write() as conn:
            self.queue.transition(conn, job_id, fall.state, reason=fall.reason, fell_with=fall.fell_with)

    def _explain(self, waiters: Sequence[Waiter], reasons: Mapping[str, str]) -> None:
        known = {waiter.id: waiter.reason for waiter in waiters}
        changed = {name: words for name, words in reasons.items() if known.get(name) != words}
        if changed:
            with self.lease.write() as conn:
                self.queue.explain(conn, changed)

    def _preempt(self, job_id: str) -> None:
        with self.lease.write() as conn:
            self.queue.transition(conn, job_id, State.STOPPING, wish="preempt", reason="Makes room for another job")
        job, attempt = self._pair(job_id)
        if attempt.handle:
            self._stop(job, attempt)

    # --- starts ---------------------------------------------------------------------------------------------------

    def _start(self, placement: Placement, nodes: Sequence[Node]) -> None:
        """Take a place for a job and start an attempt in it."""
        gpus = self._free_gpus(placement.node, nodes)
        with self.lease.write() as conn:
            self._take_place(conn, placement, gpus)
        job, attempt = self._pair(placement.id)
        folder = self._folder(attempt)
        try:
            folder.mkdir(parents=True)
            self.collector.folders.lay_resume(job.id, attempt.fence, job.checkpoint)
            prepared = self.launcher.prepare(job, attempt.fence, folder)
        except LeaseLost:
            raise
        except Exception as error:  # whatever a job brings along: it counts as one of its failures
            _log.warning("Job %s could not be prepared: %r", job.id, error)
            self._end(job, attempt, _unprepared(job, error))
            return
        if isinstance(prepared, Answered):
            self._answer(attempt, prepared)
        else:
            self._launch(job, attempt, folder, prepared)

    def _take_place(self, conn: Connection, placement: Placement, gpus: Sequence[int]) -> None:
        job = self.queue.locked(conn, placement.id)
        now = self.clock.now()
        fence, gpu_ids = job.fence + 1, list(gpus[: job.spec.resources.gpus])
        values: dict[str, Any] = {"reason": "", "wish": "", "started": job.started or now, "doing": "starting"}
        self.queue.transition(conn, job.id, State.STARTING, fence=job.fence, next_fence=fence, **values)
        row = {"job": job.id, "fence": fence, "node": placement.node, "gpu_ids": gpu_ids, "handle": {}, "started": now}
        empty = {"ended": 0.0, "outcome": "", "reason": "", "stop_by": 0.0, "metrics_offset": 0}
        conn.execute(insert(attempts).values({**row, **empty}))

    def _answer(self, attempt: Attempt, answer: Answered) -> None:
        self.collector.take_answer(attempt, answer)
        self.collector.folders.tidy(attempt.job, attempt.fence, failed=False)

    def _launch(self, job: Job, attempt: Attempt, folder: Path, prepared: Prepared) -> None:
        spec = AttemptSpec(
            job.id,
            attempt.fence,
            folder,
            prepared.command,
            job.spec.resources,
            dict(prepared.environment),
            attempt.node,
            attempt.gpu_ids,
            job.spec.grace,
        )
        try:
            handle: Handle | None = self.executor.start(spec)
        except (SeedbedError, OSError) as error:
            handle = self.executor.recover(folder)  # from here on it runs, or never will
            if handle is None:
                self._end(job, attempt, failed(job, _sentence(error)))
                return
        with self.lease.write() as conn:
            conn.execute(update(attempts).where(*_mine(attempt)).values(handle=dict(handle or {})))
            if self.queue.locked(conn, job.id).state is State.STARTING:
                changes: dict[str, Any] = {"key": prepared.key, "doing": ""}
                self.queue.transition(conn, job.id, State.RUNNING, fence=attempt.fence, **changes)

    def _free_gpus(self, node: str, nodes: Sequence[Node]) -> list[int]:
        used = {gpu for _, attempt in self.queue.active() if attempt.node == node for gpu in attempt.gpu_ids}
        return [gpu for place in nodes if place.name == node for gpu in range(place.capacity.gpus) if gpu not in used]

    # --- small things ---------------------------------------------------------------------------------------------

    def _pair(self, job_id: str) -> tuple[Job, Attempt]:
        job = self.queue.get(job_id)
        return job, self.queue.attempts(job_id)[-1]

    def _folder(self, attempt: Attempt) -> Path:
        return self.collector.folders.attempt(attempt.job, attempt.fence)

    def _note(self, attempt: Attempt, **values: Any) -> None:
        with self.lease.write() as conn:
            conn.execute(update(attempts).where(*_mine(attempt)).values(values))


def _unprepared(job: Job, error: Exception) -> Verdict:
    """What becomes of a job that the launcher could not prepare."""
    if not isinstance(error, SeedbedError):
        return failed(job, f"It could not be prepared: {error!r}.")
    return failed(job, _sentence(error), hopeless=is_hopeless({"code": error.code}))


def _sentence(error: Exception) -> str:
    return f"{error.in_a_line()} {error.hint}".strip() if isinstance(error, SeedbedError) else str(error)


def _mine(attempt: Attempt) -> tuple[Any, Any]:
    return attempts.c.job == attempt.job, attempts.c.fence == attempt.fence


def _waiting(waiter: Waiter) -> Waiting:
    spec = waiter.spec
    return Waiting(
        waiter.id,
        spec.cls,
        spec.resources,
        waiter.submitted,
        spec.grace,
        waiter.preemptions,
        waiter.position,
        dict(spec.estimates),
    )


def _running(job: Job, attempt: Attempt) -> Running:
    started: Instant = attempt.started
    stopping = job.state is State.STOPPING
    spec = job.spec
    return Running(job.id, spec.cls, spec.resources, attempt.node, spec.grace, started, job.preemptions, stopping)
