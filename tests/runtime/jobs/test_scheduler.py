"""The scheduler on both databases with real processes: what is killed comes back, and nothing runs twice."""

import json
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from seedbed.base.clock import Instant
from seedbed.base.errors import Conflict
from seedbed.base.resources import Resources
from seedbed.runtime.executors.local import LocalExecutor
from seedbed.runtime.executors.protocol import AttemptSpec, Node
from seedbed.runtime.jobs.collector import OutOfPlace
from seedbed.runtime.jobs.lease import LeaseLost
from seedbed.runtime.jobs.policy import Decision, Running, Waiting
from seedbed.runtime.jobs.room import walk
from seedbed.runtime.jobs.spec import JobClass
from seedbed.runtime.jobs.states import State
from tests.runtime.jobs.conftest import Service

SLOW = {"to": 400, "pause": 0.02}


def test_a_job_runs_measures_and_publishes(service: Service) -> None:
    job = service.finish(service.submit(params={"to": 4}))
    assert job.state is State.DONE and job.reason == ""
    assert service.numbers(job) == (0, 1, 2, 3)
    assert [(m.step, m.value) for m in service.queue.metrics(job.id)] == [(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0)]
    assert [(m.step) for m in service.queue.metrics(job.id, ["n"], after=2)] == [3, 4]
    assert service.queue.metrics(job.id, ["other"]) == []
    assert (job.step_now, job.step_total, job.doing) == (4, 4, "counting")
    assert [(a.fence, a.outcome) for a in service.queue.attempts(job.id)] == [(1, "done")]
    kinds = [e.kind for e in service.store.events.after(0) if e.subject == job.id]
    assert kinds == ["job.submitted", "job.starting", "job.running", "job.done"]


def test_what_a_done_job_needs_no_more_is_removed_and_its_log_stays(service: Service) -> None:
    job = service.finish(service.submit("print('hello'); count()"))
    left = {path.name for path in service.folder(job).iterdir()}
    assert "log.txt" in left and not left & {"inputs", "resume", "checkpoints", "scratch", "outbox"}
    assert list((service.home / "jobs" / job.id / "checkpoint").iterdir()) == []
    assert service.executor.logs(service.attempt(job).handle).text == b"hello\n"


@pytest.mark.parametrize("who", ["worker", "supervisor"])
def test_a_killed_attempt_goes_on_from_its_last_admitted_checkpoint(service: Service, who: str) -> None:
    job = service.submit(params={**SLOW, "to": 40})
    service.until_step(job, 3)
    service.kill(job, who)
    job = service.finish(job)
    assert service.numbers(job) == tuple(range(40))
    first, second = service.queue.attempts(job.id)
    assert (first.outcome, second.outcome) == ("failed" if who == "worker" else "lost", "done")
    assert job.failures == 1
    lines = (service.folder(job, 2) / "metrics.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["step"] > 3  # it did not begin anew


def test_retries_end_at_the_limit_with_a_sentence(service: Service) -> None:
    job = service.finish(service.submit("os.kill(os.getpid(), 9)", retries=1))
    assert job.state is State.FAILED and job.reason.startswith("It was killed by signal 9.")
    assert "ran out of memory: make the work smaller" in job.reason
    assert [a.outcome for a in service.queue.attempts(job.id)] == ["failed", "failed"]
    assert "Will be tried again (1 try left)" in service.queue.attempts(job.id)[0].reason


def test_a_mistake_that_would_be_made_again_is_not_repeated(service: Service) -> None:
    told = {"message": "There is no column 'x'.", "hint": "Use 'y'.", "code": "invalid-input"}
    job = service.finish(service.submit(f"(here / 'error.json').write_text({json.dumps(told)!r}); sys.exit(1)"))
    assert job.state is State.FAILED and job.reason == "There is no column 'x'. Use 'y'."
    assert len(service.queue.attempts(job.id)) == 1


def test_a_memory_hog_fails_with_the_executors_sentence(service: Service) -> None:
    job = service.finish(service.submit("block = os.urandom(400 << 20); time.sleep(60)"))
    assert job.state is State.FAILED and "256 MiB that the job asked for" in job.reason
    assert job.reason.endswith(f"Give it more (seedbed jobs rerun {job.id} --memory 512M), or make the work smaller.")


def test_ending_well_without_results_is_a_failure(service: Service) -> None:
    job = service.finish(service.submit("pass", retries=0))
    assert job.state is State.FAILED
    assert "did not say that its results are complete" in job.reason


def test_a_server_that_was_killed_comes_back_and_takes_its_jobs_over(service: Service) -> None:
    job = service.submit(params={"to": 40, "pause": 0.02})
    service.until_step(job, 2)
    before = service.attempt(job)
    second = service.restart()
    done = second.finish(job)
    assert done.state is State.DONE and second.numbers(job) == tuple(range(40))
    assert [(a.fence, a.handle) for a in second.queue.attempts(job.id)] == [(1, before.handle)]


def test_a_job_that_ended_while_no_server_was_there_is_taken_in(service: Service) -> None:
    job = service.submit(params={"to": 5})
    service.until_state(job, State.RUNNING)
    while not (service.folder(job) / "exit.json").exists():
        time.sleep(0.01)
    second = service.restart()
    assert second.finish(job).state is State.DONE and second.numbers(job) == (0, 1, 2, 3, 4)


def take_a_place(service: Service) -> tuple[str, AttemptSpec]:
    """What a scheduler has done by the time it calls the executor, and then dies."""
    job = service.submit(params={"to": 3})
    assert service.lease.hold()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):

        def die(spec: AttemptSpec) -> None:
            specs.append(spec)
            raise KeyboardInterrupt

        specs: list[AttemptSpec] = []
        patch.setattr(service.executor, "start", die)
        service.scheduler.tick()
    assert service.queue.get(job.id).state is State.STARTING
    assert service.attempt(job).handle == {}
    return job.id, specs[0]


def test_a_scheduler_that_died_before_the_start_leaves_a_place_that_is_never_taken(service: Service) -> None:
    job_id, spec = take_a_place(service)
    second = service.restart()
    job = second.finish(second.queue.get(job_id))
    assert [(a.fence, a.outcome) for a in second.queue.attempts(job_id)] == [(1, "lost"), (2, "done")]
    assert job.failures == 0
    with pytest.raises(Exception, match="lost its place before it began"):
        service.executor.start(spec)  # the first one wakes up after all


def test_a_scheduler_that_died_after_the_start_leaves_a_job_that_is_found_again(service: Service) -> None:
    job_id, spec = take_a_place(service)
    service.executor.start(spec)
    second = service.restart()
    second.finish(second.queue.get(job_id))
    assert [(a.fence, a.outcome) for a in second.queue.attempts(job_id)] == [(1, "done")]
    assert second.numbers(second.queue.get(job_id)) == (0, 1, 2)


def test_nothing_of_an_attempt_that_lost_its_place_is_admitted(service: Service) -> None:
    """The old copy has metrics, a checkpoint and complete results lying ready; another attempt counts by now."""
    job = service.submit(params={"to": 3})
    service.until_state(job, State.RUNNING)
    old = service.attempt(job)
    while not (service.folder(job) / "exit.json").exists():
        time.sleep(0.01)
    with service.lease.write() as conn:  # declared lost, as on a cluster that starts second copies
        service.queue.transition(conn, job.id, State.WAITING)
        service.queue.transition(conn, job.id, State.STARTING, fence=1, next_fence=2)
    before = [bundle.uuid for bundle in service.store.find(all_versions=True)]
    metrics = service.queue.metrics(job.id)
    with (service.folder(job) / "metrics.jsonl").open("a") as file:
        file.write('{"at": 1, "step": 99, "values": {"n": 99}}\n')
    with pytest.raises(OutOfPlace, match=r"Attempt 1 of job .* has lost its place"):
        service.collector.take_metrics(old)
    with pytest.raises(OutOfPlace):
        service.collector.take_checkpoint(old, "")
    with pytest.raises(OutOfPlace):
        service.collector.take_results(old)
    assert service.queue.metrics(job.id) == metrics
    assert service.queue.get(job.id).checkpoint in ("", *(f"1-{n:09d}" for n in range(4)))
    assert [bundle.uuid for bundle in service.store.find(all_versions=True)] == before
    assert service.queue.get(job.id).outputs == {}


def test_nothing_is_admitted_for_a_cancelled_job(service: Service) -> None:
    job = service.submit(params={"to": 3})
    service.until_state(job, State.RUNNING)
    attempt = service.attempt(job)
    while not (service.folder(job) / "exit.json").exists():
        time.sleep(0.01)
    service.queue.cancel(job.id)
    assert service.finish(job).state is State.CANCELLED
    with pytest.raises(OutOfPlace):
        service.collector.take_metrics(attempt)
    assert service.queue.get(job.id).outputs == {} and service.store.find() == []


def test_a_scheduler_that_lost_its_lease_writes_nothing(service: Service) -> None:
    job = service.submit(params=SLOW)
    service.until_step(job, 1)
    second = service.restart()
    assert second.lease.hold() and not service.lease.hold()
    with pytest.raises(LeaseLost), service.lease.write() as conn:
        service.queue.transition(conn, job.id, State.FAILED)
    while service.collector.folders.newest_checkpoint(job.id, 1) is None:
        time.sleep(0.01)
    with pytest.raises(LeaseLost):
        service.collector.take_checkpoint(service.attempt(job), "")
    service.scheduler.tick()
    assert second.queue.get(job.id).state is State.RUNNING
    second.queue.cancel(job.id)
    second.finish(job)


def test_a_preempted_job_returns_to_the_head_and_finishes_what_it_began(service: Service) -> None:
    large = Resources(4.0, 256 << 20, 0)
    job = service.submit(params={"to": 40, "pause": 0.02}, resources=large)
    service.until_step(job, 2)
    behind = service.submit(params={"to": 1}, resources=large)
    te = service.submit(params={"to": 1}, resources=large, cls=JobClass.TE)
    service.until_state(te, State.RUNNING, State.DONE)
    waits = service.queue.get(job.id)
    assert (waits.state, waits.preemptions, waits.failures) == (State.WAITING, 1, 0)
    assert waits.position < service.queue.get(behind.id).position
    assert service.finish(te).state is State.DONE
    service.until_state(job, State.RUNNING)
    assert service.queue.get(behind.id).state is State.WAITING
    assert service.finish(job).state is State.DONE and service.numbers(job) == tuple(range(40))
    assert [a.outcome for a in service.queue.attempts(job.id)] == ["preempted", "done"]
    assert service.finish(behind).state is State.DONE


def test_a_job_that_was_stopped_for_now_keeps_what_it_did_and_goes_on_when_it_is_let(service: Service) -> None:
    job = service.submit(params={"to": 40, "pause": 0.02})
    service.until_step(job, 2)
    service.queue.pause(job.id, by="ada")
    service.until(lambda: service.queue.get(job.id).paused)
    kept = service.queue.get(job.id)
    assert (kept.reason, kept.failures, kept.preemptions) == ("Stopped by ada for now", 0, 0) and kept.checkpoint
    other = service.submit(params={"to": 1})
    assert service.finish(other).state is State.DONE  # there is room, and still it waits
    assert service.queue.get(job.id).paused
    with pytest.raises(Conflict, match="was not stopped"):
        service.queue.resume(other.id)
    service.queue.resume(job.id)
    assert service.finish(job).state is State.DONE and service.numbers(job) == tuple(range(40))
    assert [a.outcome for a in service.queue.attempts(job.id)] == ["preempted", "done"]


def test_a_job_that_is_let_go_on_while_it_is_still_stopping_goes_on(service: Service) -> None:
    job = service.submit(params={"to": 40, "pause": 0.02})
    service.until_step(job, 2)
    assert service.queue.pause(job.id, by="ada").pausing
    let = service.queue.resume(job.id)
    assert let.state is State.STOPPING and not let.pausing
    with pytest.raises(Conflict, match="was not stopped"):
        service.queue.resume(job.id)
    done = service.finish(job)
    assert (done.state, done.failures, done.preemptions) == (State.DONE, 0, 0)
    assert service.numbers(job) == tuple(range(40))
    assert [a.outcome for a in service.queue.attempts(job.id)] == ["preempted", "done"]


def test_a_job_that_has_not_begun_can_be_stopped_for_now_and_cancelled(service: Service) -> None:
    job = service.submit(params={"to": 1})
    assert service.queue.pause(job.id).paused and service.queue.pause(job.id).paused
    other = service.submit(params={"to": 1})
    service.finish(other)
    assert service.queue.attempts(job.id) == []
    assert service.queue.cancel(job.id).state is State.CANCELLED
    with pytest.raises(Conflict, match="has ended"):
        service.queue.pause(job.id)


def test_a_worker_that_ignores_the_wish_to_stop_is_killed_and_still_only_preempted(service: Service) -> None:
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); count()"
    large = Resources(4.0, 256 << 20, 0)
    job = service.submit(deaf, params=SLOW, resources=large, grace=0.2)
    service.until_step(job, 2)
    te = service.submit(params={"to": 1}, resources=large, cls=JobClass.TE)
    service.until_state(te, State.RUNNING, State.DONE)
    assert service.queue.get(job.id).preemptions == 1
    service.queue.cancel(job.id)
    service.finish(te)


@pytest.mark.parametrize("when", ["waiting", "running"])
def test_a_job_can_be_cancelled_at_any_time_and_leaves_no_process(service: Service, when: str) -> None:
    job = service.submit(params=SLOW)
    if when == "running":
        service.until_step(job, 1)
    service.queue.cancel(job.id, by="ann")
    job = service.finish(job)
    assert (job.state, job.reason) == (State.CANCELLED, "Cancelled by ann")
    assert service.alive(job) == []
    assert service.queue.cancel(job.id).state is State.CANCELLED
    assert list((service.home / "jobs" / job.id).glob("checkpoint/*")) == []


def test_a_job_that_has_ended_cannot_be_cancelled(service: Service) -> None:
    job = service.finish(service.submit(params={"to": 1}))
    with pytest.raises(Conflict, match="has ended"):
        service.queue.cancel(job.id)


def test_a_job_that_runs_too_long_is_stopped(service: Service) -> None:
    job = service.finish(service.submit(params=SLOW, timeout=0.5))
    told = f"It ran longer than its limit of 0.5 s. Give it longer (seedbed jobs rerun {job.id} --timeout 1), or make"
    assert job.state is State.FAILED and job.reason.startswith(told)
    assert service.alive(job) == []


def test_jobs_wait_for_what_they_need_and_say_so(service: Service) -> None:
    first = service.submit(params={"to": 10, "pause": 0.02})
    second = service.submit(
        "assert (here / 'inputs/x/bundle.json').exists(); count()", inputs={"x": f"job:{first.id}/result"}
    )
    third = service.submit(after=(second.id,))
    service.until_state(first, State.RUNNING)
    service.scheduler.tick()
    assert service.queue.get(second.id).reason == f"Waiting for job '{first.name}' to finish"
    assert service.queue.get(third.id).reason == f"Waiting for job '{second.name}' to finish"
    assert service.finish(third).state is State.DONE
    order = [service.queue.get(job.id).ended for job in (first, second, third)]
    assert order == sorted(order)


@pytest.mark.parametrize(("how", "state"), [("failed", State.FAILED), ("cancelled", State.CANCELLED)])
def test_jobs_end_with_a_sentence_when_what_they_need_ends_badly(service: Service, how: str, state: State) -> None:
    first = service.submit("sys.exit(1)", retries=0)
    second = service.submit(after=(first.id,))
    third = service.submit(after=(second.id,))
    if how == "cancelled":
        service.queue.cancel(first.id)
    last = service.finish(third)
    assert last.state is state
    assert service.queue.get(second.id).reason.startswith(f"Job '{first.name}', which it needs, ")


@pytest.mark.parametrize("how", ["failed", "cancelled", "done"])
def test_a_job_runs_without_an_input_that_it_can_do_without_when_nobody_made_it(service: Service, how: str) -> None:
    first = service.submit("sys.exit(1)" if how == "failed" else "count()", retries=0, params={"to": 2})
    there = "assert (here / 'inputs/x').exists() == params['there']; count()"
    inputs = {"x": f"job:{first.id}/result"}
    second = service.submit(there, inputs=inputs, spare=("x",), params={"to": 1, "there": how == "done"})
    if how == "cancelled":
        service.queue.cancel(first.id)
    assert service.finish(second).state is State.DONE
    assert service.queue.get(first.id).state.value == how


def test_an_output_that_was_not_made_is_told(service: Service) -> None:
    first = service.submit(params={"to": 1})
    second = service.finish(service.submit(inputs={"x": f"job:{first.id}/model"}))
    assert second.state is State.FAILED
    assert f"input 'x': job {first.id} made no 'model'; it made result." in second.reason


def test_an_unchanged_step_is_answered_without_running(service: Service) -> None:
    first = service.finish(service.submit(params={"to": 2, "key": "k"}))
    again = service.finish(service.submit(params={"to": 2, "key": "k"}))
    assert again.outputs == first.outputs and again.reason.startswith("Answered from the store")
    assert not (service.folder(again) / "log.txt").exists()
    ran = service.finish(service.submit(params={"to": 2, "key": "k"}, again=True))
    assert (service.folder(ran) / "log.txt").exists()
    assert ran.outputs == first.outputs  # the first published result keeps the key


def test_waiting_jobs_say_why(service: Service) -> None:
    running = service.submit(params=SLOW, resources=Resources(3.0, 256 << 20, 0))
    service.until_state(running, State.RUNNING)
    head = service.submit(resources=Resources(2.0, 256 << 20, 0))
    behind = service.submit()
    never = service.submit(resources=Resources(1.0, 1 << 20, 2))
    service.scheduler.tick()
    reasons = [service.queue.get(job.id).reason for job in (head, behind, never)]
    assert reasons == ["Needs 2 cpus, 1 is free", "Behind 1 job", "Needs 2 gpus, no machine here has them"]
    for job in (running, head, behind, never):
        service.queue.cancel(job.id)
    service.finish(running)


def test_a_failed_attempt_keeps_its_inputs_and_rerun_repeats_it(service: Service) -> None:
    source = service.finish(service.submit(params={"to": 2}))
    code = "seen = json.loads((here / 'inputs/x/bundle.json').read_text()); sys.exit(1) if not params.get('ok') else 0"
    job = service.finish(service.submit(code, inputs={"x": f"job:{source.id}/result"}, retries=0))
    assert job.state is State.FAILED
    assert (service.folder(job) / "inputs" / "x" / "bundle.json").exists()
    (again,) = service.reruns.rerun(job, lambda spec: replace(spec, owner="ben"))
    assert again.spec.inputs == {"x": source.outputs["result"]}
    assert (again.owner, again.spec.params, again.state) == ("ben", job.spec.params, State.WAITING)
    assert service.finish(again).state is State.FAILED


def test_rerunning_a_done_job_really_runs_it(service: Service) -> None:
    job = service.finish(service.submit(params={"to": 2, "key": "k"}))
    again = service.finish(service.reruns.rerun(job, lambda spec: spec, again=True)[0])
    assert again.id != job.id and (service.folder(again) / "log.txt").exists()


def test_a_launcher_that_breaks_is_told_and_does_not_go_on_for_ever(service: Service) -> None:
    job = service.submit(inputs={"x": "00000000-0000-7000-8000-000000000000"})
    assert "There is no bundle" in service.finish(job).reason
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service.launcher, "prepare", lambda job, fence, folder: 1 / 0)
        broken = service.finish(service.submit(retries=1))
    assert broken.state is State.FAILED and "ZeroDivisionError" in broken.reason
    assert len(service.queue.attempts(broken.id)) == 2


def test_two_jobs_at_once_never_share_more_than_there_is(service: Service) -> None:
    jobs = [service.submit(params={"to": 8, "pause": 0.02}, resources=Resources(2.0, 64 << 20, 0)) for _ in range(5)]
    most = 0

    def all_done() -> bool:
        nonlocal most
        most = max(most, len(service.queue.active()))
        return all(service.queue.get(job.id).state is State.DONE for job in jobs)

    service.until(all_done)
    assert most == 2


@dataclass(frozen=True)
class ShortestFirst:
    """One job at a time, the one that is said to take least."""

    preemption_limit: int = 0

    def decide(
        self, now: Instant, queue: Sequence[Waiting], running: Sequence[Running], nodes: Sequence[Node]
    ) -> Decision:
        if running:
            return Decision(reasons={job.id: "One at a time" for job in queue})
        return walk(sorted(queue, key=lambda job: job.estimates["seconds"])[:1], running, nodes)


def test_a_policy_reads_the_estimates_of_the_jobs_that_wait(service: Service) -> None:
    service.scheduler.policy = ShortestFirst()
    long, short, middle = (service.submit(estimates={"seconds": seconds}) for seconds in (30.0, 1.0, 8.5))
    for job in (long, short, middle):
        service.finish(job)
    ended = {job.id: service.queue.get(job.id).ended for job in (long, short, middle)}
    assert sorted(ended, key=lambda job: ended[job]) == [short.id, middle.id, long.id]


def test_what_a_worker_writes_wrongly_is_passed_over(service: Service) -> None:
    rubbish = [
        "no json",
        "[1]",
        '{"values": {"n": 1}}',
        '{"at": 1, "step": 1, "values": {"a\\u0000b": 1, "bad": NaN, "worse": "x"}}',
        '{"at": 1, "step": 99999999999999, "total": 5, "doing": "x\\u0000y", "values": {"ok": 2}}',
        '{"at": 1, "step": 2, "values": {"ok": Infinity}}',
        "{" * 100,
    ]
    code = f"(here / 'metrics.jsonl').write_text({chr(10).join(rubbish)!r} + chr(10) + 'half a line'); give(result=[1])"
    job = service.finish(service.submit(code))
    assert job.state is State.DONE and job.doing == "xy"
    assert [(m.name, m.value) for m in service.queue.metrics(job.id)] == [("ok", 2.0)]


def test_jobs_at_once_get_gpus_of_their_own(service: Service) -> None:
    service.executor = service.scheduler.executor = LocalExecutor(cpus=4, memory=4 << 30, gpus=3)
    sizes = (2, 1, 1)
    jobs = [service.submit(params=SLOW, resources=Resources(1.0, 64 << 20, gpus)) for gpus in sizes]
    service.until_state(jobs[1], State.RUNNING)
    given = [service.attempt(job).gpu_ids for job in jobs[:2]]
    assert given == [(0, 1), (2,)]
    assert service.queue.get(jobs[2].id).state is State.WAITING
    service.queue.cancel(jobs[0].id)
    service.until_state(jobs[2], State.RUNNING)
    assert service.attempt(jobs[2]).gpu_ids == (0,)
    for job in jobs[1:]:
        service.queue.cancel(job.id)
        service.finish(job)


def test_an_attempt_that_the_machine_stopped_goes_on_without_a_failure(service: Service) -> None:
    job = service.submit(params={"to": 40, "pause": 0.02})
    service.until_step(job, 2)
    os.kill(service.attempt(job).handle["supervisor"]["pid"], signal.SIGTERM)
    done = service.finish(job)
    assert (done.state, done.failures, done.preemptions) == (State.DONE, 0, 0)
    assert [a.reason for a in service.queue.attempts(job.id)] == ["The machine asked it to stop", ""]
    assert service.numbers(job) == tuple(range(40))


def test_a_job_that_failed_for_good_keeps_its_inputs_and_its_last_checkpoint(service: Service) -> None:
    given = service.finish(service.submit())
    code = "count_and_fail()\n"
    prelude = """
def count_and_fail():
    run.checkpoint(lambda folder: (folder / "seen").write_text("[]"), step=1)
    time.sleep(0.5)
    sys.exit(1)
"""
    reference = f"job:{given.id}/result"
    failed = service.finish(service.submit(prelude + code, retries=1, inputs={"numbers": reference}))
    assert (failed.state, failed.failures) == (State.FAILED, 2)
    home = service.home / "jobs" / failed.id
    assert [path.name for path in home.glob("checkpoint/*")] == [failed.checkpoint] == ["2-000000001"]
    assert list(home.glob("*/resume")) == []
    assert len(list(home.glob("*/inputs/numbers/bundle.json"))) == 2
