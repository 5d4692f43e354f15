"""Running jobs again, on both databases: those that fell with a job come back with it, once, and nobody else does."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.base.errors import Conflict, Forbidden
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec, Limits
from seedbed.runtime.jobs.states import State
from tests.runtime.jobs.conftest import SMALL, Service

# fails until somebody mends what it lacks
UNTIL_MENDED = "count() if pathlib.Path(params['mended']).exists() else sys.exit(1)"
TAKES = "assert (here / 'inputs/x/bundle.json').exists(); count()"


def passes(spec: JobSpec) -> JobSpec:
    return spec


def breaks(service: Service, name: str = "first", **more: Any) -> Job:
    """A job that fails until `mend` was called."""
    params = {"mended": str(service.home / f"mended-{name}"), "to": 2}
    return service.submit(UNTIL_MENDED, name=name, params=params, retries=0, **more)


def mend(service: Service, name: str = "first") -> None:
    (service.home / f"mended-{name}").touch()


def needs(service: Service, name: str, *jobs: Job, **more: Any) -> Job:
    """A job that takes the result of the first and waits for the others."""
    inputs = {"x": f"job:{jobs[0].id}/result"}
    after = tuple(job.id for job in jobs[1:])
    return service.submit(TAKES, name=name, inputs=inputs, after=after, params={"to": 1}, **more)


def finish_all(service: Service, jobs: Sequence[Job]) -> list[Job]:
    return [service.finish(job) for job in jobs]


def rerun(service: Service, job: Job) -> list[Job]:
    return service.reruns.rerun(service.queue.get(job.id), passes)


def names(jobs: Sequence[Job]) -> list[str]:
    return [job.name for job in jobs]


def states(service: Service) -> dict[str, list[State]]:
    """Of every name the states of its jobs, in the order of their submission."""
    found: dict[str, list[State]] = {}
    for job in sorted(service.queue.list(limit=1000), key=lambda job: job.position):
        found.setdefault(job.name, []).append(job.state)
    return found


@pytest.mark.parametrize("how", ["failed", "cancelled"])
def test_a_chain_of_three_comes_back_with_its_first(service: Service, how: str) -> None:
    first = breaks(service)
    second = needs(service, "second", first, owner="ben", retries=1)
    third = needs(service, "third", second)
    if how == "cancelled":
        service.queue.cancel(first.id)
    old = finish_all(service, [first, second, third])
    assert [(job.state.value, job.fell_with) for job in old] == [(how, ""), (how, first.id), (how, second.id)]
    mend(service)
    new = rerun(service, first)
    assert names(new) == ["first", "second", "third"]
    assert new[1].spec.inputs == {"x": f"job:{new[0].id}/result"} and new[2].spec.dependencies == (new[1].id,)
    assert (new[1].owner, new[1].spec.retries) == ("ben", 1)
    assert [service.queue.get(job.id).rerun_as for job in old] == [job.id for job in new]
    assert [job.state for job in finish_all(service, new)] == [State.DONE] * 3
    assert [service.queue.get(job.id).state.value for job in old] == [how] * 3  # what has ended stays ended


def test_a_diamond_comes_back_whole_and_in_order(service: Service) -> None:
    top = breaks(service)
    left, right = needs(service, "left", top), needs(service, "right", top)
    bottom = needs(service, "bottom", left, right)
    finish_all(service, [top, left, right, bottom])
    mend(service)
    new = {job.name: job for job in rerun(service, top)}
    assert sorted(new) == ["bottom", "first", "left", "right"]
    assert new["bottom"].spec.dependencies == (new["left"].id, new["right"].id)
    assert [job.state for job in finish_all(service, list(new.values()))] == [State.DONE] * 4
    ended = {name: service.queue.get(job.id).ended for name, job in new.items()}
    assert ended["first"] <= min(ended["left"], ended["right"]) <= max(ended["left"], ended["right"]) <= ended["bottom"]


def test_who_was_cancelled_by_a_person_or_ran_already_does_not_come_back(service: Service) -> None:
    first = breaks(service)
    unwanted, wanted = needs(service, "unwanted", first), needs(service, "wanted", first)
    without = service.submit(
        "count()", name="without", inputs={"x": f"job:{first.id}/result"}, spare=("x",), params={"to": 1}
    )
    behind = needs(service, "behind", unwanted)
    service.queue.cancel(unwanted.id, by="ada")
    finish_all(service, [first, unwanted, wanted, without, behind])
    assert service.queue.get(without.id).state is State.DONE
    mend(service)
    new = rerun(service, first)
    assert names(new) == ["first", "wanted"]
    (unwanted_again, behind_again) = rerun(service, unwanted)  # behind fell with the one that a person cancelled
    assert unwanted_again.spec.dependencies == (new[0].id,) and behind_again.name == "behind"
    finish_all(service, [*new, unwanted_again, behind_again])
    assert states(service)["behind"] == [State.CANCELLED, State.DONE]


def test_a_job_that_needs_two_that_failed_comes_back_with_the_later_one(service: Service) -> None:
    one, two = breaks(service, "one"), breaks(service, "two")
    both = needs(service, "both", one, two)
    finish_all(service, [one, two, both])
    mend(service, "one")
    (one_again,) = rerun(service, one)
    assert service.finish(one_again).state is State.DONE
    mend(service, "two")
    two_again, both_again = rerun(service, two)
    assert both_again.spec.inputs == {"x": service.queue.get(one_again.id).outputs["result"]}
    assert both_again.spec.after == (two_again.id,)
    assert service.finish(both_again).state is State.DONE


def test_a_job_whose_rerun_failed_too_is_run_again_by_its_old_name_or_its_new_one(service: Service) -> None:
    first = breaks(service)
    second = needs(service, "second", first)
    finish_all(service, [first, second])
    once = rerun(service, first)
    finish_all(service, once)
    mend(service)
    twice = rerun(service, first)  # the old one; the newest of its line is what is repeated
    assert names(twice) == ["first", "second"]
    assert service.queue.get(once[0].id).rerun_as == twice[0].id
    finish_all(service, twice)
    assert states(service)["first"] == states(service)["second"] == [State.FAILED, State.FAILED, State.DONE]


def test_running_what_would_only_fall_again_is_refused_and_says_what_to_run(service: Service) -> None:
    first = breaks(service)
    second = needs(service, "second", first)
    finish_all(service, [first, second])
    with pytest.raises(Conflict, match="needs job 'first', which failed") as refused:
        rerun(service, second)
    assert first.id in refused.value.hint
    mend(service)
    new = rerun(service, first)
    assert rerun(service, second) == [new[1]]  # it came back already


def test_a_follower_that_may_not_be_queued_stays_with_those_that_need_it(service: Service) -> None:
    first = breaks(service)
    project = service.project("theirs")
    other = needs(service, "other", first, project=project)
    finish_all(service, [first, other, needs(service, "behind", other), needs(service, "mine", first)])

    def not_theirs(spec: JobSpec) -> JobSpec:
        if spec.project == project:
            raise Forbidden("Not yours.")
        return spec

    mend(service)
    mine = service.reruns.rerun(service.queue.get(first.id), not_theirs)
    assert names(mine) == ["first", "mine"]
    finish_all(service, mine)
    theirs = rerun(service, other)  # who may runs it later, on what the first one has made by now
    assert names(theirs) == ["other", "behind"]
    assert theirs[0].spec.inputs == {"x": service.queue.get(mine[0].id).outputs["result"]}


def test_a_follower_that_asks_for_what_was_never_made_keeps_nobody_back(service: Service) -> None:
    made = service.finish(service.submit(params={"to": 1}))
    first = breaks(service)
    inputs = {"x": f"job:{made.id}/nothing"}
    wrong = service.submit(TAKES, name="wrong", inputs=inputs, after=(first.id,))
    finish_all(service, [first, wrong, needs(service, "right", first)])
    mend(service)
    assert names(rerun(service, first)) == ["first", "right"]


def test_who_waits_for_a_job_that_failed_when_the_server_was_killed_is_not_forgotten(service: Service) -> None:
    """The server dies after the failure was written down and before anybody looked at those that wait."""
    first = breaks(service)
    second = needs(service, "second", first)
    third = needs(service, "third", second)
    service.until_state(first, State.RUNNING)
    for _ in range(500):
        for job, attempt in service.queue.active():
            service.scheduler._follow(job, attempt)
        if service.queue.get(first.id).state is State.FAILED:
            break
    else:
        service.until_state(first, State.FAILED)
    assert service.queue.get(second.id).state is State.WAITING
    mend(service)
    new = rerun(service, first)
    assert names(new) == ["first", "second", "third"]
    back = service.restart()
    assert [job.state for job in finish_all(back, new)] == [State.DONE] * 3
    old = [service.queue.get(job.id) for job in (first, second, third)]
    assert [(job.state, job.fell_with) for job in old[1:]] == [(State.FAILED, first.id), (State.FAILED, second.id)]


RERUNNER = """
import os, signal, sys, pathlib
from tests.runtime.jobs.conftest import Service
service = Service(sys.argv[1], pathlib.Path(sys.argv[2]))
moment, done = sys.argv[4], []
def lethal(whole):
    def around(*args, **more):
        if moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        whole(*args, **more)
        os.kill(os.getpid(), signal.SIGKILL)  # everything is written, nothing is committed
    return around
if moment != "after":
    service.queue.add = lethal(service.queue.add)
service.reruns.rerun(service.queue.get(sys.argv[3]), lambda spec: spec)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("moment", "back"), [("before", 0), ("within", 0), ("after", 3)])
def test_a_rerun_that_is_killed_has_brought_back_all_or_nothing(service: Service, moment: str, back: int) -> None:
    first = breaks(service)
    third = needs(service, "third", needs(service, "second", first))
    service.finish(third)
    mend(service)
    command = [sys.executable, "-c", RERUNNER, service.url, str(service.home), first.id, moment]
    assert subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == -signal.SIGKILL
    assert len(service.queue.list(states=[State.WAITING])) == back
    assert bool(service.queue.get(third.id).rerun_as) == bool(back)
    new = rerun(service, first)  # asked once more
    waiting = sorted(service.queue.list(states=[State.WAITING]), key=lambda job: job.position)
    assert names(waiting) == ["first", "second", "third"] and waiting[0] == new[0]
    assert [job.state for job in finish_all(service, waiting)] == [State.DONE] * 3


def test_the_server_killed_while_they_come_back_loses_none_and_runs_none_twice(service: Service) -> None:
    first = breaks(service)
    second = needs(service, "second", first)
    finish_all(service, [first, second])
    mend(service)
    new = rerun(service, first)
    service.until_state(new[0], State.RUNNING)
    os.kill(json.loads((service.folder(new[0]) / "supervisor.json").read_text())["supervisor"]["pid"], signal.SIGKILL)
    back = service.restart()
    new_second = back.finish(new[1])
    if new_second.state is not State.DONE:  # the first had no retries left: running it again brings the second back
        new = rerun(back, first)
        finish_all(back, new)
    assert states(back)["first"][-1] is State.DONE and states(back)["second"][-1] is State.DONE
    assert states(back)["second"].count(State.DONE) == 1


def test_two_people_who_run_a_job_again_at_once_bring_everything_back_once(service: Service) -> None:
    first = breaks(service)
    left, right = needs(service, "left", first), needs(service, "right", first)
    finish_all(service, [first, left, right, needs(service, "bottom", left, right)])
    mend(service)
    people = [service.restart() for _ in range(4)]
    together = threading.Barrier(len(people))
    answers: list[list[Job]] = []

    def ask(person: Service) -> None:
        old = person.queue.get(first.id)
        together.wait()
        answers.append(person.reruns.rerun(old, passes))

    threads = [threading.Thread(target=ask, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == len(people) and {jobs[0].id for jobs in answers} == {answers[0][0].id}
    waiting = service.queue.list(states=[State.WAITING])
    assert sorted(names(waiting)) == ["bottom", "first", "left", "right"]
    last = service.restart()
    assert [job.state for job in finish_all(last, waiting)] == [State.DONE] * 4


def test_the_scheduler_and_a_rerun_that_meet_let_each_job_fall_once(service: Service) -> None:
    """Whoever comes first lets them fall; either way they come back."""
    for turn in range(6):
        name = f"first-{turn}"
        first = breaks(service, name)
        second = needs(service, f"second-{turn}", first)
        service.queue.cancel(first.id)
        mend(service, name)
        with_scheduler = threading.Thread(target=service.scheduler.tick)
        with_scheduler.start()
        new = rerun(service, first)
        with_scheduler.join()
        assert names(new) == [name, f"second-{turn}"]
        assert service.queue.get(second.id).fell_with == first.id
        fell = [event for event in service.store.events.after(0, 10_000) if event.subject == second.id]
        assert [event.kind for event in fell] == ["job.submitted", "job.cancelled"]


def test_a_failed_job_goes_on_from_its_checkpoint_when_two_ask_and_no_copy_is_left(service: Service) -> None:
    code = "params['to'] = 3 if run.resume else 2; count(); sys.exit(0 if run.resume else 1)"
    job = service.finish(service.submit(code, retries=0))
    assert job.state is State.FAILED and job.checkpoint

    def meanwhile(spec: JobSpec) -> JobSpec:
        """The first time it is asked, somebody else is quicker."""
        if not others:
            others.append(Path())
            others.append(service.reruns.rerun(job, passes)[0])
        return replace(spec, owner="late")

    others: list[Any] = []
    (late,) = service.reruns.rerun(job, meanwhile)
    assert late == others[1] and late.owner == ""
    kept = [path for path in service.folders.root.glob("*/checkpoint/*") if job.id not in str(path)]
    assert [path.parent.parent.name for path in kept] == [late.id]
    assert service.finish(late).state is State.DONE and service.numbers(late) == (0, 1, 2)


HUNGRY = """
block = os.urandom(300 << 20)
while not os.path.exists(params["let"]):  # holds it until that is seen, however late
    time.sleep(0.02)
count()
"""
MORE_MEMORY = Limits(memory=512 << 20)


def test_a_job_that_ran_out_of_memory_is_given_more_and_who_comes_back_with_it_keeps_its_own(
    service: Service, tmp_path: Path
) -> None:
    let = tmp_path / "let"
    first = service.submit(HUNGRY, name="first", params={"to": 1, "let": str(let)})
    second = needs(service, "second", first, timeout=60.0)
    assert [job.state for job in finish_all(service, [first, second])] == [State.FAILED] * 2
    let.touch()
    new = service.reruns.rerun(first, passes, limits=MORE_MEMORY)
    assert [job.spec.resources for job in new] == [replace(SMALL, memory=512 << 20), SMALL]
    assert [job.spec.timeout for job in new] == [0.0, 60.0]
    assert [job.state for job in finish_all(service, new)] == [State.DONE] * 2


def test_a_job_that_took_too_long_goes_on_with_more_time_and_keeps_it(service: Service) -> None:
    job = service.finish(service.submit(params={"to": 40, "pause": 0.05}, timeout=1.0, retries=0))
    assert job.state is State.FAILED and job.checkpoint
    (longer,) = service.reruns.rerun(job, passes, limits=Limits(timeout=60.0))
    assert (longer.spec.timeout, longer.spec.resources) == (60.0, SMALL)
    assert service.finish(longer).state is State.DONE
    (again,) = service.reruns.rerun(job, passes, again=True)
    assert again.spec.timeout == 60.0  # of its line the newest counts
    service.queue.cancel(again.id)
    (unlimited,) = service.reruns.rerun(job, passes, limits=Limits(timeout=0.0))
    assert unlimited.spec.timeout == 0.0


@pytest.mark.parametrize("limits", [Limits(), MORE_MEMORY, Limits(timeout=60.0)])
def test_whatever_limits_a_failed_job_is_given_it_goes_on_from_its_checkpoint(service: Service, limits: Limits) -> None:
    job = service.finish(service.submit("count(); sys.exit(1)", retries=0))
    assert job.checkpoint
    (new,) = service.reruns.rerun(job, passes, limits=limits)
    assert service.folders.checkpoint(new.id, new.checkpoint).is_dir()


def test_a_run_that_goes_on_is_no_answer_to_who_asks_for_other_limits(service: Service) -> None:
    first = breaks(service)
    service.finish(first)
    (new,) = service.reruns.rerun(first, passes, limits=MORE_MEMORY)
    assert rerun(service, first) == [new]
    assert service.reruns.rerun(first, passes, limits=MORE_MEMORY) == [new]
    with pytest.raises(Conflict, match=f"already, with other limits: job {new.id} is waiting") as refused:
        service.reruns.rerun(first, passes, limits=Limits(timeout=5.0))
    assert f"seedbed jobs cancel {new.id}" in refused.value.hint
    service.queue.cancel(new.id)
    (other,) = service.reruns.rerun(first, passes, limits=Limits(timeout=5.0))
    assert (other.spec.timeout, other.spec.resources) == (5.0, new.spec.resources)
