"""The algorithms that a training can name, known without loading one."""

from collections.abc import Iterable, Iterator
from dataclasses import fields

from seedbed.base.registry import near_matches
from seedbed.flows.unloaded import opening, options_of, rows_of
from seedbed.methods.learn.settings import ONE_CLASS, Strength, TrainSettings

_WHERE = ("seedbed.methods.learn.algorithm", "ALGORITHMS")
_APART = {ONE_CLASS: "seedbed.methods.learn.one_class:OneClass"}  # trains without steps


def _rows() -> dict[str, str]:
    return rows_of(*_WHERE) | _APART


def algorithms() -> dict[str, str]:
    """Name of each, with one line on what it does."""
    return {name: opening(row) for name, row in _rows().items()}


def algorithm_options(name: str) -> dict[str, str]:
    """What can be set of an algorithm: option -> its default, as it is written."""
    row = _rows().get(name)
    return options_of(row) if row else {}


def algorithm_problems(name: str, options: Iterable[str]) -> Iterator[str]:
    """What is wrong with an algorithm's name and the names of its options, a sentence each."""
    known = _rows()
    if name not in known:
        yield f"algorithm is '{name}', which does not exist. {near_matches(name, known)}"
        return
    has = options_of(known[name])
    settings = [field.name for field in fields(TrainSettings) if field.name != "augment"]
    settings += [f"augment.{part.name}" for part in fields(Strength)]
    for option in options:
        if option not in has:
            own = f"which has {', '.join(has)}" if has else "which has none"
            near = near_matches(option, [*has, *settings], others=True)
            yield f"options: '{option}' is no setting, and no option of {name}, {own}. {near}"
