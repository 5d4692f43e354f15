"""What to do with what came out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seedbed.faces.cli.output import say

if TYPE_CHECKING:
    from seedbed.faces.client.results import Job

_FILES_OF = {"download": "model's files", "predictions": "predictions"}


def say_how_to_get(jobs: "Sequence[Job]", *, quiet: bool) -> None:
    """The command that brings each result onto this machine."""
    for job in () if quiet else jobs:
        for output, uuid in job["outputs"].items():
            if output in _FILES_OF:
                say(f"Get the {_FILES_OF[output]}: seedbed store get {uuid} FOLDER")
