"""What a step's signature declares, and what it refuses."""

from typing import TypedDict

import pytest
from pydantic import Field

from seedbed.base.errors import InvalidInput
from seedbed.base.run import RunContext
from seedbed.flows.kinds.data import DataSet, Decoded
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.models import Model, Report, Weights
from seedbed.flows.step import Params, Step, step
from seedbed.flows.steps import STEPS


class TinyParams(Params):
    rate: float = Field(gt=0, description="How fast.")
    rounds: int = 3


class Two(TypedDict):
    data: DataSet
    decoded: Decoded


@step("tiny")
def tiny(start: Model | Weights, params: TinyParams, run: RunContext, labels: Labels | None = None) -> Report:
    """One line.

    More lines."""
    raise NotImplementedError


def test_the_signature_is_the_declaration() -> None:
    assert tiny.inputs["start"].kinds == (Model, Weights) and not tiny.inputs["start"].optional
    assert tiny.inputs["labels"].kinds == (Labels,) and tiny.inputs["labels"].optional
    assert tiny.params is TinyParams and dict(tiny.outputs) == {"report": Report}
    assert tiny.about == "One line."


def test_several_outputs_are_a_typed_dict() -> None:
    @step("two")
    def two(params: TinyParams, run: RunContext) -> Two:
        raise NotImplementedError

    assert dict(two.outputs) == {"data": DataSet, "decoded": Decoded}


def test_a_signature_that_says_too_little_is_refused_where_it_is_written() -> None:
    def no_kind(thing: int, params: TinyParams, run: RunContext) -> Report:
        raise NotImplementedError

    def no_output(params: TinyParams, run: RunContext) -> int:
        raise NotImplementedError

    for body in (no_kind, no_output):
        with pytest.raises(TypeError, match="kind"):
            step("bad")(body)


def test_every_mistake_in_parameters_is_told_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        tiny.check_params({"rate": -1, "ronds": 5, "rounds": "many"})
    told = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 3
    assert "'rate' is -1; it must be a number above 0." in told
    assert "'ronds' is not a parameter. Did you mean 'rounds'?" in told
    assert "'rounds' is 'many'; it must be a whole number." in told


def test_a_missing_parameter_is_told_with_what_it_means() -> None:
    assert tiny.params_problems({}) == ["'rate' is missing: how fast."]


def test_a_wrong_kind_is_refused_with_the_input_what_was_given_and_what_is_allowed() -> None:
    problems = tiny.inputs_problems({"start": "labels", "labelz": "labels"})
    assert problems == [
        "'labelz' is not an input of step 'tiny'. Did you mean 'labels'?",
        "input 'start' of step 'tiny' was given a bundle of kind 'labels'; it takes 'model' or 'weights'.",
    ]
    assert tiny.inputs_problems({}) == [
        "input 'start' of step 'tiny' is missing; it takes a bundle of kind 'model' or 'weights'."
    ]


@pytest.mark.parametrize("name", list(STEPS))
def test_every_registered_step_has_its_name_a_line_and_usable_defaults(name: str) -> None:
    found: Step = STEPS.get(name)
    assert found.name == name and found.about.endswith(".")
    required = [field for field in found.params.model_fields.values() if field.is_required()]
    assert required or found.check_params({})


def test_training_parameters_are_those_of_the_method_checked_as_the_method_would() -> None:
    train = STEPS.get("train")
    assert train.params_problems({"steps": 10, "algorithm": "supervised"}) == []
    assert "warmup is 2.0; it must lie in [0, 1)" in train.params_problems({"warmup": 2.0, "steps": 5})[0]
    assert "'classes' is not a parameter" in train.params_problems({"classes": ["a"]})[0]
