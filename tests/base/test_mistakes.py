"""Sentences about values that cannot be used."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seedbed.base.mistakes import sentences_of


@dataclass
class Inner:
    depth: int = 1


class Given(BaseModel):
    model_config = ConfigDict(extra="forbid")

    steps: int = Field(1, ge=1, le=2000)
    rate: float = Field(0.5, gt=0, lt=1)
    seed: int = Field(0, ge=0)
    tag: str = Field("", max_length=5, pattern=r"^[^/]*$")
    mode: Literal["auto", "none"] = "auto"
    quick: bool = False
    several: int | Literal["all"] | None = None
    options: dict[str, float] = Field(default_factory=dict)
    inner: Inner = Field(default_factory=Inner)
    paths: tuple[str, ...] = Field(("a",), min_length=1)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("steps", "many", "'steps' is 'many'; it must be a whole number from 1 to 2,000."),
        ("steps", 0, "'steps' is 0; it must be a whole number from 1 to 2,000."),
        ("steps", 1.5, "'steps' is 1.5; it must be a whole number from 1 to 2,000."),
        ("rate", 1, "'rate' is 1; it must be a number above 0 and below 1."),
        ("seed", -1, "'seed' is -1; it must be a whole number of at least 0."),
        ("tag", 3, "'tag' is 3; it must be text."),
        ("tag", "a/b", "'tag' is 'a/b'; it must be text that matches the pattern ^[^/]*$."),
        ("tag", "too long", "'tag' is 'too long'; it must be at most 5 characters long."),
        ("mode", "fast", "'mode' is 'fast'; it must be 'auto' or 'none'."),
        ("quick", "perhaps", "'quick' is 'perhaps'; it must be true or false."),
        ("options", [1], "'options' is [1]; it must be names with values."),
        ("options", {"a": "b"}, "'options.a' is 'b'; it must be a number."),
        ("inner", {"dpth": 1}, "'inner.dpth' is not a parameter."),
        ("paths", [], "'paths' is []; it must be at least 1 long."),
        ("paths", "a", "'paths' is 'a'; it must be a list."),
        ("stpes", 1, "'stpes' is not a parameter. Did you mean 'steps'?"),
        ("steps", "x" * 500, f"'steps' is '{'x' * 76}...; it must be a whole number from 1 to 2,000."),
    ],
)
def test_each_mistake_says_which_value_what_was_given_and_what_is_allowed(name: str, value: Any, sentence: str) -> None:
    assert _sentences({name: value}) == [sentence]


def test_a_value_of_several_types_is_one_sentence() -> None:
    (told,) = _sentences({"several": "few"})
    assert told.startswith("'several' is 'few'") and "a whole number" in told and "'all'" in told


def test_every_wrong_value_is_told() -> None:
    assert len(_sentences({"steps": "many", "rate": 3, "mode": "fast"})) == 3


def _sentences(values: dict[str, Any]) -> list[str]:
    with pytest.raises(ValidationError) as refused:
        Given.model_validate(values)
    return sentences_of(refused.value.errors(), Given.model_fields)
