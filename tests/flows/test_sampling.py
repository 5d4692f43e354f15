"""Test images by group and by fold."""

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from seedbed.assets.access.roles import SOLO
from seedbed.base.errors import InvalidInput
from seedbed.flows.kinds.labels import read_labels
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State

Finish = Callable[..., list[Job]]


@pytest.fixture
def plants(leaves: Path, tmp_path: Path) -> Path:
    """A list of images of which every five are of one plant."""
    rows = list(csv.DictReader((leaves.parent / "leaves-truth.csv").read_text().splitlines()))
    shutil.copytree(leaves, tmp_path / "leaves")
    lines = [f"leaves/{row['file']},{row['class']},plant{number % 12}" for number, row in enumerate(rows)]
    (tmp_path / "plants.csv").write_text("\n".join(["file,class,plant", *lines, ""]))
    return tmp_path / "plants.csv"


def test_folds_and_groups_divide_the_images(platform: Platform, finish: Finish, plants: Path) -> None:
    names = [f"fold{fold}" for fold in range(3)]
    ingest, *folds = finish(
        JobSpec("ingest", name="i", params={"source": str(plants), "size": 16}),
        *(_sample(name, folds=3, fold=fold, group="plant") for fold, name in enumerate(names)),
        *(_sample(f"plain-{name}", folds=3, fold=fold) for fold, name in enumerate(names)),
    )
    assert ingest.state is State.DONE, ingest.reason
    assert [job.state for job in folds] == [State.DONE] * 6, [job.reason for job in folds]
    records = platform.data.records(ingest.outputs["data"], by=SOLO)
    plant = {record["id"]: record["extra"]["plant"] for record in records}
    tests = [_rows(platform, job, "test") for job in folds]
    for parts in (tests[:3], tests[3:]):
        assert sorted(image for part in parts for image in part) == sorted(plant)  # each is tested once
    for part, job in zip(tests[:3], folds[:3], strict=True):
        trained = {plant[image] for image in _rows(platform, job, "labels")}
        assert not {plant[image] for image in part} & trained
    assert any({plant[i] for i in part} & {plant[i] for i in set(plant) - set(part)} for part in tests[3:])
    _train_passes_the_group_on(platform, ingest.outputs["data"])


def test_a_class_that_would_be_in_the_test_alone_is_named_before_anything_is_trained(
    platform: Platform, finish: Finish, leaves: Path, tmp_path: Path
) -> None:
    rows = list(csv.DictReader((leaves.parent / "leaves-truth.csv").read_text().splitlines()))
    shutil.copytree(leaves, tmp_path / "leaves")
    lines = [f"leaves/{row['file']},{row['class']},{row['class']}" for row in rows]  # a plant of its own for each class
    (tmp_path / "plants.csv").write_text("\n".join(["file,class,plant", *lines, ""]))
    _, sampled = finish(
        JobSpec("ingest", name="i", params={"source": str(tmp_path / "plants.csv"), "size": 16}),
        _sample("s", group="plant"),
    )
    assert sampled.state is State.FAILED
    assert "would be put aside for the test, since each value of 'plant' stays on one side" in sampled.reason


def test_too_few_good_parts_are_counted_with_those_that_go_to_the_test(
    platform: Platform, finish: Finish, leaves: Path, tmp_path: Path
) -> None:
    names = sorted(path.name for path in leaves.iterdir())
    shutil.copytree(leaves, tmp_path / "leaves")
    lines = [f"leaves/{name},{'good' if number < 3 else 'bad'}" for number, name in enumerate(names)]
    (tmp_path / "parts.csv").write_text("\n".join(["file,class", *lines, ""]))
    _, few, asked, fewer, misspelt, enough = finish(
        JobSpec("ingest", name="i", params={"source": str(tmp_path / "parts.csv"), "size": 16}),
        _sample("few", least=1, good="good"),
        _sample("asked", least=1, good="bad", per_class=2),
        _sample("fewer", least=1, good="good", per_class=1),
        _sample("misspelt", least=1, good="goood"),
        _sample("enough", least=1, good="bad"),
    )
    given = "3 images are labelled 'good', and 1 of them is put aside for the test. That leaves 2 to learn from"
    assert few.state is State.FAILED and f"{given}; at least 4 are needed." in few.reason
    assert "for the test. 2 of each class are asked for. That leaves 2 to learn from" in asked.reason
    assert "Ask for more of each class (--labels-per-class" in asked.reason and "Label more" not in asked.reason
    assert "That leaves 1 to learn from" in fewer.reason, "more of them would not be enough either"
    assert "Label more good parts" in few.reason and "Label more good parts" in fewer.reason
    assert "good is 'goood', which no label names." in misspelt.reason and "Did you mean 'good'?" in misspelt.reason
    assert enough.state is State.DONE, enough.reason


def _sample(name: str, **params: object) -> JobSpec:
    return JobSpec("sample-labels", name=name, inputs={"data": "job:i/data"}, params={"per_class": 0, **params})


def _rows(platform: Platform, job: Job, output: str) -> dict[str, str]:
    (link,) = platform.store.get(job.outputs[output]).arrays["labels"].files
    return read_labels(platform.store.path_of(link.digest))


def _train_passes_the_group_on(platform: Platform, data: str) -> None:
    jobs = {job.step: job for job in platform.models.train(data, group="plant", folds=4, fold=3, by=SOLO)}
    asked = jobs["sample-labels"].spec.params
    assert (asked["group"], asked["folds"], asked["fold"]) == ("plant", 4, 3)


@pytest.mark.parametrize("params", [{"folds": 1}, {"folds": 3, "fold": 3}, {"fold": 1}])
def test_a_fold_that_there_is_not_is_refused_at_once(platform: Platform, params: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match="cannot be submitted") as caught:
        platform.jobs.submit(JobSpec("sample-labels", params=params, inputs={"data": "x"}), by=SOLO)
    assert any("fold" in problem for problem in caught.value.problems)
