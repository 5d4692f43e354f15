"""The runs of a long table, a few at a time, each a row when it is done: a later call goes on where one ended."""

import multiprocessing
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures import TimeoutError as TooLate
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from benchmarks.few_labels import Rows

Job = Mapping[str, Any]
Row = dict[str, Any]


def fill(
    rows: Rows,
    jobs: Iterable[Job],
    run: Callable[[Job], Row],
    line: Callable[[Job], str],
    *,
    minutes: float,
    workers: int = 1,
) -> None:
    """Do the jobs that have no row yet, in their order, until the time is over.

    One worker is this process: it ends what it has begun, and begins nothing when less time is left than the longest
    job took so far. Several are processes of their own, and what they have not finished in time is dropped. `run` must
    be importable for them. A job that fails is told of and has no row, so that a later call tries it again; the others
    go on, and it is an error only when every job failed.
    """
    todo, until = [job for job in jobs if not rows.done(job)], time.monotonic() + 60 * minutes
    if not todo or minutes <= 0:
        return
    failed: list[Exception] = []
    done = 0
    for found in _here(todo, run, until) if workers == 1 else _beside(todo, run, until, workers):
        if isinstance(found, Exception):
            print("".join(traceback.format_exception(found)), file=sys.stderr, flush=True)
            failed.append(_alone(found))
            continue
        rows.append(found)
        done += 1
        print(f"{done} of {len(todo)}: {line(found)}", file=sys.stderr, flush=True)
    if failed and not done:
        raise failed[0]
    if failed:
        print(f"{len(failed)} of {len(todo)} failed, and have no row.", file=sys.stderr, flush=True)


def _end_with_parent() -> None:
    """A worker whose call was killed would go on for minutes, and slow down what is measured next."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _alone(error: Exception) -> Exception:
    """Without the frames that it passed through: they would hold a GPU's memory."""
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


def _here(todo: list[Job], run: Callable[[Job], Row], until: float) -> Iterator[Row | Exception]:
    longest = 0.0
    for job in todo:
        began = time.monotonic()
        if began + longest > until:
            return
        try:
            yield run(job)
        except Exception as error:
            yield error
        longest = max(longest, time.monotonic() - began)


def _beside(todo: list[Job], run: Callable[[Job], Row], until: float, workers: int) -> Iterator[Row | Exception]:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # with threads for every core in every process, they mostly wait
    alone = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=alone, initializer=_end_with_parent) as pool:
        futures = [pool.submit(run, job) for job in todo]
        try:
            for future in as_completed(futures, timeout=max(0.0, until - time.monotonic())):
                error = future.exception()
                if error is not None and not isinstance(error, Exception):
                    raise error
                yield error or future.result()
                if isinstance(error, BrokenProcessPool):  # a worker died, and every other job would say the same
                    return
        except TooLate:
            processes = list((pool._processes or {}).values())  # which a pool that is shut down no longer knows
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()
