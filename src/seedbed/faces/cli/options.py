"""Options that many commands share, and how their texts are read."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from seedbed.base.errors import InvalidInput
from seedbed.faces.cli.completion import PROJECTS

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Detach = Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for the job.")]
Limit = Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")]
Project = Annotated[str, typer.Option(help="A project's name or id.", autocompletion=PROJECTS)]
Params = Annotated[list[str] | None, typer.Option("--param", "-p", help="NAME=VALUE, the value as JSON or text.")]


def pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """NAME=VALUE texts; every mistake at once."""
    refuse_unpaired({option: given})
    return dict((text.partition("=")[0], text.partition("=")[2]) for text in given or [])


def refuse_unpaired(options: Mapping[str, list[str] | None]) -> None:
    """Every text of several options that is not NAME=VALUE, at once."""
    wrong = [(option, text) for option, given in options.items() for text in given or [] if "=" not in text[1:]]
    if wrong:
        which = dict.fromkeys(option for option, _ in wrong)
        raise InvalidInput(
            f"{' and '.join(which)} {'are' if len(which) > 1 else 'is'} written NAME=VALUE.",
            problems=[f"{option} '{text}' is not of that form." for option, text in wrong],
        )


def values(given: list[str] | None, option: str) -> dict[str, Any]:
    """NAME=VALUE texts whose values are JSON, or else plain text."""
    return {name: _value(text) for name, text in pairs(given, option).items()}


def sure(question: str, *, yes: bool) -> None:
    """Ask before what cannot be undone; without a terminal the answer has to be given as --yes."""
    if not yes and not typer.confirm(question):
        raise typer.Abort


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
