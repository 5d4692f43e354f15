"""Settings of a training as people write them. Light: the command line answers --help with it."""

import json
import math
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.settings import Strength, TrainSettings

_FIELDS = {field.name for field in fields(TrainSettings)} - {"classes"}
_PARTS = {"augment": {field.name for field in fields(Strength)}}


def settings_from(free: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the train step: NAME is a setting, PART.NAME a part of one, and else an option of the algorithm."""
    if twice := sorted(free.keys() & named.keys()):
        raise InvalidInput(
            f"{', '.join(twice)} is given twice: by itself, and among the other settings.", hint="Leave one out."
        )
    params: dict[str, Any] = dict(named)
    for name, value in free.items():
        whole, _, part = name.partition(".")
        if part and part in _PARTS.get(whole, ()):
            params.setdefault(whole, {})[part] = value
        elif name in _FIELDS:
            params[name] = value
        else:
            params.setdefault("options", {})[name] = value
    found = [(name, number) for name, value in params.items() for number in _endless(value)]
    if problems := [f"{name} is {number}; it must be a finite number." for name, number in found]:
        raise InvalidInput("The training settings cannot be used.", problems=problems)
    return params


def read_values(text: str) -> list[float] | dict[str, float]:
    """`0,10,25` or `none=0,low=10,high=25`."""
    pieces = [piece.strip() for piece in text.split(",")]
    pairs = [piece.rpartition("=") for piece in pieces]
    try:
        if all(equals for _, equals, _ in pairs):
            return {name.strip(): float(number) for name, _, number in pairs}
        return [float(piece) for piece in pieces]
    except ValueError:
        raise InvalidInput(
            f"values is '{text}'; it takes numbers, or a number for each class.",
            hint="Write 0,10,25,50,100 or none=0,low=10,high=50.",
        ) from None


def read_others(text: str) -> dict[str, Any]:
    """`ema=0.99 threshold=0.8`: names with values, apart by spaces; values are JSON or else text."""
    pieces = [piece.strip(",;") for piece in text.split()]
    if wrong := [piece for piece in pieces if "=" not in piece[1:]]:
        raise InvalidInput(f"'{wrong[0]}' is not of the form name=value.", hint="Write ema=0.99 threshold=0.8.")
    return {name: _value(value) for name, _, value in (piece.partition("=") for piece in pieces)}


def _endless(value: Any) -> Iterator[float]:
    """What is infinite or no number in a setting; JSON, which settings travel as, has no word for it."""
    if isinstance(value, float) and not math.isfinite(value):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _endless(part)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
