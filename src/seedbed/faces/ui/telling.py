"""Short messages on the page of whoever acts."""

from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps

from nicegui import ui

from seedbed.base.errors import SeedbedError


def say_so(text: str) -> None:
    """A short message that something went well."""
    ui.run_javascript(f"seedbed.toast({dumps(text)})")


@contextmanager
def telling() -> Iterator[None]:
    """What is refused within is said on the page, and ends there."""
    try:
        yield
    except SeedbedError as error:
        ui.run_javascript(f"seedbed.toast({dumps(str(error))}, {{state: 'failed'}})")
