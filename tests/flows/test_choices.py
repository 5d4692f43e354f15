"""What can be chosen for a training, known before anything runs."""

import pytest

from seedbed.assets.zoo.backbones import BACKBONES
from seedbed.base.errors import InvalidInput
from seedbed.flows.algorithms import algorithm_options, algorithms
from seedbed.flows.backbones import backbones
from seedbed.flows.steps import STEPS
from seedbed.flows.steps.train import TrainParams, in_order, settings_of
from seedbed.flows.unloaded import options_of
from seedbed.methods.learn.algorithm import ALGORITHMS, make_algorithm
from seedbed.methods.learn.settings import ONE_CLASS, TrainSettings
from seedbed.methods.learn.task import Task


def test_every_algorithm_is_listed_with_a_sentence_although_none_is_loaded() -> None:
    found = algorithms()
    assert set(found) == {*ALGORITHMS, ONE_CLASS}
    assert all(line.endswith(".") for line in found.values())


def test_every_backbone_is_listed_with_where_its_weights_come_from() -> None:
    found = backbones()
    assert set(found) == set(BACKBONES)
    assert "the card efficientnet_lite1.imagenet" in found["efficientnet_lite1"]
    assert "patches of 2 px" in found["vit_tiny"] and "a hub, or none" in found["vit_tiny"]


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_the_options_that_are_told_are_those_that_the_algorithm_has(name: str) -> None:
    options = {option: float(default) for option, default in algorithm_options(name).items()}
    made = make_algorithm(name, Task(classes=3, images=9), options)
    assert {option: getattr(made, option) for option in options} == options


def test_options_of_something_that_is_not_there_are_none() -> None:
    assert options_of("seedbed.methods.learn.algorithms.fixmatch:NoSuch") == {}


def test_an_algorithm_that_does_not_exist_is_refused_before_anything_runs() -> None:
    (problem,) = STEPS.get("train").params_problems({"algorithm": "fixmach"})
    assert "Did you mean 'fixmatch'" in problem and not problem.endswith("?.")
    (problem,) = STEPS.get("train").params_problems({"algorithm": "fixmatch", "options": {"treshold": 0.9}})
    assert "Did you mean 'threshold'" in problem
    (problem,) = STEPS.get("train").params_problems({"options": {"augment.trun": 90}})
    assert "Did you mean 'augment.turn'" in problem
    (problem,) = STEPS.get("train").params_problems({"algorithm": "freematch", "options": {"threshold": 0.9}})
    assert "no option of freematch, which has weight, fairness, memory." in problem


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("vit_smal", "vit_small"),
        ("resnet_18", "resnet18"),
        ("efficientnet_lit0.imagenet", "efficientnet_lite0.imagenet"),
    ],
)
def test_a_backbone_that_does_not_exist_is_refused_before_anything_runs(name: str, near: str) -> None:
    (problem,) = STEPS.get("train").params_problems({"start": name})
    assert f"named '{name}'. Did you mean" in problem and f"'{near}'" in problem


def test_a_backbone_is_a_card_a_short_name_or_one_that_timm_knows() -> None:
    known = ["efficientnet_lite0.imagenet", "vit_small", "resnet18.small", "tf_efficientnetv2_s", "resnet18.a1_in1k"]
    assert not [problem for name in known for problem in STEPS.get("train").params_problems({"start": name})]
    assert "Nothing has a name like it." in STEPS.get("train").params_problems({"start": "??"})[0]


def test_images_that_the_patches_of_a_network_do_not_divide_are_refused_before_anything_runs() -> None:
    (problem,) = STEPS.get("train").params_problems({"start": "vit_small", "size": 33})
    assert problem == "size: Images of 33 px do not divide into patches of 2 px. Use 32 or 34 px."
    assert not STEPS.get("train").params_problems({"start": "resnet18", "size": 33})


@pytest.mark.parametrize("start", ["vit_small", "resnet18"])
@pytest.mark.parametrize("size", [0, -1, -2])
def test_of_a_size_that_is_none_only_that_is_said(start: str, size: int) -> None:
    problems = STEPS.get("train").params_problems({"start": start, "size": size})
    assert problems == [f"size is {size}; it must be at least 1."]


def test_classes_go_by_name_and_ordered_ones_by_value() -> None:
    assert in_order(["b", "a", "b"], ()) == (("a", "b"), ())
    named = {"none": 0.0, "half": 50.0, "all": 100.0}
    assert in_order(["all", "half", "none"], named) == (("none", "half", "all"), (0.0, 50.0, 100.0))
    assert in_order(["100 %", "0 %", "25 %"], (0.0, 25.0, 100.0)) == (("0 %", "25 %", "100 %"), (0.0, 25.0, 100.0))
    assert in_order(["10-25", "0-10", "5-9"], (1.0, 2.0, 3.0))[0] == ("0-10", "5-9", "10-25")


def test_a_list_of_values_for_classes_without_numbers_is_refused_because_the_order_would_be_a_guess() -> None:
    with pytest.raises(InvalidInput, match="'high' has no number") as caught:
        in_order(["none", "high"], (0.0, 100.0))
    assert "high=...,none=..." in caught.value.hint


def test_values_must_fit_the_classes_of_the_labels() -> None:
    with pytest.raises(InvalidInput) as caught:
        in_order(["low", "mid"], {"low": 0.0, "hihg": 9.0})
    assert len(caught.value.problems) == 2


def test_the_parameters_of_the_step_are_the_settings_of_the_method() -> None:
    assert settings_of(TrainParams(), ["b", "a"]) == TrainSettings(classes=("a", "b"))
    values = {"b": 1.0, "a": 2.0}
    assert settings_of(TrainParams(values=values), ["a", "b"]) == TrainSettings(classes=("b", "a"), values=(1.0, 2.0))
