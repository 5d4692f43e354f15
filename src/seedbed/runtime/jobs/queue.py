"""The queue, in the database: what was acknowledged is there after any crash."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, exists, func, insert, select, update
from sqlalchemy.sql import ColumnElement

from seedbed.assets.access.roles import no_such_project
from seedbed.assets.db.engine import Along, Database, nothing_along
from seedbed.assets.db.tables import attempts, jobs, metrics, projects
from seedbed.assets.store.events import Events, News
from seedbed.base.clock import Clock, SystemClock
from seedbed.base.errors import Conflict, InvalidInput, NotFound
from seedbed.base.ids import new_id
from seedbed.runtime.jobs.records import GO_ON, PAUSE, PAUSED, Attempt, Entry, Job, Metric, Waiter
from seedbed.runtime.jobs.spec import JobSpec, output_of_job
from seedbed.runtime.jobs.states import State, check

Order = Literal["newest", "queue"]
Jobs = list[Job]  # named, because the queue's own `list` hides the type inside the class
Attempts = list[Attempt]
Metrics = list[Metric]
Waiters = list[Waiter]
Active = list[tuple[Job, Attempt]]
_SHORTEST_PREFIX = 6


JUST_SUBMITTED = "Just submitted"  # why a job waits that no scheduler has looked at


class Queue:
    """Jobs: submitted, listed, cancelled, repeated. Safe to use from any thread and from several processes at once."""

    def __init__(self, database: Database, events: Events, clock: Clock | None = None) -> None:
        self.database = database
        self.events = events
        self.clock = clock or SystemClock()
        self._specs: dict[str, JobSpec] = {}  # of the jobs that wait; a specification never changes

    # --- asked for ------------------------------------------------------------------------------------------------

    def submit(self, spec: JobSpec, *, id: str = "", flow: str = "", checkpoint: str = "") -> Job:
        """Put a job at the end of the queue; a job id that is given a second time is answered with the job it has.

        It begins with the checkpoint of that name, where its folder has one.
        """
        return self.submit_many({id or new_id(): spec}, flow=flow, checkpoint=checkpoint)[0]

    def submit_many(self, specs: Mapping[str, JobSpec], *, flow: str = "", checkpoint: str = "") -> Jobs:
        """Submit jobs that may refer to each other by the ids given here: all, in this order, or none."""
        for spec in specs.values():
            spec.check()
        with self.database.write() as conn:
            self.events.lock(conn)
            known = set(conn.execute(select(jobs.c.id).where(jobs.c.id.in_(list(specs)))).scalars())
            fresh = {name: spec for name, spec in specs.items() if name not in known}
            _check_dependencies(conn, fresh)
            self.add(conn, [Entry(name, spec, flow, checkpoint) for name, spec in fresh.items()])
            found = conn.execute(select(jobs).where(jobs.c.id.in_(list(specs)))).mappings()
            made = {row["id"]: Job.of(row) for row in found}
        return [made[name] for name in specs]

    def add(self, conn: Connection, entries: Sequence[Entry]) -> None:
        """Put new jobs at the end of the queue in this write transaction, in this order."""
        if entries:
            last = self.events.append_all(conn, [_submitted(entry) for entry in entries])
            _check_projects(conn, {entry.spec.project for entry in entries})
            now, first = self.clock.now(), last - len(entries) + 1  # the numbers of the events are the positions
            conn.execute(insert(jobs), [_new_row(entry, float(n), now) for n, entry in enumerate(entries, first)])

    def cancel(self, ref: str, *, by: str = "", along: Along = nothing_along) -> Job:
        """Take a job out of the queue, or ask it to stop; the scheduler does the rest.

        `along` is called where that changes something.
        """
        job = self.get(ref)
        words = f"Cancelled by {by}" if by else "Cancelled"
        with self.database.write() as conn:
            job = self.locked(conn, job.id)
            if job.state in (State.DONE, State.FAILED):
                raise Conflict(f"Job {job.id} has ended ({job.state}) and cannot be cancelled.")
            if job.state is State.CANCELLED or (job.state is State.STOPPING and job.wish == "cancel"):
                return job  # by somebody else, perhaps a moment ago
            if job.state is State.WAITING:
                self.transition(conn, job.id, State.CANCELLED, reason=words)
            elif job.state is State.STOPPING:
                conn.execute(update(jobs).where(jobs.c.id == job.id).values(wish="cancel", reason=words))
            else:
                self.transition(conn, job.id, State.STOPPING, wish="cancel", reason=words)
            along(conn)
        return self.get(job.id)

    def pause(self, ref: str, *, by: str = "", along: Along = nothing_along) -> Job:
        """Let a job put its state away and wait, until it is resumed; one that waits already starts only then.

        `along` is called where that changes something.
        """
        job = self.get(ref)
        words = f"Stopped by {by} for now" if by else "Stopped for now"
        with self.database.write() as conn:
            job = self.locked(conn, job.id)
            if job.state.ended or job.wish == "cancel":
                raise Conflict(f"Job {job.id} has ended or is being cancelled; it cannot be stopped for now.")
            if job.paused or (job.state is State.STOPPING and job.wish == PAUSE):
                return job
            if job.state is State.WAITING:
                self._hold(conn, job, "job.paused", reason=words, not_before=PAUSED)
            elif job.state is State.STOPPING:
                conn.execute(update(jobs).where(jobs.c.id == job.id).values(wish=PAUSE, reason=words))
            else:
                self.transition(conn, job.id, State.STOPPING, wish=PAUSE, reason=words)
            along(conn)
        return self.get(job.id)

    def resume(self, ref: str, *, along: Along = nothing_along) -> Job:
        """Let a paused job go on from where it was; one that still puts its state away starts again after that."""
        job = self.get(ref)
        with self.database.write() as conn:
            job = self.locked(conn, job.id)
            if not (job.paused or job.pausing):
                raise Conflict(f"Job {job.id} is {job.state}, and was not stopped for now.")
            change = {"wish": GO_ON} if job.pausing else {"not_before": 0.0}
            self._hold(conn, job, "job.resumed", reason="Goes on as soon as there is room", **change)
            along(conn)
        return self.get(job.id)

    def _hold(self, conn: Connection, job: Job, kind: str, **values: Any) -> None:
        conn.execute(update(jobs).where(jobs.c.id == job.id).values(values))
        data = {"step": job.step, "name": job.name, "flow": job.flow, "owner": job.owner, "reason": values["reason"]}
        self.events.append(conn, kind, job.id, data, job.project)

    # --- seen -----------------------------------------------------------------------------------------------------

    def get(self, ref: str) -> Job:
        """The job of an id, of the beginning of one, or the newest of a name."""
        begins = (jobs.c.id >= ref, jobs.c.id < ref + "g")
        with self.database.read() as conn:
            rows = conn.execute(select(jobs).where(jobs.c.id == ref)).mappings().all()
            if not rows and len(ref) >= _SHORTEST_PREFIX:
                rows = conn.execute(select(jobs).where(*begins).limit(2)).mappings().all()
            if not rows:
                newest = select(jobs).where(jobs.c.name == ref).order_by(jobs.c.submitted.desc(), jobs.c.id.desc())
                rows = conn.execute(newest.limit(1)).mappings().all()
        if not rows:
            raise NotFound(f"There is no job '{ref}'.", hint="See: seedbed jobs list")
        if len(rows) > 1:
            raise Conflict(f"Several jobs begin with '{ref}'.", hint="Give more of the id.")
        return Job.of(rows[0])

    def list(
        self,
        *,
        states: Collection[State] = (),
        project: str | Collection[str] | None = None,
        flow: str = "",
        step: str = "",
        owner: str = "",
        curves: bool = False,
        order: Order = "newest",
        limit: int = 100,
        offset: int = 0,
    ) -> Jobs:
        """Jobs, the newest first, or in the order of the queue; `curves`: those that have measured something twice."""
        wanted: list[ColumnElement[bool]] = [jobs.c.state.in_([str(state) for state in states])] if states else []
        places = [project] if isinstance(project, str) else project
        wanted += [jobs.c.project.in_(list(places))] if places is not None else []
        for column, value in ((jobs.c.flow, flow), (jobs.c.step, step), (jobs.c.owner, owner)):
            wanted += [column == value] if value else []
        wanted += [_has_curves()] if curves else []
        by = [jobs.c.position, jobs.c.id] if order == "queue" else [jobs.c.submitted.desc(), jobs.c.id.desc()]
        with self.database.read() as conn:
            rows = conn.execute(select(jobs).where(*wanted).order_by(*by).limit(limit).offset(offset)).mappings()
            return [Job.of(row) for row in rows]

    def open_in(self, conn: Connection, project: str, limit: int) -> Jobs:
        """The first jobs of a project that have not ended, as this transaction sees them.

        Once it has appended to the feed, no other comes to them before its commit.
        """
        ended = [str(state) for state in State if state.ended]
        wanted = select(jobs).where(jobs.c.project == project, jobs.c.state.not_in(ended))
        rows = conn.execute(wanted.order_by(jobs.c.position, jobs.c.id).limit(limit)).mappings()
        return [Job.of(row) for row in rows]

    def counts(self) -> dict[State, int]:
        """How many jobs are in each state."""
        with self.database.read() as conn:
            rows = conn.execute(select(jobs.c.state, func.count()).group_by(jobs.c.state)).all()
        return {state: dict(tuple(row) for row in rows).get(state, 0) for state in State}

    def attempts(self, job_id: str) -> Attempts:
        """Every try at a job, the first first."""
        with self.database.read() as conn:
            rows = conn.execute(select(attempts).where(attempts.c.job == job_id).order_by(attempts.c.fence)).mappings()
            return [Attempt.of(row) for row in rows]

    def metrics(self, job_id: str, names: Collection[str] = (), after: int = -1) -> Metrics:
        """What a job measured at the steps after one, by name and step."""
        wanted = [
            metrics.c.job == job_id,
            metrics.c.step > after,
            *([metrics.c.name.in_(list(names))] if names else []),
        ]
        columns = (metrics.c.name, metrics.c.step, metrics.c.value, metrics.c.at)
        with self.database.read() as conn:
            rows = conn.execute(select(*columns).where(*wanted).order_by(metrics.c.name, metrics.c.step))
            return [Metric(*row) for row in rows]

    def resolve(self, job: Job) -> dict[str, str]:
        """The bundles that a job's inputs stand for, by input name; every input that has none is told at once.

        An input that it can do without, and that nobody made, is left out.
        """
        found, problems = dict(job.spec.inputs), []
        for name, reference in job.spec.inputs.items():
            if source := output_of_job(reference):
                outputs = self.get(source[0]).outputs
                found[name] = outputs.get(source[1], "")
                if not found[name] and name in job.spec.spare:
                    del found[name]
                elif not found[name]:
                    known = ", ".join(outputs) or "nothing"
                    problems.append(f"input '{name}': job {source[0]} made no '{source[1]}'; it made {known}.")
        if problems:
            raise InvalidInput(f"Job {job.id} cannot be given its inputs.", problems=problems)
        return found

    # --- for the scheduler ----------------------------------------------------------------------------------------

    def active(self) -> Active:
        """The jobs that hold room, each with the attempt that counts."""
        states = [state for state in State if state.active]
        with self.database.read() as conn:
            rows = conn.execute(select(jobs).where(jobs.c.state.in_(states)).order_by(jobs.c.position)).mappings().all()
            counts = (attempts.c.job == jobs.c.id) & (attempts.c.fence == jobs.c.fence)
            tries = select(attempts).join(jobs, counts).where(jobs.c.state.in_(states))
            by_job = {row["job"]: Attempt.of(row) for row in conn.execute(tries).mappings()}
        return [(Job.of(row), by_job[row["id"]]) for row in rows]

    def waiting(self) -> Waiters:
        """The jobs that wait, in the order of the queue."""
        columns = (jobs.c.id, jobs.c.position, jobs.c.preemptions, jobs.c.submitted, jobs.c.not_before, jobs.c.reason)
        with self.database.read() as conn:
            rows = conn.execute(
                select(*columns).where(jobs.c.state == State.WAITING).order_by(jobs.c.position, jobs.c.id)
            ).all()
            unknown = [row.id for row in rows if row.id not in self._specs]
            for start in range(0, len(unknown), 500):
                some = select(jobs.c.id, jobs.c.spec).where(jobs.c.id.in_(unknown[start : start + 500]))
                self._specs.update({name: JobSpec.from_json(spec) for name, spec in conn.execute(some)})
        self._specs = {row.id: self._specs[row.id] for row in rows}
        return [Waiter(row[0], self._specs[row[0]], *row[1:]) for row in rows]

    def states(self, ids: Collection[str]) -> dict[str, State]:
        """The states of some jobs."""
        return {job: state for job, (state, _) in self.standings(ids).items()}

    def standings(self, ids: Collection[str]) -> dict[str, tuple[State, str]]:
        """The state and the name of some jobs."""
        found: dict[str, tuple[State, str]] = {}
        todo = sorted(ids)
        with self.database.read() as conn:
            for start in range(0, len(todo), 500):
                some = select(jobs.c.id, jobs.c.state, jobs.c.name).where(jobs.c.id.in_(todo[start : start + 500]))
                found.update({job: (State(state), name) for job, state, name in conn.execute(some)})
        return found

    def locked(self, conn: Connection, job_id: str) -> Job:
        """The job as it stands, held still until this write transaction ends."""
        row = conn.execute(select(jobs).where(jobs.c.id == job_id).with_for_update()).mappings().first()
        if row is None:
            raise NotFound(f"There is no job '{job_id}'.")
        return Job.of(row)

    def transition(
        self, conn: Connection, job_id: str, to: State, *, fence: int | None = None, next_fence: int = 0, **values: Any
    ) -> None:
        """Bring a job into another state, as the table of states allows, and tell it to the feed.

        With `fence`, only if the attempt of that number still counts; else Conflict, and nothing is changed. From
        `next_fence` on only the attempt of that number counts.
        """
        job = self.locked(conn, job_id)
        if fence is not None and job.fence != fence:
            raise Conflict(f"Attempt {fence} of job {job_id} has lost its place to attempt {job.fence}.")
        check(job.state, to)
        changes = {"state": str(to), "fence": next_fence or job.fence, **values}
        changes |= {"ended": self.clock.now()} if to.ended else {}
        conn.execute(update(jobs).where(jobs.c.id == job_id).values(changes))
        told = {"reason": changes.get("reason", job.reason), "fence": changes["fence"]}
        data = {"step": job.step, "name": job.name, "flow": job.flow, "owner": job.owner, **told}
        self.events.append(conn, f"job.{to}", job_id, data, job.project)

    def head(self, conn: Connection) -> float:
        """A position before every job that waits."""
        first = conn.execute(select(func.min(jobs.c.position)).where(jobs.c.state == State.WAITING)).scalar()
        return min(float(first) if first is not None else 0.0, 0.0) - 1

    def explain(self, conn: Connection, reasons: Mapping[str, str]) -> None:
        """Keep why jobs wait."""
        still = (jobs.c.id == bindparam("job")) & (jobs.c.state == State.WAITING)
        rows = [{"job": job_id, "words": reason} for job_id, reason in sorted(reasons.items())]  # one order
        if rows:
            conn.execute(update(jobs).where(still).values(reason=bindparam("words")), rows)


def _has_curves() -> ColumnElement[bool]:
    one, later = metrics.alias(), metrics.alias()
    follows = exists().where(later.c.job == one.c.job, later.c.name == one.c.name, later.c.step > one.c.step)
    return exists().where(one.c.job == jobs.c.id, follows)


def _check_dependencies(conn: Connection, specs: Mapping[str, JobSpec]) -> None:
    before: set[str] = set()
    wanted = {name for spec in specs.values() for name in spec.dependencies}
    known = set(conn.execute(select(jobs.c.id).where(jobs.c.id.in_(wanted))).scalars())
    problems = []
    for job_id, spec in specs.items():
        missing = [name for name in spec.dependencies if name not in known | before]
        problems += [f"{spec.name or spec.step} needs job {name}, which there is not." for name in missing]
        before.add(job_id)
    if problems:
        hint = "Submit the jobs that others need first, or before them in the same flow."
        raise InvalidInput("The job cannot be submitted.", problems=problems, hint=hint)


def _check_projects(conn: Connection, wanted: Collection[str]) -> None:
    """Refuse what was removed since it was looked at; who removes a project holds the feed, as the caller does."""
    known = {"", *conn.execute(select(projects.c.id).where(projects.c.id.in_(wanted))).scalars()}
    if not known.issuperset(wanted):
        raise no_such_project()


def _submitted(entry: Entry) -> News:
    spec = entry.spec
    data = {"step": spec.step, "name": spec.name or spec.step, "flow": entry.flow, "owner": spec.owner}
    return News("job.submitted", entry.id, data, spec.project)


def _new_row(entry: Entry, position: float, now: float) -> dict[str, Any]:
    spec = entry.spec
    plain: Sequence[str] = ("fence", "preemptions", "failures", "step_now", "step_total")
    return {
        **dict.fromkeys(plain, 0),
        **dict.fromkeys(("not_before", "started", "ended"), 0.0),
        **dict.fromkeys(("wish", "doing", "key"), ""),
        "id": entry.id,
        "name": spec.name or spec.step,
        "flow": entry.flow,
        "step": spec.step,
        "spec": spec.to_json(),
        "cls": str(spec.cls),
        "owner": spec.owner,
        "project": spec.project,
        "state": str(State.WAITING),
        "position": position,
        "reason": JUST_SUBMITTED,
        "outputs": {},
        "submitted": now,
        "checkpoint": entry.checkpoint,
    }
