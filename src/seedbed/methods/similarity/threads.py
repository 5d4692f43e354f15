"""Small work by one thread: threads that share it wait for each other longer than they work.

One is several times as quick as two with matrices of a hundred rows, and ten times beside other work.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import torch


class _Threads:
    """How many threads torch takes for one operation: partly the caller's own matter, partly the whole process's.

    So whoever was there first knows how many are usual, and everybody brings them back on leaving. Who is still there
    may then be slower, not wrong.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._usual = 1

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._lock:
            self._usual = self._usual if self._inside else torch.get_num_threads()
            self._inside += 1
            torch.set_num_threads(1)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                torch.set_num_threads(self._usual)


one_thread = _Threads().one
