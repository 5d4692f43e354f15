"""Small work by one thread: threads that share it wait for each other longer than they work.

One is several times as quick as two with matrices of a hundred rows, and ten times beside other work.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import TypeVar

import torch

Found = TypeVar("Found")


class _Threads:
    """How many threads torch takes for one operation: a number of each thread's own, and one for those new to torch.

    Whoever sets the former sets the latter too. So a thread whose first use of torch falls into here would stay with
    one for good: here it is given the usual number on leaving, and elsewhere it is slower, not wrong.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._usual = 1  # of threads that are new to torch, while nobody is inside

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._lock:
            own = torch.get_num_threads()
            if not self._inside:
                self._usual = _by_a_new_thread(torch.get_num_threads)
            elif own == 1:
                own = self._usual
            self._inside += 1
            torch.set_num_threads(1)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                torch.set_num_threads(own)
                if own != self._usual:
                    _by_a_new_thread(partial(torch.set_num_threads, self._usual))


def _by_a_new_thread(call: Callable[[], Found]) -> Found:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


one_thread = _Threads().one
