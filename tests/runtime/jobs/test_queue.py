"""The queue on both databases: what was acknowledged is there, in its order, and every mistake is told at once."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from seedbed.assets.db.tables import metrics
from seedbed.base.errors import Conflict, InvalidInput, NotFound
from seedbed.base.ids import new_id
from seedbed.base.resources import Resources
from seedbed.runtime.jobs.queue import JUST_SUBMITTED
from seedbed.runtime.jobs.spec import JobClass, JobSpec, output_of_job
from seedbed.runtime.jobs.states import TRANSITIONS, State
from tests.runtime.jobs.conftest import Service


def test_a_job_is_what_was_submitted(service: Service) -> None:
    project = service.project("p")
    spec = JobSpec(
        "train",
        {"epochs": 3, "nested": {"a": [1, 2.5, None]}},
        {"data": new_id()},
        JobClass.TE,
        Resources(2.0, 5 << 30, 1),
        grace=5.0,
        retries=4,
        owner="ann",
        project=project,
        name="mine",
        seed=7,
        again=True,
        timeout=60.0,
    )
    job = service.queue.submit(spec, flow="f")
    assert job.spec == spec and service.queue.get(job.id) == job
    assert (job.name, job.step, job.owner, job.flow, job.cls) == ("mine", "train", "ann", "f", "te")
    assert job.project == project
    assert (job.state, job.fence, job.reason, job.outputs) == (State.WAITING, 0, JUST_SUBMITTED, {})


def test_jobs_stand_in_the_order_of_their_submission_and_the_head_is_before_all(service: Service) -> None:
    names = [service.queue.submit(JobSpec("s")).id for _ in range(5)]
    assert [waiter.id for waiter in service.queue.waiting()] == names
    assert [job.id for job in service.queue.list()] == names[::-1]
    assert [job.id for job in service.queue.list(order="queue", limit=2, offset=1)] == names[1:3]
    with service.database.write() as conn:
        assert service.queue.head(conn) < min(waiter.position for waiter in service.queue.waiting())


def test_jobs_are_found_by_what_they_are(service: Service) -> None:
    project = service.project("p")
    one = service.queue.submit(JobSpec("a", project=project, owner="ann"), flow="f")
    two = service.queue.submit(JobSpec("b", project=service.project("q")))
    service.queue.cancel(two.id)
    for found in (
        service.queue.list(states=[State.WAITING]),
        service.queue.list(project=project),
        service.queue.list(project=[project, "x"]),
        service.queue.list(flow="f"),
        service.queue.list(step="a"),
        service.queue.list(owner="ann"),
    ):
        assert [job.id for job in found] == [one.id]
    assert service.queue.list(project=[]) == []
    with service.database.write() as conn:
        assert service.queue.open_in(conn, project, limit=2) == [one]
        assert service.queue.open_in(conn, two.project, limit=2) == []
    assert service.queue.counts()[State.CANCELLED] == 1 and service.queue.counts()[State.DONE] == 0


def test_the_beginning_of_an_id_is_enough_if_it_is_one_jobs(service: Service) -> None:
    one = service.queue.submit(JobSpec("a"), id="aaaaaaaa-0000-7000-8000-000000000001")
    service.queue.submit(JobSpec("a"), id="aaaaaaaa-0000-7000-8000-000000000002")
    three = service.queue.submit(JobSpec("a"), id="bbbbbbbb-0000-7000-8000-000000000001")
    assert service.queue.get("bbbbbb").id == three.id
    assert service.queue.get(one.id).id == one.id
    with pytest.raises(Conflict, match="Several jobs begin with"):
        service.queue.get("aaaaaaaa")
    for unknown in ("", "bbb", "cccccccc"):
        with pytest.raises(NotFound, match="There is no job"):
            service.queue.get(unknown)


def test_jobs_that_measured_something_twice_have_curves(service: Service) -> None:
    _, once, apart, twice = (service.queue.submit(JobSpec("s")) for _ in range(4))
    measured = {once.id: [("loss", 1)], apart.id: [("loss", 1), ("f1", 2)], twice.id: [("loss", 1), ("loss", 2)]}
    rows = [
        {"job": job, "name": name, "step": step, "value": 0.5, "at": 0.0, "fence": 1}
        for job, points in measured.items()
        for name, step in points
    ]
    with service.database.write() as conn:
        conn.execute(insert(metrics), rows)
    assert [job.id for job in service.queue.list(curves=True)] == [twice.id]
    assert service.queue.list(curves=True, states=[State.DONE]) == []


def test_an_id_that_is_sent_twice_counts_once(service: Service) -> None:
    name = new_id()
    first = service.queue.submit(JobSpec("a"), id=name)
    assert service.queue.submit(JobSpec("a"), id=name) == first
    assert len(service.queue.list()) == 1


def test_a_flow_is_submitted_whole_or_not_at_all(service: Service) -> None:
    one, two = new_id(), new_id()
    made = service.queue.submit_many({one: JobSpec("a"), two: JobSpec("b", inputs={"x": f"job:{one}/out"})}, flow="f")
    assert [job.id for job in made] == [one, two]
    with pytest.raises(InvalidInput, match="needs job"):
        service.queue.submit_many({new_id(): JobSpec("a"), new_id(): JobSpec("b", after=(new_id(),))})
    with pytest.raises(InvalidInput):  # a job cannot need one that comes after it: no circles
        first, second = new_id(), new_id()
        service.queue.submit_many({first: JobSpec("a", after=(second,)), second: JobSpec("b", after=(first,))})
    assert len(service.queue.list()) == 2


def test_everything_wrong_with_a_job_is_told_at_once(service: Service) -> None:
    spec = JobSpec("", inputs={"x": "job:abc"}, resources=Resources(-1.0, -5, 0), grace=-1.0, timeout=float("nan"))
    with pytest.raises(InvalidInput) as caught:
        service.queue.submit(spec)
    assert len(caught.value.problems) == 6
    assert service.queue.list() == []


def test_references_to_outputs_of_jobs_are_read() -> None:
    assert output_of_job("job:abc/model") == ("abc", "model")
    assert output_of_job(new_id()) is None
    spec = JobSpec("s", inputs={"a": "job:1/x", "b": "job:1/y", "c": new_id()}, after=("2", "1"))
    assert spec.dependencies == spec.needed == ("1", "2")
    spared = replace(spec, spare=("a", "b"), after=("2",), estimates={"seconds": 40.0})
    assert (spared.dependencies, spared.needed) == (("1", "2"), ("2",))
    assert all(JobSpec.from_json(json.loads(json.dumps(one.to_json()))) == one for one in (spec, spared))
    assert JobSpec.from_json({"step": "s"}) == JobSpec("s")
    with pytest.raises(InvalidInput) as refused:
        replace(spec, estimates={"seconds": float("nan")}).check()
    assert refused.value.problems == ("estimates.seconds is nan; it must be a number of at least 0.",)


def test_a_transition_tells_the_feed_and_a_wrong_one_changes_nothing(service: Service) -> None:
    job = service.queue.submit(JobSpec("s"))
    with service.database.write() as conn:
        service.queue.transition(conn, job.id, State.STARTING, next_fence=1)
    with pytest.raises(Conflict, match="starting cannot become starting"), service.database.write() as conn:
        service.queue.transition(conn, job.id, State.STARTING)
    with pytest.raises(Conflict, match=r"Attempt 0 of job .* has lost its place"), service.database.write() as conn:
        service.queue.transition(conn, job.id, State.RUNNING, fence=0)
    assert service.queue.get(job.id).state is State.STARTING
    assert [event.kind for event in service.store.events.after(0)] == ["job.submitted", "job.starting"]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wishes=st.lists(st.sampled_from(State), max_size=12))
def test_a_job_in_the_database_walks_the_table_of_states(service: Service, wishes: list[State]) -> None:
    job = service.queue.submit(JobSpec("s"))
    state = State.WAITING
    for wish in wishes:
        try:
            with service.database.write() as conn:
                service.queue.transition(conn, job.id, wish)
        except Conflict:
            assert wish not in TRANSITIONS[state]
        else:
            assert wish in TRANSITIONS[state]
            state = wish
        assert service.queue.get(job.id).state is state
    assert bool(service.queue.get(job.id).ended) == state.ended


def test_a_cancelled_waiting_job_is_never_started(service: Service) -> None:
    job = service.submit()
    assert service.queue.cancel(job.id).state is State.CANCELLED
    service.scheduler.tick()
    assert service.queue.attempts(job.id) == []


def test_what_a_stopping_job_was_asked_already_changes_nothing_and_is_not_told_again(service: Service) -> None:
    job = service.queue.submit(JobSpec("s"))
    with service.database.write() as conn:
        service.queue.transition(conn, job.id, State.STARTING, next_fence=1)
        service.queue.transition(conn, job.id, State.RUNNING)
    told: list[str] = []
    for ask, by in ((service.queue.pause, "ada"), (service.queue.pause, "bo"), (service.queue.cancel, "ada")):
        ask(job.id, by=by, along=lambda conn, by=by: told.append(by))
    ends = service.queue.cancel(job.id, by="bo", along=lambda conn: told.append("bo"))
    assert told == ["ada", "ada"]  # who stopped it, and who then cancelled it
    assert ends.state is State.STOPPING and ends.reason == "Cancelled by ada"
