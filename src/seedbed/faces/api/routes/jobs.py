"""/jobs: submit, look, cancel, run again."""

import math
from typing import Annotated

from fastapi import Path, Query

from seedbed.faces.api.access import Here, Trainer, Viewer
from seedbed.faces.api.requests import FlowAsked, RerunAsked
from seedbed.faces.api.routing import Limit, Offset, router
from seedbed.faces.api.views import AttemptView, JobView, LogView, RerunView
from seedbed.flows.asked import JobAsked

jobs = router("jobs")
JobId = Annotated[str, Path(description="The job's id or the beginning of it.", max_length=100)]


@jobs.post("", status_code=201)
def submit(asked: JobAsked, here: Here, by: Trainer) -> JobView:
    """Queue one job."""
    return JobView.of(here.jobs.submit(asked.spec(), by=by))


@jobs.post("/flow", status_code=201)
def submit_flow(asked: FlowAsked, here: Here, by: Trainer) -> list[JobView]:
    """Queue several jobs together, all or none."""
    return [JobView.of(job) for job in here.jobs.submit_flow([job.spec() for job in asked.jobs], by=by)]


@jobs.get("")
def find(
    here: Here,
    by: Viewer,
    state: Annotated[str, Query(max_length=20)] = "",
    project: Annotated[str, Query(max_length=500)] = "",
    flow: Annotated[str, Query(max_length=100)] = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[JobView]:
    """Jobs, the newest first."""
    found = here.jobs.list(by=by, state=state, project=project, flow=flow, limit=limit, offset=offset)
    return [JobView.of(job) for job in found]


@jobs.get("/{job_id}")
def show(job_id: JobId, here: Here, by: Viewer) -> JobView:
    """One job."""
    return JobView.of(here.jobs.get(job_id, by=by))


@jobs.post("/{job_id}/cancel", status_code=202)
def cancel(job_id: JobId, here: Here, by: Trainer) -> JobView:
    """Stop a job, or take it out of the queue."""
    return JobView.of(here.jobs.cancel(job_id, by=by))


@jobs.post("/{job_id}/pause", status_code=202)
def pause(job_id: JobId, here: Here, by: Trainer) -> JobView:
    """Stop a job for now: it puts its state away and waits."""
    return JobView.of(here.jobs.pause(job_id, by=by))


@jobs.post("/{job_id}/resume", status_code=202)
def resume(job_id: JobId, here: Here, by: Trainer) -> JobView:
    """Let a job that was stopped for now go on."""
    return JobView.of(here.jobs.resume(job_id, by=by))


@jobs.post("/{job_id}/rerun", status_code=201)
def rerun(job_id: JobId, asked: RerunAsked, here: Here, by: Trainer) -> RerunView:
    """A new job with exactly the same inputs; those that ended only because of the old one come back with it."""
    made = here.jobs.rerun(job_id, by=by, again=asked.again, memory=asked.memory, timeout=asked.timeout)
    return RerunView.of_all(made)


@jobs.get("/{job_id}/logs")
def logs(job_id: JobId, here: Here, by: Viewer, offset: Offset = 0) -> LogView:
    """What the newest attempt printed, from an offset in bytes."""
    text, following = here.jobs.logs(job_id, by=by, offset=offset)
    return LogView(text=text, offset=following)


@jobs.get("/{job_id}/metrics")
def metrics(
    job_id: JobId, here: Here, by: Viewer, names: Annotated[list[str] | None, Query(max_length=100)] = None
) -> dict[str, list[list[int | float | None]]]:
    """Curves: for each name its (step, value) points."""
    curves = here.jobs.metrics(job_id, by=by, names=names or ())
    return {
        name: [[step, value if math.isfinite(value) else None] for step, value in points]
        for name, points in curves.items()
    }


@jobs.get("/{job_id}/attempts")
def attempts(job_id: JobId, here: Here, by: Viewer) -> list[AttemptView]:
    """Every try at the job, oldest first."""
    return [AttemptView.of(attempt) for attempt in here.jobs.attempts(job_id, by=by)]
