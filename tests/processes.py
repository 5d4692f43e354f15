"""Which processes run, for tests that look at what was started and what is left."""

import contextlib
from collections.abc import Iterable

import psutil


def running(part: str, among: Iterable[psutil.Process] | None = None) -> list[psutil.Process]:
    """The processes whose command line holds that text; those that have ended, waited for or not, are none."""
    candidates = psutil.process_iter() if among is None else among
    return [process for process in candidates if part in command(process)]


def command(process: psutil.Process) -> str:
    """The command line, or nothing of a process that has ended."""
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""
