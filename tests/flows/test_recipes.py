"""Recipes: what they are wired of."""

from pathlib import Path

import pytest

from seedbed.assets.access.roles import SOLO
from seedbed.base.errors import InvalidInput, NotFound
from seedbed.flows.platform import Platform
from seedbed.flows.recipes import RECIPES
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec, output_of_job


def by_step(jobs: list[Job]) -> dict[str, Job]:
    return {job.step: job for job in jobs}


def source_of(job: Job, name: str, jobs: list[Job]) -> tuple[str, str]:
    made = output_of_job(job.spec.inputs[name])
    assert made is not None
    return next(other.name for other in jobs if other.id == made[0]), made[1]


def test_few_labels_is_wired_from_images_to_an_exported_model(platform: Platform, leaves: Path, truth: Path) -> None:
    jobs = platform.models.start_recipe("few-labels", {"source": str(leaves), "truth": str(truth)}, by=SOLO)
    steps = by_step(jobs)
    assert list(steps) == ["ingest", "sample-labels", "train", "evaluate", "label-all", "export"]
    assert len({job.flow for job in jobs}) == 1
    assert source_of(steps["train"], "labels", jobs) == ("leaves.sample-labels", "labels")
    assert source_of(steps["train"], "holdout", jobs) == ("leaves.sample-labels", "test")
    assert source_of(steps["evaluate"], "test", jobs) == ("leaves.sample-labels", "test")
    assert source_of(steps["export"], "model", jobs) == ("leaves.train", "model")
    said = platform.bundles.show(steps["sample-labels"].spec.inputs["truth"], by=SOLO)
    assert said.kind == "labels" and said.arrays["count"].items == (60,)


def test_labels_that_people_gave_are_all_used(platform: Platform, leaves: Path, truth: Path) -> None:
    given = {"source": str(leaves), "labels": str(truth), "name": "mine", "seed": 7, "train": {"steps": 11}}
    steps = by_step(platform.models.start_recipe("few-labels", given, by=SOLO))
    assert steps["sample-labels"].spec.params["per_class"] == 0
    assert steps["train"].spec.params["steps"] == 11 and steps["train"].spec.seed == 7
    assert steps["train"].name == "mine.train"


def test_mistakes_in_a_recipes_parameters_are_told_at_once(platform: Platform, leaves: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        platform.models.start_recipe("few-labels", {"source": str(leaves), "labels_per_class": -1, "sede": 1}, by=SOLO)
    assert len(caught.value.problems) == 2 and "Did you mean 'seed'" in caught.value.problems[1]
    with pytest.raises(InvalidInput) as caught:
        platform.models.start_recipe("few-labels", {}, by=SOLO)
    assert "either source" in caught.value.problems[0]
    with pytest.raises(InvalidInput) as caught:
        platform.models.start_recipe("few-labels", {"source": str(leaves), "train": {"stepz": 1}}, by=SOLO)
    assert "leaves.train: 'stepz' is not a parameter" in caught.value.problems[0]
    with pytest.raises(NotFound, match="no recipe named 'few'"):
        platform.models.start_recipe("few", {}, by=SOLO)
    assert platform.jobs.list(by=SOLO) == []


def test_images_and_labels_that_are_not_there_are_refused_before_anything_is_queued(
    platform: Platform, leaves: Path, truth: Path, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput) as refused:
        platform.models.start_recipe("few-labels", {"source": str(tmp_path / "nowhere")}, by=SOLO)
    assert list(refused.value.problems) == [
        f"nowhere.ingest: {tmp_path / 'nowhere'} cannot be read: no such file or directory."
    ]
    for slot in ("labels", "truth"):
        with pytest.raises(NotFound, match=r"no file none\.csv"):
            given = {"source": str(leaves), slot: str(tmp_path / "none.csv")}
            platform.models.start_recipe("few-labels", given, by=SOLO)
    for source in ("leaves", "/a\0b"):
        with pytest.raises(InvalidInput):
            platform.jobs.submit(JobSpec("ingest", params={"source": source}), by=SOLO)
    assert platform.jobs.list(by=SOLO) == []


def test_the_demo_makes_its_project_and_trains_on_the_labels_alone_beside(platform: Platform) -> None:
    jobs = platform.models.start_recipe("demo", {"count_per_class": 10}, by=SOLO)
    project = platform.projects.get("Leaves", by=SOLO)
    assert {job.project for job in jobs} == {project.id}
    names = {job.name: job for job in jobs}
    assert names["leaves-labels-alone.train"].spec.params["algorithm"] == "supervised"
    assert names["leaves-labels-alone.train"].spec.inputs == names["leaves.train"].spec.inputs
    assert names["leaves.train"].spec.after == (names["leaves-labels-alone.evaluate"].id,)
    again = platform.models.start_recipe("demo", {"compare": False, "count_per_class": 10}, by=SOLO)
    assert len(again) == len(jobs) - 2 and {job.project for job in again} == {project.id}


@pytest.mark.parametrize("name", list(RECIPES))
def test_every_recipe_says_what_it_takes(platform: Platform, name: str) -> None:
    assert platform.models.recipes()[name].endswith(".")
    schema = platform.models.recipe_schema(name)
    assert all("description" in field for field in schema["properties"].values())
