"""A project and its jobs, on both databases: whoever comes second, to remove the one or to queue the other, is told."""

import threading
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWaiting

import pytest

from seedbed.assets.db.engine import Transaction
from seedbed.base.errors import Conflict, NotFound
from seedbed.base.ids import new_id
from seedbed.runtime.jobs.records import Entry
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State
from tests.runtime.jobs.conftest import Service

_WHILE = 0.3  # seconds in which whoever does not wait would be through


def remove(service: Service, project: str) -> None:
    def refuse(conn: Transaction) -> None:
        if service.queue.open_in(conn, project, limit=1):
            raise Conflict("Work goes on.")

    service.projects.delete(project, refuse)


def test_a_job_that_is_queued_while_its_project_is_removed_waits_and_is_refused(service: Service) -> None:
    project = service.project("wheat")
    removing, go_on = threading.Event(), threading.Event()

    def hold(_: Transaction) -> None:
        removing.set()
        assert go_on.wait(20)

    with ThreadPoolExecutor(2) as threads:
        removal = threads.submit(service.projects.delete, project, hold)
        assert removing.wait(20)
        queueing = threads.submit(service.queue.submit, JobSpec("s", project=project))
        with pytest.raises(StillWaiting):
            queueing.result(_WHILE)
        go_on.set()
        removal.result()
        with pytest.raises(NotFound, match="no such project"):
            queueing.result()
    assert service.queue.list() == []
    assert [event.kind for event in service.store.events.after(0)] == ["project.created", "project.deleted"]


def test_a_project_that_is_removed_while_a_job_is_queued_waits_and_stays(service: Service) -> None:
    project = service.project("wheat")
    with ThreadPoolExecutor(1) as threads:
        with service.database.write() as conn:
            service.queue.add(conn, [Entry(new_id(), JobSpec("s", project=project))])
            removal = threads.submit(remove, service, project)
            with pytest.raises(StillWaiting):
                removal.result(_WHILE)
        with pytest.raises(Conflict, match="Work goes on"):
            removal.result()
    assert service.projects.get(project).id == project


def test_of_many_at_once_no_job_is_left_in_a_project_that_is_gone(service: Service) -> None:
    def race(number: int) -> None:
        project = service.project(f"wheat {number}")
        with ThreadPoolExecutor(2) as threads:
            removal = threads.submit(remove, service, project)
            queueing = threads.submit(service.queue.submit, JobSpec("s", project=project))
            lost = [type(error) for each in (removal, queueing) if (error := each.exception())]
        assert lost in ([Conflict], [NotFound])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(race, range(12)))
    there = {one.id for one in service.projects.list()}
    assert {job.project for job in service.queue.list(states=[State.WAITING])} == there


def test_a_job_is_not_run_again_in_a_project_that_is_gone(service: Service) -> None:
    project = service.project("wheat")
    job = service.queue.submit(JobSpec("s", project=project))
    service.queue.cancel(job.id)

    def removed_meanwhile(spec: JobSpec) -> JobSpec:
        remove(service, project)
        return spec

    with pytest.raises(NotFound, match="no such project"):
        service.reruns.rerun(job, removed_meanwhile)
    assert [(one.id, one.rerun_as) for one in service.queue.list()] == [(job.id, "")]
