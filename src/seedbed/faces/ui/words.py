"""Times, amounts and states in words. Pure functions, so that every sentence of a page can be tested."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.flows.naming import job_in_words
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

_UNITS = ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute"))
_STATES = {
    State.WAITING: "waiting",
    State.STARTING: "starting",
    State.RUNNING: "running",
    State.STOPPING: "stopping",
    State.DONE: "done",
    State.FAILED: "failed",
    State.CANCELLED: "cancelled",
}
_SPOKEN_OF = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|'[^']+'")  # an id, or a name
_KINDS = {
    "data-set": "data set",
    "decoded": "decoded images",
    "embeddings": "looks of images",
    "groups": "groups of alike images",
    "download": "model to take away",
    "ranking": "where to start",
    "similarity": "distances of data sets",
}
_MAY = {
    Role.VIEWER: "may look",
    Role.LABELLER: "may label images",
    Role.TRAINER: "may label, bring images and train",
    Role.OPERATOR: "may do everything, and let people in",
}
_NAMED = 3  # people who are named before the rest is counted


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun: '1 image', '1,200 images'."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """How long: '0.4 s', '12 s', '2 min 5 s', '3 h 10 min', '2 days 4 h'."""
    if seconds < 0.95:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{plural(whole // 86400, 'day')} {whole % 86400 // 3600} h"


def roughly(seconds: float) -> str:
    """How long it will take, no more exactly than anybody can know."""
    if seconds < 55:
        return f"{max(5 * round(seconds / 5), 5)} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h"


def ago(then: float, now: float) -> str:
    """How long ago, roughly: 'just now', '3 minutes ago'."""
    for size, unit in _UNITS:
        if now - then >= size:
            return f"{plural(int((now - then) // size), unit)} ago"
    return "just now"


def moment(then: float) -> str:
    """A point in time for a tooltip, in the server's time zone."""
    return datetime.fromtimestamp(then).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def percent(share: float) -> str:
    """A share for people: '91 %', '91.5 %' between whole numbers near the top."""
    return f"{100 * share:.1f} %".replace(".0 %", " %")


def value_of(value: Any) -> str:
    """A parameter's value: texts as they are, the rest as JSON writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def kind_of(kind: str) -> str:
    """A bundle's kind as people say it."""
    return _KINDS.get(kind, kind)


def may_in_words(role: Role) -> str:
    """What a role in a project lets somebody do there."""
    return _MAY[role]


def people_in_words(names: Sequence[str]) -> str:
    """Who is in a project: 'Nobody', 'ada', 'ada and grace', 'ada, grace, olga and 2 more'."""
    if not names:
        return "Nobody is in this project yet"
    rest = len(names) - _NAMED
    listed = [*names[:_NAMED], f"{rest} more"] if rest > 0 else list(names)
    said = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
    return f"People in this project: {said}"


def title_of(job: Job) -> str:
    """What a job is called where anybody looks; its name and step stand in the details of its page."""
    return job_in_words(job.name, job.step)


def state_of(job: Job) -> str:
    """The word on its badge."""
    return _STATES[State(job.state)]


def names_of(jobs: Iterable[Job]) -> dict[str, str]:
    """What jobs are called, by how a reason may speak of them: the id, or the name in quotes."""
    return {key: f"'{title_of(job)}'" for job in jobs for key in (job.id, f"'{job.name}'")}


def with_names(job: Job, names: Mapping[str, str]) -> Job:
    """The job with what other jobs are called in its reason, where the reason speaks of them.

    Its own id stays: it stands in the command that the reason advises, which no title can be typed into.
    """

    def called(found: re.Match[str]) -> str:
        return found[0] if found[0] == job.id else names.get(found[0], found[0])

    return replace(job, reason=_SPOKEN_OF.sub(called, job.reason))


def owner_of(job: Job, reader: Identity) -> str:
    """Whose it is, in the eyes of somebody; nothing where there is only one person."""
    if reader.id == SOLO.id:
        return ""
    return "yours" if job.owner in (reader.id, reader.name) else job.owner


def share_of(job: Job) -> float | None:
    """How far it is, from 0 to 1; None where it does not say."""
    if job.state == State.DONE:
        return 1.0
    return min(job.step_now / job.step_total, 1.0) if job.step_total > 0 else None


def left_of(job: Job, now: float) -> float | None:
    """Seconds that are left if it goes on as it went; None where that cannot be said."""
    share = share_of(job)
    if job.state != State.RUNNING or not share or not job.started or share < 0.02:
        return None
    return (now - job.started) * (1 - share) / share


def progress_of(job: Job, now: float) -> str:
    """One short line: what it is doing and how long it will take, why it waits, or how it ended."""
    if job.state in (State.RUNNING, State.STARTING, State.STOPPING):
        parts = [job.doing or _STATES[State(job.state)]]
        if job.step_total > 0:
            parts.append(f"{job.step_now:,} of {job.step_total:,}")
        left = left_of(job, now)
        if left is not None:
            parts.append(f"about {roughly(left)} left")
        return ", ".join(parts)
    if job.state == State.DONE:
        return job.reason or (f"took {duration(job.ended - job.started)}" if job.started else "answered from the store")
    return job.reason


def answer_of(job: Job, now: float) -> str:
    """The sentence at the top of a job's page."""
    match State(job.state):
        case State.WAITING:
            return f"It waits. {sentence(job.reason)}" if job.reason else "It waits for its turn."
        case State.STARTING:
            return "It is starting."
        case State.RUNNING:
            return _running(job, now)
        case State.STOPPING:
            return "It was asked to stop: it puts its state away and ends within its grace period."
        case State.DONE:
            how = f"in {duration(job.ended - job.started)}" if job.started else "at once, answered from the store"
            return f"Done {how}, {ago(job.ended, now)}."
        case State.FAILED:
            return f"It failed: {sentence(job.reason)}" if job.reason else "It failed."
        case State.CANCELLED:
            return f"It was cancelled {ago(job.ended, now)}. {sentence(job.reason)}".rstrip()


def sentence(text: str) -> str:
    """The text with a full stop, as sentences have one."""
    text = text.strip()
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."


def ending_of(job: Job) -> str:
    """What people are told when a job has ended."""
    match State(job.state):
        case State.DONE:
            return f"{title_of(job)} is done."
        case State.FAILED:
            return (
                f"{title_of(job)} has failed: {sentence(job.reason)}" if job.reason else f"{title_of(job)} has failed."
            )
        case _:
            return f"{title_of(job)} was cancelled."


def _running(job: Job, now: float) -> str:
    parts = [f"It is running: {job.doing}" if job.doing else "It is running"]
    if job.step_total > 0:
        parts.append(f"{job.step_now:,} of {job.step_total:,}")
    left = left_of(job, now)
    return ", ".join(parts) + (f"; about {roughly(left)} left." if left is not None else ".")
