"""Counts slowly: to see how jobs start, stop, resume and end, without any machine learning."""

import time
from pathlib import Path

from pydantic import Field

from seedbed.base.resources import Resources
from seedbed.base.run import RunContext, Stopped
from seedbed.flows.kinds.labels import Count
from seedbed.flows.step import Params, step


class SleepAndCountParams(Params):
    """How far, and how slowly."""

    steps: int = Field(10, ge=1, le=1_000_000, description="How far to count.")
    seconds_per_step: float = Field(1.0, ge=0, le=3600, description="How long each step sleeps.")
    checkpoint_every: int = Field(1, ge=1, description="Steps between checkpoints.")
    tag: str = Field("", max_length=100, description="Any text: another one makes it another piece of work.")


@step("sleep-and-count", resources=Resources(cpus=0.1, memory=128 << 20), seed_matters=True)
def sleep_and_count(params: SleepAndCountParams, run: RunContext) -> Count:
    """Counts to a number, a step at a time, with checkpoints: for tutorials and durability runs."""
    done = int((run.resume / "count.txt").read_text()) if run.resume else 0
    while done < params.steps:
        _sleep(params.seconds_per_step, run)
        if not run.should_stop():
            done += 1
            run.report({"count": done}, step=done, total=params.steps, doing="counting")
        if run.should_stop() or done % params.checkpoint_every == 0:
            _keep(done, run)
        if run.should_stop():
            raise Stopped
    return Count.write(run.folder / "count", done, line=f"{params.steps} {params.tag} {run.seed}")


def _sleep(seconds: float, run: RunContext) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not run.should_stop():
        time.sleep(min(left, 0.2))


def _keep(done: int, run: RunContext) -> None:
    def write(folder: Path) -> None:
        (folder / "count.txt").write_text(str(done))

    run.checkpoint(write, step=done)
