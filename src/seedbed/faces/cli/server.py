"""`seedbed up`: one server per home, with the scheduler beside it as a process of its own."""

import contextlib
import fcntl
import json
import logging
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
import uvicorn
from fastapi import FastAPI

from seedbed.base.errors import Conflict, Unavailable
from seedbed.base.settings import Settings, load_settings
from seedbed.faces.api.app import create_app
from seedbed.faces.cli.keeper import Keeper
from seedbed.faces.ui.app import mount
from seedbed.flows.platform import Platform

_GRACE = 5  # seconds that open requests have when the server stops


def serve(flags: dict[str, Any]) -> None:
    """Serve until told to stop (Ctrl-C, SIGTERM). Jobs that run go on under their supervisors."""
    settings = load_settings(flags)
    logging.basicConfig(level=logging.INFO if os.environ.get("SEEDBED_DEBUG") else logging.WARNING)
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _only_one(settings.home), contextlib.ExitStack() as stack:
        listening = stack.enter_context(_listen(settings.host, settings.port))
        platform = Platform.open(settings)
        stack.callback(platform.close)
        token = None if settings.team else os.environ.get("SEEDBED_TOKEN") or secrets.token_urlsafe(24)
        code = secrets.token_urlsafe(24) if settings.team and platform.users.empty() else None
        app = create_app(platform, settings=settings, solo_token=token, set_up_code=code)
        mount(app, platform)
        url = _url(settings, listening)
        stack.enter_context(Keeper(settings))
        stack.enter_context(_announced(settings.home, url, token, code))
        _run(app, listening, settings)


def _run(app: FastAPI, listening: socket.socket, settings: Settings) -> None:
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # it would write tokens of addresses into logs
        server_header=False,
        proxy_headers=bool(settings.public_url),
        timeout_graceful_shutdown=_GRACE,
    )
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn raises the signal again once it has stopped
        uvicorn.Server(config).run(sockets=[listening])


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


def _url(settings: Settings, listening: socket.socket) -> str:
    if settings.public_url:
        return settings.public_url.rstrip("/")
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::", "") else settings.host
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


@contextlib.contextmanager
def _announced(home: Path, url: str, token: str | None, code: str | None) -> Iterator[None]:
    """Say where the server is once it listens: on the terminal, and in server.json for programs of the same user."""
    note = home / "server.json"
    written = {"pid": os.getpid(), "started": time.time(), "url": url, "token": token or "", "set_up": code or ""}
    _write_private(note, json.dumps(written))
    threading.Thread(target=_greet, args=(url, token, code), daemon=True).start()
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def _greet(url: str, token: str | None, code: str | None) -> None:
    if token is not None:
        typer.echo(f"Seedbed is at {url}/?token={token}")
        typer.echo("Keep this address to yourself: whoever has it may do everything. Ctrl-C stops the server.")
    elif code is not None:
        typer.echo(f"Seedbed is at {url}. Set up the first operator: {url}/set-up?code={code}")
        typer.echo("The link works once. Ctrl-C stops the server.")
    else:
        typer.echo(f"Seedbed is at {url}. Ctrl-C stops the server.")
    sys.stdout.flush()


def _write_private(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)
