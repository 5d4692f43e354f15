"""What commands print: tables for people, JSON for scripts."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import typer

from seedbed.faces.cli.heavy import HEAVY

_SHORT = 18  # enough of a version 7 uuid to be unique among those of one millisecond


def show_json(value: object) -> None:
    """A value as JSON on stdout."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def say(text: str) -> None:
    """A line on stdout."""
    typer.echo(text)


def note(text: str) -> None:
    """A line on stderr: about the work, not its result."""
    typer.echo(text, err=True)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """Rows under headings, or a sentence that says what to do when there are none."""
    listed = list(rows)
    if listed:
        HEAVY.get("table")(columns, listed)
    else:
        say(empty)


def show_record(record: Mapping[str, Any]) -> None:
    """A record as lines `name  value`."""
    HEAVY.get("record")(record)


def when(instant: float) -> str:
    """A time for people, in their own time zone."""
    return datetime.fromtimestamp(instant).astimezone().strftime("%Y-%m-%d %H:%M") if instant else ""


def lasted(started: float, ended: float) -> str:
    """How long something took, or has taken so far."""
    if not started:
        return ""
    seconds = (ended or time.time()) - started
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def short(identifier: str) -> str:
    """The beginning of an id, which is enough to name it."""
    return identifier[:_SHORT]
