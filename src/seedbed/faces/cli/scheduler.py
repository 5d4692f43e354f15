"""The scheduler's process: runs until its standard input ends, that is, until its server does."""

import logging
import os
import signal
import sys
import threading

from seedbed.base.settings import load_settings
from seedbed.flows.platform import Platform

_GRACE = 8.0  # seconds for the last turn


def run_until_parent_ends() -> None:
    """Schedule until the parent closes the pipe or is gone."""
    logging.basicConfig(level=logging.INFO if os.environ.get("SEEDBED_DEBUG") else logging.WARNING)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch_parent, args=(stop,), daemon=True).start()
    with Platform.open(load_settings()) as platform:
        platform.serve_scheduler(stop)


def _watch_parent(stop: threading.Event) -> None:
    sys.stdin.buffer.read()
    stop.set()
    threading.Timer(_GRACE, os._exit, (0,)).start()  # whatever holds the last turn up: nobody outlives its server
