"""`seedbed up`, its heavy half: the service behind a socket, with the scheduler beside it as a process of its own."""

import contextlib
import json
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import typer
import uvicorn
from fastapi import FastAPI

from seedbed.base.settings import Settings
from seedbed.faces.api.app import create_app
from seedbed.faces.cli.keeper import Keeper
from seedbed.faces.ui.app import mount
from seedbed.flows.platform import Platform

_GRACE = 5  # seconds that open requests have when the server stops


def host(settings: Settings, listening: socket.socket) -> None:
    """Open the home and answer on the socket until told to stop."""
    with contextlib.ExitStack() as stack:
        platform = stack.enter_context(Platform.open(settings))
        token = None if settings.team else os.environ.get("SEEDBED_TOKEN") or secrets.token_urlsafe(24)
        code = secrets.token_urlsafe(24) if settings.team and platform.users.empty() else None
        app = create_app(platform, settings=settings, solo_token=token, set_up_code=code)
        mount(app, platform)
        stack.enter_context(Keeper(settings))
        stack.enter_context(_announced(settings.home, _url(settings, listening), token, code))
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
    # uvicorn raises the signal that stopped it again once it has stopped: by default that would end us uncleaned
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


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
        typer.echo(f"Seedbed is at {url}")
        typer.echo(f"Set up the first operator: {url}/set-up?code={code}")
        typer.echo("The link works once. Ctrl-C stops the server.")
    else:
        typer.echo(f"Seedbed is at {url}")
        typer.echo("Ctrl-C stops the server.")
    sys.stdout.flush()


def _write_private(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)
