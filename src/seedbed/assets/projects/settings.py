"""What a project wants: how many labels, in which order, what happens by itself."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from seedbed.base.errors import InvalidInput
from seedbed.base.registry import near_matches
from seedbed.base.text import problems_of_text

_MOST = 100_000
_MOST_HONEYPOTS = 0.5  # of the images shown: people are here to label, not to be tested


@dataclass(frozen=True)
class ProjectSettings:
    """The settings of a project, with the defaults that hold where nobody said otherwise."""

    goal: int = 25  # labels per class that are asked for before training is offered
    grouping: bool = True  # alike images are grouped by themselves, and shown so
    proposals: bool = True  # the model so far says what it takes each image for; its images are looked at for that
    train_by_itself: bool = False  # once every class has its number, and again after as many more
    chooser: str = "auto"  # which images are worth a label next
    honeypots: float = 0.0  # share of the images shown whose golden label is known: how well does everybody do?

    @classmethod
    def from_json(cls, text: str) -> "ProjectSettings":
        """What `to_json` wrote; what a newer Seedbed added is left alone."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in json.loads(text).items() if name in known})

    def to_json(self) -> str:
        """Only what differs from the defaults: a better default then holds for old projects too."""
        default = asdict(ProjectSettings())
        return json.dumps({name: value for name, value in asdict(self).items() if value != default[name]})

    def changed(self, changes: Mapping[str, Any], *, also: Iterable[str] = ()) -> "ProjectSettings":
        """With some of them changed; null brings a default back. Everything wrong is said at once.

        `also`: what is wrong with them that is not known here.
        """
        default = asdict(ProjectSettings())
        problems = [*also]
        problems += [f"There is no setting '{name}'. {near_matches(name, default)}" for name in {*changes} - {*default}]
        wanted = {name: _given(default.get(name), value) for name, value in changes.items()}
        problems += [
            f"'{name}' is {value!r}; it should be {_KINDS[type(default[name])]}."
            for name, value in wanted.items()
            if name in default and type(value) is not type(default[name])
        ]
        if not problems:
            made = replace(self, **wanted)
            problems = _problems_of(made)
        if problems:
            raise InvalidInput("These cannot be the settings of a project.", problems=sorted(problems)[:20])
        return made


_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def _given(default: Any, value: Any) -> Any:
    if value is None:
        return default
    return float(value) if type(default) is float and type(value) is int else value


def _problems_of(settings: ProjectSettings) -> list[str]:
    problems = problems_of_text("'chooser'", settings.chooser, longest=100)
    if not 1 <= settings.goal <= _MOST:
        problems.append(f"'goal' is {settings.goal}; it is from 1 to {_MOST:,}.")
    if not 0 <= settings.honeypots <= _MOST_HONEYPOTS:
        problems.append(f"'honeypots' is {settings.honeypots}; it is a share from 0 to {_MOST_HONEYPOTS}.")
    return problems
