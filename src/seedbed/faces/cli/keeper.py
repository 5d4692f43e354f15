"""Keeps the scheduler's process alive while the server lives, and only then."""

import logging
import os
import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import Self

from seedbed.base.settings import Settings

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
_GOOD_RUN = 10.0  # seconds after which a death is no longer counted as part of a series
_log = logging.getLogger(__name__)


class Keeper:
    """Starts `seedbed scheduler` as a child, and again when it dies.

    The child ends when its standard input does: the operating system closes the pipe when we end, even by kill -9.
    It is in a session of its own, so that Ctrl-C in the terminal reaches it only through us.
    """

    def __init__(self, settings: Settings) -> None:
        self._environment = {**os.environ, "SEEDBED_HOME": str(settings.home)}
        self._stopping = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._stopping.set()
            child = self._child
        if child is not None:
            _end(child)
        self._thread.join(5)

    def _keep(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            with self._lock:
                if self._stopping.is_set():
                    return
                child = self._child = self._start()
            began = time.monotonic()
            code = child.wait()
            if self._stopping.is_set():
                return
            _log.warning("The scheduler ended with %s; it is started again. Running jobs go on.", code)
            pause = _FIRST_PAUSE if time.monotonic() - began > _GOOD_RUN else min(2 * pause, _LONGEST_PAUSE)
            self._stopping.wait(pause)

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "seedbed.faces.cli.main", "scheduler"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, env=self._environment, start_new_session=True)


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.stdin is not None:
        child.stdin.close()
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
