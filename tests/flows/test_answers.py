"""Answers from the store: in the job's own project, under its name, in the context in use."""

from collections.abc import Callable
from pathlib import Path

import pytest

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.base.errors import NotFound
from seedbed.base.settings import Settings
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State
from tests.flows.conftest import count

Finish = Callable[..., list[Job]]


@pytest.fixture
def settings(tmp_path: Path, leaves: Path) -> Settings:
    return Settings(home=tmp_path / "home", port=0, cpus=4, import_roots=(leaves,))


def _ann(platform: Platform) -> Identity:
    """A trainer of project B, and nothing else."""
    user = platform.users.create("ann", Role.VIEWER, by=SOLO)
    platform.users.add_member("B", user.id, Role.TRAINER, by=SOLO)
    found = platform.users.identify(platform.users.make_token(user.id, "t", by=SOLO))
    assert found is not None
    return found


def test_what_another_project_has_is_answered_with_a_copy_of_ones_own(platform: Platform, leaves: Path) -> None:
    for name in ("A", "B"):
        platform.projects.create(name, by=SOLO)
    first = platform.data.add(leaves, name="leaves", project="A", size=16, by=SOLO)
    (theirs,) = platform.run_until_done([first.id])
    ann = _ann(platform)
    again = platform.data.add(leaves, name="leaves", project="B", size=16, by=ann)
    (mine,) = platform.run_until_done([again.id])
    assert mine.state is State.DONE and "Answered from the store" in mine.reason
    assert not set(mine.outputs.values()) & set(theirs.outputs.values())
    data = platform.bundles.show(mine.outputs["data"], by=ann)
    project = platform.projects.get("B", by=ann)
    assert (data.project, data.name, data.key, project.data) == (project.id, "leaves", "", data.uuid)
    original = platform.store.get(theirs.outputs["data"])
    assert data.digest == original.digest and data.lineage.job == mine.id and data.lineage.step == "ingest"
    with pytest.raises(NotFound):
        platform.bundles.show(original.uuid, by=ann)
    decoded = platform.bundles.show(mine.outputs["decoded"], by=ann)
    assert decoded.derived and decoded.lineage.inputs == (("data", data.uuid),)
    _the_copy_is_found_again(platform, leaves, ann, mine)
    _each_goes_alone(platform, theirs, mine)


def _the_copy_is_found_again(platform: Platform, leaves: Path, ann: Identity, mine: Job) -> None:
    third = platform.data.add(leaves, name="leaves", project="B", size=16, by=ann)
    assert platform.run_until_done([third.id])[0].outputs == mine.outputs


def _each_goes_alone(platform: Platform, theirs: Job, mine: Job) -> None:
    platform.bundles.remove([theirs.outputs["data"]], by=SOLO)
    for output in mine.outputs.values():
        bundle = platform.store.get(output)
        assert all(platform.store.path_of(link.digest).is_file() for link in bundle.files)
    assert not platform.bundles.verify(by=SOLO).findings


def test_another_name_is_answered_with_a_copy_of_that_name(platform: Platform, finish: Finish) -> None:
    first, other, again = finish(count(name="first")), finish(count(name="other")), finish(count(name="first"))
    names = [platform.store.get(job.outputs["count"]).name for (job,) in (first, other, again)]
    assert names == ["first.count", "other.count", "first.count"]
    assert "Answered from the store" in other[0].reason and again[0].outputs == first[0].outputs


def test_an_answer_joins_the_context_in_use(platform: Platform, finish: Finish) -> None:
    (first,) = finish(count())
    platform.contexts.create("field", by=SOLO)
    platform.contexts.use("field", by=SOLO)
    (second,) = finish(count())
    assert second.outputs == first.outputs
    assert [bundle.uuid for bundle in platform.bundles.find(context="field", by=SOLO)] == list(first.outputs.values())
    (third,) = finish(count(name="other"))
    found = {bundle.uuid for bundle in platform.bundles.find(context="field", by=SOLO)}
    assert found == {first.outputs["count"], third.outputs["count"]}


def test_two_projects_that_make_the_same_at_once_each_have_their_own(platform: Platform) -> None:
    for name in ("A", "B"):
        platform.projects.create(name, by=SOLO)
    slow = {"steps": 4, "seconds_per_step": 0.5}
    jobs = [
        platform.jobs.submit(JobSpec("sleep-and-count", params=slow, project=place), by=SOLO) for place in ("A", "B")
    ]
    ended = platform.run_until_done([job.id for job in jobs])
    assert [job.state for job in ended] == [State.DONE] * 2 and not any(job.reason for job in ended)
    places = [platform.store.get(job.outputs["count"]).project for job in ended]
    assert places == [job.project for job in ended] and len(set(places)) == 2


def test_a_known_part_of_another_project_is_not_built_upon(platform: Platform, leaves: Path) -> None:
    for name in ("A", "B"):
        platform.projects.create(name, by=SOLO)
    first = platform.data.add(leaves, name="leaves", project="A", size=16, by=SOLO)
    (theirs,) = platform.run_until_done([first.id])
    platform.bundles.remove([theirs.outputs["decoded"]], by=SOLO)
    second = platform.data.add(leaves, name="leaves", project="B", size=16, by=_ann(platform))
    (mine,) = platform.run_until_done([second.id])
    assert mine.state is State.DONE and not mine.reason
    bundles = {name: platform.store.get(uuid) for name, uuid in mine.outputs.items()}
    assert {bundle.project for bundle in bundles.values()} == {mine.project}
    assert bundles["decoded"].lineage.inputs == (("data", bundles["data"].uuid),)
