"""Jobs that are submitted together may name each other in any order."""

import pytest

from seedbed.base.errors import InvalidInput
from seedbed.flows.wiring import in_order
from seedbed.runtime.jobs.spec import JobSpec


def job(name: str, *, after: tuple[str, ...] = (), **inputs: str) -> JobSpec:
    return JobSpec("sleep-and-count", name=name, after=after, inputs=inputs)


def names(specs: list[JobSpec]) -> list[str]:
    return [spec.name for spec in specs]


def test_what_others_wait_for_comes_first_and_the_rest_stays_as_it_was() -> None:
    assert names(in_order([job("c", data="job:b/count"), job("a"), job("b", after=("a",)), job("d")])) == [*"abcd"]
    assert names(in_order([job("b"), job("a"), job("", after=("a",))])) == ["b", "a", ""]


def test_jobs_outside_are_not_waited_for_here() -> None:
    assert names(in_order([job("a", data="job:elsewhere/count", more="leaves"), job("b")])) == ["a", "b"]


def test_jobs_that_wait_for_each_other_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"none could begin: a, b\."):
        in_order([job("a", after=("b",)), job("b", data="job:a/count"), job("c")])
