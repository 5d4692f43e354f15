"""Progress of work that is cheap to begin again: it stops between two reports, without a checkpoint."""

from collections.abc import Callable

from seedbed.base.run import RunContext, Stopped


def stoppable(run: RunContext, doing: str) -> Callable[[int, int], None]:
    """A callback for (done, total) that reports, and raises Stopped when the work should make room."""

    def tell(done: int, total: int) -> None:
        run.report(step=done, total=total, doing=doing)
        if run.should_stop() and done < total:
            raise Stopped

    return tell
