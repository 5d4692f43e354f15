"""Real servers for tests: `seedbed up` as a process of its own, on a free port, over a home of its own."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

_PATIENCE = 60.0


@dataclass
class Server:
    """A running server."""

    url: str
    token: str
    set_up: str
    home: Path
    process: subprocess.Popen[str]
    _clients: list[httpx.Client] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def scheduler(self) -> psutil.Process | None:
        """The process of its scheduler, once it is there."""
        for child in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.Error):
                if child.cmdline()[-1:] == ["scheduler"]:
                    return child
        return None

    def http(self, *, token: str | None = None) -> httpx.Client:
        """A client with the server's token, or another one; '' for none."""
        given = self.token if token is None else token
        return self._client({"Authorization": f"Bearer {given}"} if given else {})

    def browser(self) -> httpx.Client:
        """A client that says, as a browser does, that it comes from the server's own page; it keeps cookies."""
        return self._client({"Origin": self.url})

    def close(self) -> None:
        """Close the clients."""
        for client in self._clients:
            client.close()

    def _client(self, headers: dict[str, str]) -> httpx.Client:
        made = httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)
        self._clients.append(made)
        return made


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a command on a home, without what the person who runs the tests has set."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SEEDBED_")}
    return {**clean, "SEEDBED_HOME": str(home), "OMP_NUM_THREADS": "1", **more}


def command(*arguments: str) -> list[str]:
    """How `seedbed` is called."""
    return [sys.executable, "-m", "seedbed.faces.cli.main", *arguments]


def run(home: Path, *arguments: str, input: str | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """One command to its end."""
    return subprocess.run(
        command(*arguments), env=environment(home, **more), capture_output=True, text=True, input=input, timeout=280
    )


@contextlib.contextmanager
def serving(home: Path, *flags: str, **more: str) -> Iterator[Server]:
    """A server for the length of a block; it is told to stop in the end, and must."""
    with (home.parent / f"{home.name}.log").open("w+") as log:
        process = subprocess.Popen(
            command("up", "--port", "0", *flags), env=environment(home, **more), stdout=log, stderr=log, text=True
        )
        try:
            with contextlib.closing(_ready(home, process)) as server:
                yield server
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise


def _ready(home: Path, process: subprocess.Popen[str]) -> Server:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError, ValueError, httpx.TransportError):
            note = json.loads((home / "server.json").read_text())
            if note["pid"] == process.pid:
                httpx.get(f"{note['url']}/sign-in", timeout=5, trust_env=False)
                return Server(note["url"], note["token"], note["set_up"], home, process)
        time.sleep(0.05)
    raise AssertionError(f"The server did not come up: {(home.parent / f'{home.name}.log').read_text()}")
