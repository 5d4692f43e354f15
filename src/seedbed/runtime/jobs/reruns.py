"""Running jobs again.

What has ended stays ended: a new job repeats the old one, and the old one knows it (`rerun_as`). A job and those that
repeat it, one after the other, are its line; the newest of a line is the one that counts.

A job that never ran because one that it needs ended badly fell with it (`fell_with`). When that one is run again, those
that fell only because of it come back: each is repeated too, and waits for the new job in the place of the old one.
All of them are queued in one commit that holds the old ones still: whoever asks at the same moment is answered with
what the first has queued, and a crash leaves all or nothing.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter

from sqlalchemy import Connection, Text, cast, or_, select, update

from seedbed.assets.db.tables import jobs
from seedbed.base.errors import Conflict, NotFound, SeedbedError
from seedbed.base.ids import new_id
from seedbed.runtime.jobs.dependencies import Dependencies
from seedbed.runtime.jobs.folders import JobFolders
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Entry, Job
from seedbed.runtime.jobs.spec import JobSpec, Limits, output_of_job
from seedbed.runtime.jobs.states import State

_log = logging.getLogger(__name__)
_AT_ONCE = 100  # ids that one question to the database names
_TRIES = 20  # while others run the same jobs again, or cancel them

Check = Callable[[JobSpec], JobSpec]
"""Completes a specification that is to be queued, or refuses it with an error of the family."""


class Overtaken(Conflict):
    """Somebody has run one of these jobs again, or cancelled it, since it was looked at."""


@dataclass(frozen=True)
class Repeat:
    """A job that is to be repeated: under which id, and as what. `line` has the ids of all that it stands for."""

    old: Job
    line: frozenset[str]
    id: str
    spec: JobSpec


class Reruns:
    """Runs jobs again, with those that fell with them. Safe to use from any thread and from several processes."""

    def __init__(self, queue: Queue, folders: JobFolders) -> None:
        self._queue = queue
        self._folders = folders

    def rerun(self, job: Job, check: Check, *, again: bool = False, limits: Limits | None = None) -> list[Job]:
        """Repeat a job on the very bundles that it was given or would have been; those that fell with it follow.

        A failed one goes on from its last checkpoint; `again` runs it from the beginning even if the store knows the
        answer. `limits` are for the job alone. One that is being run again already is answered with that run, if it
        has these limits. `check` says what may be queued: the job itself must pass; a follower that does not stays as
        it is, and so do those that need it.
        """
        limits = limits or Limits()
        for _ in range(_TRIES - 1):
            try:
                return self._try(job, check, limits, again=again)
            except Overtaken as overtaken:
                _log.info("%s", overtaken)
        return self._try(job, check, limits, again=again)

    def _try(self, job: Job, check: Check, limits: Limits, *, again: bool) -> list[Job]:
        old = self.newest(self._queue.get(job.id))
        if old.id != job.id and not old.state.ended and not again:
            _refuse_others(old, limits)
            return [old]
        plan = self._plan(old, check, limits, again=again)
        try:
            return self._submit(plan, checkpoint="" if again else self._hand_on(plan[0]))
        except SeedbedError:  # overtaken, or its project is gone
            self._folders.forget_checkpoints(plan[0].id)
            raise

    def newest(self, job: Job) -> Job:
        """The last of the jobs that repeat this one, or itself."""
        while job.rerun_as:
            job = self._queue.get(job.rerun_as)
        return job

    # --- what comes back ------------------------------------------------------------------------------------------

    def _plan(self, old: Job, check: Check, limits: Limits, *, again: bool) -> list[Repeat]:
        """The job and those that come back with it, each after those that it needs."""
        self._refuse_in_vain(old)
        asked = check(limits.on(self._given(old, ())))
        first = Repeat(old, self._line(old), new_id(), replace(asked, again=again))
        plan = {old.id: first}
        fallen = self._fallen(first)
        lines = {old.id: first.line, **{name: line for name, (_, line) in fallen.items()}}
        places = {member: name for name, line in lines.items() for member in line}
        needs = {name: {places.get(need, need) for need in job.spec.needed} for name, (job, _) in fallen.items()}
        waits = {name: {places[n] for n in job.spec.dependencies if n in places} for name, (job, _) in fallen.items()}
        for name in TopologicalSorter(waits).static_order():  # whatever cannot come back is known before who needs it
            if name in fallen and all(need in plan or self._stands(need, fallen) for need in needs[name]):
                job, line = fallen[name]
                if spec := self._passed(check, job, places):
                    plan[name] = Repeat(job, line, new_id(), replace(spec, owner=job.owner))
        return list(plan.values())

    def _refuse_in_vain(self, job: Job) -> None:
        """A job that would only fall again is not queued."""
        for need in job.spec.needed:
            other = self._in_place_of(need)
            if other.ended_badly:
                how = "failed" if other.state is State.FAILED else "was cancelled"
                raise Conflict(
                    f"Job {job.id} needs job '{other.name}', which {how}.",
                    hint=f"Run that one again, and this one comes back with it: seedbed jobs rerun {other.id}",
                )

    def _fallen(self, first: Repeat) -> dict[str, tuple[Job, frozenset[str]]]:
        """Who has fallen with a job, or is about to, with whom, and so on: by id, each with its line."""
        states = self._queue.states(first.line)
        bad = {name for name in first.line if states[name] in (State.FAILED, State.CANCELLED)}
        found: dict[str, tuple[Job, frozenset[str]]] = {}
        todo = set(bad)
        while todo:
            fresh = [job for job in self._mention(todo) if job.id not in found and bad.intersection(job.spec.needed)]
            found |= {job.id: (job, self._line(job)) for job in fresh}
            todo = {member for job in fresh for member in found[job.id][1]}
            bad |= todo
        return found

    def _mention(self, ids: Collection[str]) -> list[Job]:
        """The jobs that never ran, are not repeated, and whose specification names one of these."""
        found: dict[str, Job] = {}
        named = sorted(ids)
        with self._queue.database.read() as conn:
            for start in range(0, len(named), _AT_ONCE):
                words = [cast(jobs.c.spec, Text).contains(name) for name in named[start : start + _AT_ONCE]]
                never_ran = or_(jobs.c.fell_with != "", jobs.c.state == State.WAITING)
                rows = conn.execute(select(jobs).where(never_ran, jobs.c.rerun_as == "", or_(*words))).mappings()
                found |= {row["id"]: Job.of(row) for row in rows}
        return list(found.values())

    def _line(self, job: Job) -> frozenset[str]:
        """The ids of a job and of those that it repeats."""
        line, before = {job.id}, [job.id]
        with self._queue.database.read() as conn:
            while before:
                before = list(conn.execute(select(jobs.c.id).where(jobs.c.rerun_as.in_(before))).scalars())
                line.update(before)
        return frozenset(line)

    def _stands(self, need: str, fallen: Collection[str]) -> bool:
        """Whether something that is not run again now has ended well, or may still."""
        try:
            return need not in fallen and not self._in_place_of(need).ended_badly
        except NotFound:
            return False

    def _in_place_of(self, job_id: str) -> Job:
        """The job itself, or if it ended badly the newest of those that repeat it."""
        job = self._queue.get(job_id)
        return self.newest(job) if job.ended_badly else job

    def _given(self, job: Job, coming: Collection[str]) -> JobSpec:
        """What a job asks for, with bundles in the place of what is made; `coming` are jobs that are repeated now.

        An input that it can do without, and went without, stays as it is: it goes without again.
        """
        needed = {name: self._in_place_of(name) for name in job.spec.needed if name not in coming}
        spec = job.spec.wired({name: other.id for name, other in needed.items()})
        done = {other.id for other in needed.values() if other.state is State.DONE}
        made = {name: found[0] for name, reference in spec.inputs.items() if (found := output_of_job(reference))}
        settled = {name: ref for name, ref in spec.inputs.items() if name not in made or made[name] in done}
        known = self._queue.resolve(replace(job, spec=replace(spec, inputs=settled)))
        return replace(spec, inputs={**spec.inputs, **known})

    def _passed(self, check: Check, job: Job, coming: Collection[str]) -> JobSpec | None:
        """What a follower asks for; None: it cannot be given that, which is no reason to keep the others back."""
        try:
            return check(self._given(job, coming))
        except SeedbedError as error:
            _log.info("Job %s does not come back: %s", job.id, error)
            return None

    # --- queued ---------------------------------------------------------------------------------------------------

    def _hand_on(self, first: Repeat) -> str:
        """Give the new job the last checkpoint of one that failed; its name there, empty where there is none."""
        old = first.old
        kept = old.state is State.FAILED and old.checkpoint
        return self._folders.hand_on(old.id, old.checkpoint, first.id) if kept else ""

    def _submit(self, plan: Sequence[Repeat], *, checkpoint: str) -> list[Job]:
        ids = {member: each.id for each in plan for member in each.line}
        entries = [Entry(each.id, each.spec.wired(ids), each.old.flow) for each in plan]
        standings = self._queue.standings({need for each in plan for need in each.old.spec.needed})
        with self._queue.database.write() as conn:
            held = {name: self._queue.locked(conn, name) for name in sorted(each.old.id for each in plan)}
            for each in plan:
                if held[each.old.id].rerun_as:
                    raise Overtaken(f"Job {each.old.id} is being run again by somebody else.")
                if each is not plan[0]:
                    self._have_fallen(conn, held[each.old.id], standings)
                conn.execute(update(jobs).where(jobs.c.id == each.old.id).values(rerun_as=each.id))
            self._queue.add(conn, [replace(entries[0], checkpoint=checkpoint), *entries[1:]])
        return [self._queue.get(each.id) for each in plan]

    def _have_fallen(self, conn: Connection, job: Job, standings: dict[str, tuple[State, str]]) -> None:
        """Make sure that a job has ended with what it needs: no scheduler may have looked at it since."""
        if job.state is State.WAITING and (fall := Dependencies(standings).fall(job.spec)):
            self._queue.transition(conn, job.id, fall.state, reason=fall.reason, fell_with=fall.fell_with)
            standings[job.id] = (fall.state, job.name)
        elif not job.fell_with:
            raise Overtaken(f"Job {job.id} is {job.state}, and no longer ends with what it needs.")


def _refuse_others(going: Job, limits: Limits) -> None:
    """A run that goes on cannot be given other limits than it has."""
    if limits.on(going.spec) != going.spec:
        raise Conflict(
            f"It is being run again already, with other limits: job {going.id} is {going.state}.",
            hint=f"Wait for its end, or cancel it and ask again: seedbed jobs cancel {going.id}",
        )
