"""Jobs as they are asked for: everything wrong with one is told, whatever else is wrong."""

from typing import Any

import pytest
from pydantic import ValidationError

from seedbed.assets.access.roles import SOLO
from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.flows.asked import Faulty, JobAsked
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.spec import JobClass, JobSpec


def spec(**given: Any) -> JobSpec:
    return JobAsked.model_validate(given).spec()


def refused(platform: Platform, *jobs: JobSpec) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        platform.jobs.submit_flow(jobs, by=SOLO)
    assert platform.jobs.list(by=SOLO) == []
    return list(caught.value.problems)


def test_a_good_job_is_a_plain_specification() -> None:
    made = spec(step="decode", resources={"memory": "512M"}, **{"class": "te"})
    assert made == JobSpec("decode", cls=JobClass.TE, resources=Resources(0.0, 512 << 20, 0))
    assert type(made) is JobSpec
    assert spec(step="decode", cls="te").cls is JobClass.TE


def test_what_could_not_be_read_is_left_out_and_named() -> None:
    made = spec(steb="a", inputs={"data": 3, "labels": "few"}, resources={"cpus": -1, "gpus": 1}, after="b", grace=5)
    assert isinstance(made, Faulty) and len(made.mistakes) == 5
    assert made.unread == {"steb", "step", "inputs.data", "resources.cpus", "after"}
    assert (made.inputs, made.resources, made.grace) == ({"labels": "few"}, Resources(0.0, 0, 1), 5.0)


def test_a_faulty_job_is_refused_even_by_itself() -> None:
    with pytest.raises(InvalidInput) as caught:
        spec(step="decode", retries=-1, name="a/b").check()
    assert [problem.split()[0] for problem in caught.value.problems] == ["'retries'", "name"]


@pytest.mark.parametrize("memory", ["9" * 400, 10**400], ids=["a text", "a number"])
def test_more_memory_than_a_number_holds_is_a_mistake_like_any_other(platform: Platform, memory: object) -> None:
    (told,) = refused(platform, spec(step="sleep-and-count", resources={"memory": memory}))
    assert told.startswith("'resources.memory' is ") and "is not an amount of memory. Write it like 512M" in told


@pytest.mark.parametrize("given", [3, None, "train", ["train"]])
def test_what_is_no_table_at_all_is_no_job(given: Any) -> None:
    with pytest.raises(ValidationError):
        JobAsked.model_validate(given)


def test_every_kind_of_mistake_of_one_job_is_told_at_once(platform: Platform) -> None:
    told = refused(
        platform,
        spec(step="decode", params={"size": 1}, inputs={"dat": "none"}, resources={"gpus": 999}, retries=-1, seeds=1),
    )
    starts = ["'retries' is -1", "'seeds' is not a field of a job", "'size' is 1", "input 'dat' is 'none'"]
    starts += ["'dat' is not an input of step 'decode'", "input 'data' of step 'decode' is missing", "it asks for"]
    assert len(told) == len(starts), told
    assert all(problem.startswith(start) for problem, start in zip(told, starts, strict=True)), told


def test_a_wrong_step_hides_none_of_the_rest(platform: Platform) -> None:
    job = spec(step="decod", inputs={"data": "none"}, resources={"cpus": 5000}, project="none", after=["none"], cls="x")
    told = "\n".join(refused(platform, job))
    for part in ("'cls' is 'x'", "no step named 'decod'", "input 'data' is 'none'", "asks for 5000 cpus"):
        assert part in told
    assert "the project is 'none': there is no such project" in told and "it is to run after 'none'" in told
    assert len(told.splitlines()) == 6, told


def test_what_could_not_be_read_is_not_told_again_as_missing(platform: Platform) -> None:
    assert len(refused(platform, spec(step="decode", inputs={"data": 3}))) == 1
    assert len(refused(platform, spec(step="decode", inputs=[3]))) == 1
    assert len(refused(platform, spec(stpe="decode"))) == 2
    assert len(refused(platform, spec(step="sleep-and-count", params=3))) == 1


def test_jobs_of_a_flow_that_name_a_wrong_one_are_not_blamed_for_it(platform: Platform) -> None:
    told = refused(
        platform, spec(step="ingets", name="a"), spec(step="decode", name="b", inputs={"data": "job:a/data"})
    )
    assert [problem.partition(":")[0] for problem in told] == ["a"]


def test_jobs_that_wait_for_each_other_are_told_with_their_other_mistakes(platform: Platform) -> None:
    told = refused(
        platform,
        spec(step="sleep-and-count", name="a", after=["b"], params={"steps": 0}),
        spec(step="sleep-and-count", after=["none"]),
        spec(step="sleep-and-count", name="b", after=["a"], retries="many"),
    )
    assert [problem.partition(":")[0] for problem in told] == [
        "these jobs wait for each other, so none could begin",
        "a",
        "job 2",
        "b",
    ]


def test_after_takes_names_and_beginnings_of_ids_as_everything_else_does(platform: Platform) -> None:
    first = platform.jobs.submit(spec(step="sleep-and-count", name="first"), by=SOLO)
    for ref in ("first", first.id[:-4], first.id):
        assert platform.jobs.submit(spec(step="sleep-and-count", after=[ref]), by=SOLO).spec.after == (first.id,)
