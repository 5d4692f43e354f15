"""The ways to choose what is worth a label next that a project can name, known without loading one."""

from collections.abc import Iterator

from seedbed.base.registry import near_matches
from seedbed.base.text import made_plain
from seedbed.flows.unloaded import about, rows_of

_WHERE = ("seedbed.methods.label.choose", "CHOOSERS")


def choosers() -> dict[str, str]:
    """Name of each, with one line on what it does."""
    return {name: about(row) for name, row in rows_of(*_WHERE).items()}


def chooser_problems(name: object) -> Iterator[str]:
    """What is wrong with the name of a chooser, in a sentence; whether it is a text at all is for the settings."""
    known = rows_of(*_WHERE)
    if isinstance(name, str) and name not in known:
        yield f"There is no chooser '{made_plain(name, longest=80)}'. {near_matches(name, known)}"
