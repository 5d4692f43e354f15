"""Bars for jobs: one line each, on stderr, so that stdout stays for results."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from seedbed.faces.client.results import Job


class _Drawn:
    """Bars that are drawn for the length of a block."""

    _progress: Progress

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


class Bars(_Drawn):
    """Shows jobs as they move; without a terminal, a line whenever the state of one changes."""

    def __init__(self, *, quiet: bool = False) -> None:
        console = Console(stderr=True, quiet=quiet)
        self._console = console
        self._tasks: dict[str, TaskID] = {}
        self._states: dict[str, str] = {}
        self._progress = Progress(
            TextColumn("{task.fields[name]}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[count]}", markup=False, justify="right"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[words]}", markup=False),
            console=console,
            disable=not console.is_terminal,
        )

    def show(self, job: Job) -> None:
        """Show a job as it stands now."""
        if not self._console.is_terminal:
            self._line(job)
            return
        total = max(job["step_total"], 1)
        now = total if job["state"] == "done" else min(job["step_now"], total)
        count = f"{job['step_now']}/{job['step_total']}" if job["step_total"] else ""
        if job["id"] not in self._tasks:
            name = job["name"] or job["step"]
            self._tasks[job["id"]] = self._progress.add_task(
                "", total=total, name=name, count="", words="", start=False
            )
        task = self._tasks[job["id"]]
        if job["state"] != "waiting":
            self._progress.start_task(task)
        self._progress.update(task, total=total, completed=now, count=count, words=_words(job))
        if job["ended"]:
            self._progress.stop_task(task)

    def _line(self, job: Job) -> None:
        if self._states.get(job["id"]) != job["state"]:
            self._states[job["id"]] = job["state"]
            self._console.print(
                f"{job['name'] or job['step']}: {_words(job)}", markup=False, highlight=False, soft_wrap=True
            )


class Download(_Drawn):
    """One bar for all bytes that are fetched; nothing without a terminal."""

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        console = Console(stderr=True, quiet=quiet)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            DownloadColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=max(total, 1))

    def file(self, name: str) -> None:
        """Say which file comes now."""
        self._progress.update(self._task, description=name)

    def more(self, size: int) -> None:
        """Some bytes have come."""
        self._progress.advance(self._task, size)


def _words(job: Job) -> str:
    if job["state"] == "running":
        return job["doing"] or "running"
    return f"{job['state']}: {job['reason']}" if job["reason"] else job["state"]
