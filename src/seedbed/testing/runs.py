"""What every RunContext must satisfy, as functions that take a way to make one.

`make(root, seed, resume)` gives a new run whose files, if it has any, lie under `root`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from seedbed.base.run import RunContext


class Make(Protocol):
    """Makes a run."""

    def __call__(self, root: Path, *, seed: int, resume: Path | None) -> RunContext: ...


def check_it_keeps_the_seed_and_the_checkpoint_to_resume_from(make: Make, root: Path) -> None:
    """What it was made with is what the work sees."""
    run = make(root, seed=7, resume=root / "old")
    assert (run.seed, run.resume) == (7, root / "old")
    assert make(root, seed=0, resume=None).resume is None


def check_the_scratch_folder_is_there_and_stays(make: Make, root: Path) -> None:
    """The work can write into its folder without making it first, and finds there what it wrote."""
    run = make(root, seed=0, resume=None)
    (run.folder / "note").write_text("kept")
    assert (run.folder / "note").read_text() == "kept"


def check_reports_may_be_empty_or_full(make: Make, root: Path) -> None:
    """Work may say only what it is doing, only numbers, or both."""
    run = make(root, seed=0, resume=None)
    run.report(doing="reading")
    run.report({"loss": 0.5}, step=1, total=10)
    run.report({"loss": 0.25, "accuracy": 1}, step=2, total=10, doing="training")


def check_a_checkpoint_is_written_into_an_empty_folder(make: Make, root: Path) -> None:
    """Even when one of the same step was made before."""
    run = make(root, seed=0, resume=None)
    found: list[list[Path]] = []

    def write(folder: Path) -> None:
        found.append(list(folder.iterdir()))
        (folder / "state").write_text("x")

    run.checkpoint(write, step=3)
    run.checkpoint(write, step=3)
    assert found == [[], []]


def check_a_checkpoint_that_fails_raises_what_the_work_raised(make: Make, root: Path) -> None:
    """And the next one can be made all the same."""
    run = make(root, seed=0, resume=None)

    def fail(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise ZeroDivisionError

    try:
        run.checkpoint(fail, step=1)
    except ZeroDivisionError:
        run.checkpoint(lambda folder: None, step=1)
        return
    raise AssertionError("what the work raised was swallowed")


def check_nobody_asks_a_new_run_to_stop(make: Make, root: Path) -> None:
    """should_stop begins as False."""
    assert make(root, seed=0, resume=None).should_stop() is False


CHECKS: list[Callable[[Make, Path], None]] = [
    check_it_keeps_the_seed_and_the_checkpoint_to_resume_from,
    check_the_scratch_folder_is_there_and_stays,
    check_reports_may_be_empty_or_full,
    check_a_checkpoint_is_written_into_an_empty_folder,
    check_a_checkpoint_that_fails_raises_what_the_work_raised,
    check_nobody_asks_a_new_run_to_stop,
]
