"""The runs of a long table, a few at a time, each a row when it is done: a later call goes on where one ended."""

import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures import TimeoutError as TooLate
from typing import Any

from benchmarks.few_labels import Rows

Job = Mapping[str, Any]


def fill(
    rows: Rows,
    jobs: Iterable[Job],
    run: Callable[[Job], dict[str, Any]],
    line: Callable[[Job], str],
    *,
    minutes: float,
    workers: int = 1,
) -> None:
    """Do the jobs that have no row yet, in their order, until the time is over.

    One worker is this process, and ends what it has begun; several are processes of their own, and what they have not
    finished in time is dropped. `run` must be importable for them.
    """
    todo = [job for job in jobs if not rows.done(job)]
    until = time.monotonic() + 60 * minutes
    for done, row in enumerate(_here(todo, run, until) if workers == 1 else _beside(todo, run, until, workers), 1):
        rows.append(row)
        print(f"{done} of {len(todo)}: {line(row)}", file=sys.stderr, flush=True)


def _here(todo: list[Job], run: Callable[[Job], dict[str, Any]], until: float) -> Iterable[dict[str, Any]]:
    for job in todo:
        if time.monotonic() > until:
            return
        yield run(job)


def _beside(
    todo: list[Job], run: Callable[[Job], dict[str, Any]], until: float, workers: int
) -> Iterable[dict[str, Any]]:
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(run, job) for job in todo]
        try:
            for future in as_completed(futures, timeout=max(0.0, until - time.monotonic())):
                yield future.result()
        except TooLate:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list((pool._processes or {}).values()):
                process.kill()
