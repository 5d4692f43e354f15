"""`seedbed up`, its light half: one server per home, on a port that is free; only then is the heavy half loaded."""

import contextlib
import fcntl
import json
import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seedbed.base.errors import Conflict, Unavailable
from seedbed.faces.cli.heavy import HEAVY


def serve(flags: dict[str, Any]) -> None:
    """Serve until told to stop (Ctrl-C, SIGTERM). Jobs that run go on under their supervisors."""
    settings = HEAVY.get("settings")(flags)
    logging.basicConfig(level=logging.INFO if os.environ.get("SEEDBED_DEBUG") else logging.WARNING)
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _only_one(settings.home), _listen(settings.host, settings.port) as listening:
        HEAVY.get("host")(settings, listening)


@contextlib.contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Hold the home's lock; it falls with the process, however that ends, so it is never stale."""
    with (home / "server.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            known = running(home)
            where = f" at {known['url']}" if known else ""
            raise Conflict(
                f"A server is already running on {home}{where}.",
                hint="Use that one, stop it first, or choose another home: seedbed --home FOLDER up",
            ) from None
        yield


def running(home: Path) -> dict[str, Any] | None:
    """What a running server wrote about itself."""
    try:
        found = json.loads((home / "server.json").read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


@contextlib.contextmanager
def _listen(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise Unavailable(
                f"Cannot serve on {host}:{port}: {error.strerror or error}.",
                hint="Choose another port: seedbed up --port 0 takes a free one.",
            ) from None
        yield listening
