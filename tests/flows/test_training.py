"""A training before it runs: what is asked for, what is refused."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from seedbed.assets.access.roles import SOLO
from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.flows.platform import Platform
from seedbed.flows.training import (
    defaults,
    problems_by_field,
    refuse_gaps,
    told_rate,
    with_a_gpu,
    with_habits,
    with_ranks,
)
from seedbed.methods.learn.settings import AUTO_ON_A_GPU, ON_A_GPU, TrainSettings
from seedbed.runtime.executors.protocol import Node


def test_several_machines_are_refused_in_a_sentence() -> None:
    assert problems_by_field({"nodes": 1}) == {}
    assert "no executor here has several machines" in problems_by_field({"nodes": 2})["nodes"]


def test_as_many_ranks_as_gpus_unless_somebody_says_otherwise() -> None:
    four = Resources(cpus=0, memory=0, gpus=4)
    params, room = with_ranks({"steps": 9}, four)
    assert params == {"steps": 9, "ranks": 4}
    assert room == Resources(cpus=4, memory=9 << 30, gpus=4)
    assert with_ranks({"ranks": 2}, four)[0] == {"ranks": 2}


def test_a_gpu_is_used_where_there_is_one_and_gets_larger_images_unless_somebody_says_otherwise() -> None:
    plain, rich = Node("a", Resources(cpus=4, memory=9)), Node("b", Resources(cpus=4, memory=9, gpus=2))
    assert with_a_gpu(None, [plain]) is None
    one = with_a_gpu(None, [plain, rich])
    assert one is not None and one.gpus == 1
    none = Resources(cpus=1, memory=0)
    assert with_a_gpu(none, [rich]) == none
    assert with_habits({"steps": 9}, one) == {**ON_A_GPU, "steps": 9, "learning_rate": AUTO_ON_A_GPU}
    assert with_habits({"steps": 9}, none) == {"steps": 9}
    assert defaults([plain]) == TrainSettings()
    there = defaults([rich])
    assert {name: getattr(there, name) for name in ON_A_GPU} | {"learning_rate": there.rate()} == dict(ON_A_GPU)


def test_the_rate_follows_the_batches_that_are_asked_for_unless_it_is_set() -> None:
    gpu = Resources(cpus=0, memory=0, gpus=1)
    for unset in ({}, {"learning_rate": "auto"}):
        chosen = with_habits({"labelled_batch": 16, "unlabelled_batch": 64, **unset}, gpu)
        assert replace(TrainSettings(), **chosen).rate() == 2.5e-4
    assert with_habits({"labelled_batch": 16, "learning_rate": 0.01}, gpu)["learning_rate"] == 0.01


def test_the_rate_that_would_be_taken_is_told_with_its_reason() -> None:
    assert told_rate({}, None) == "0.0005: the usual one."
    assert told_rate({"steps": 0}, Resources(cpus=0, memory=0, gpus=1)) == "0.0005: the usual one."
    two = Resources(cpus=0, memory=0, gpus=2)
    assert told_rate({}, two) == "at most 0.001: 2 ranks times 0.0005, the usual one."
    assert told_rate({"learning_rate": 5e-4}, two) == "at most 0.001: 2 ranks times 0.0005, as it was set."
    assert told_rate({"scaling": "strong"}, two) == "0.0005: the usual one."
    assert told_rate({"labelled_batch": 4, "unlabelled_batch": 12}, None).startswith("0.00025: less than the 0.0005")
    assert told_rate({"learning_rate": 0.01, "labelled_batch": 4}, None) == "0.01: as it was set."
    assert told_rate({"labelled_batch": 0}, None) == told_rate({"learning_rate": "fast"}, None) == ""


def test_ranks_on_a_cpu_get_a_core_each_and_one_rank_what_the_step_asks_for() -> None:
    assert with_ranks({"ranks": 3}, None) == ({"ranks": 3}, Resources(cpus=3, memory=7 << 30))
    assert with_ranks({}, None) == ({}, None)
    assert with_ranks({"ranks": 3}, Resources(cpus=1.5, memory=5))[1] == Resources(cpus=1.5, memory=5)
    assert with_ranks({"ranks": "two"}, None) == ({"ranks": "two"}, None)  # the parameters' own check says it better


def test_a_network_of_many_weights_gets_the_memory_that_they_take_unless_somebody_says_otherwise() -> None:
    assert with_ranks({"start": "vit_small"}, None) == ({"start": "vit_small"}, None)
    weights = 86_600_000 * 4 * 8 - (1 << 30)
    for name in ("vit_base", "vit_base_patch16_224"):
        assert with_ranks({"start": name}, None)[1] == Resources(cpus=0, memory=(3 << 30) + weights)
    two = with_ranks({"start": "vit_base", "ranks": 2}, None)[1]
    assert two == Resources(cpus=2, memory=(5 << 30) + 2 * weights)
    chosen = Resources(cpus=1, memory=5)
    assert with_ranks({"start": "vit_base"}, chosen)[1] == chosen


def test_every_mistake_is_told_by_the_field_that_it_is_in() -> None:
    wrong = problems_by_field({"steps": 0, "learning_rate": -1, "algorithm": "fixmach", "warmup": 2, "start": "vit"})
    assert set(wrong) == {"steps", "learning_rate", "algorithm", "warmup", "start"}
    assert wrong["steps"] == "steps is 0; it must be at least 1."
    assert "Did you mean 'fixmatch'" in wrong["algorithm"]
    assert set(problems_by_field({"size": "large", "scaling": "big"})) == {"size", "scaling"}
    assert set(problems_by_field({"options": {"nothing": 1}})) == {"options"}
    assert problems_by_field({"learning_rate": "fast"}) == {
        "learning_rate": "'learning_rate' is 'fast'; it must be a number or 'auto' or 'auto-gpu'."
    }
    assert problems_by_field({"steps": 3, "values": {"a": 0, "b": 1}}) == {}


def test_a_budget_of_labels_is_drawn_from_those_that_are_given(platform: Platform, leaves: Path, truth: Path) -> None:
    ingest = platform.data.add(leaves, name="leaves", by=SOLO)
    (done,) = platform.run_until_done([ingest.id])
    data = done.outputs["data"]
    few = {job.step: job for job in platform.models.train(data, str(truth), labels_per_class=2, by=SOLO)}
    assert few["sample-labels"].spec.params["per_class"] == 2
    every = {job.step: job for job in platform.models.train(data, str(truth), by=SOLO)}
    assert every["sample-labels"].spec.params["per_class"] == 0


def test_one_class_is_enough_only_where_good_parts_alone_are_learnt(
    platform: Platform, leaves: Path, truth: Path
) -> None:
    ingest = platform.data.add(leaves, name="leaves", by=SOLO)
    (done,) = platform.run_until_done([ingest.id])
    train = partial(platform.models.train, done.outputs["data"], str(truth), by=SOLO)
    good = {job.step: job for job in train(params={"algorithm": "one-class", "good": "healthy"})}
    usual = {job.step: job for job in train()}
    asked = good["sample-labels"].spec.params
    assert (asked["least"], asked["good"]) == (1, "healthy")
    assert "least" not in usual["sample-labels"].spec.params


def test_classes_without_labels_are_named_before_anything_is_queued() -> None:
    refuse_gaps({"rust": 3, "blight": 1}, "Leaves", "")
    with pytest.raises(InvalidInput, match="2 of the 3 classes of 'Leaves' have no labels yet: rust, holes"):
        refuse_gaps({"rust": 0, "blight": 1, "holes": 0}, "Leaves", "fixmatch")
    with pytest.raises(InvalidInput, match="'Parts' has one class") as caught:
        refuse_gaps({"good": 8}, "Parts", "")
    assert "one-class" in caught.value.hint
    refuse_gaps({"good": 8, "scratched": 0}, "Parts", "one-class")


def test_images_that_nobody_labelled_are_refused_before_anything_is_queued(platform: Platform, leaves: Path) -> None:
    (came,) = platform.run_until_done([platform.data.add(leaves, name="leaves", by=SOLO).id])
    with pytest.raises(InvalidInput, match="0 classes are known of 'leaves'") as refused:
        platform.models.train("leaves", by=SOLO)
    assert "give them a folder each" in refused.value.hint
    project = platform.projects.create("Field trip", by=SOLO)
    platform.projects.set_data(project.id, came.outputs["data"], by=SOLO)
    with pytest.raises(InvalidInput, match="Project 'Field trip' works on these images"):
        platform.models.train("leaves", by=SOLO)
    assert [job.step for job in platform.jobs.list(by=SOLO)] == ["ingest"]


def test_a_wrong_setting_is_refused_before_anything_is_queued(platform: Platform, leaves: Path, truth: Path) -> None:
    ingest = platform.data.add(leaves, name="leaves", by=SOLO)
    (done,) = platform.run_until_done([ingest.id])
    with pytest.raises(InvalidInput):
        platform.models.train(done.outputs["data"], str(truth), params={"algorithm": "fixmach"}, by=SOLO)
    assert len(platform.jobs.list(by=SOLO)) == 1


def test_values_of_one_class_are_spoken_of_as_values() -> None:
    for given in ({"none": 0}, [0]):
        found = problems_by_field({"values": given})
        assert list(found) == ["values"] and "give each its number" in found["values"]
