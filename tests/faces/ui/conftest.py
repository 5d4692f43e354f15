"""A real browser, a real server process, something real to look at."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    expect,
    sync_playwright,
)

from seedbed.assets.access.roles import SOLO
from seedbed.base.errors import Conflict
from seedbed.base.settings import load_settings
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.states import State
from tests.faces.ui.content import Content, ended, fill

CHROMIUM = Path("/usr/bin/chromium")
TOKEN = "a-token-for-tests"
DESK, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}

expect.set_options(timeout=15_000)  # three times the usual: a busy machine draws late


@dataclass(frozen=True)
class Served:
    """A running server, its home opened beside it, and what is in it."""

    url: str
    platform: Platform
    content: Content | None = None

    @property
    def entrance(self) -> str:
        """The address with the token, as it is printed."""
        return f"{self.url}/?token={TOKEN}"

    @property
    def cookie(self) -> dict[str, str]:
        """What that address leaves in a browser."""
        return {"name": f"seedbed-{self.url.rpartition(':')[2]}", "value": TOKEN, "url": self.url}


class Watched:
    """A page with everything that went wrong on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.wrong: list[str] = []
        self.hosts: set[str] = set()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.wrong.append(f"script: {error}"))
        page.on("request", self._asked)
        page.on("response", self._answered)

    def go(self, url: str) -> Page:
        """Open an address and wait until it is alive."""
        self.page.goto(url)
        alive(self.page)
        return self.page

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:")):
            self.hosts.add(request.url.split("/")[2].split(":")[0])

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.wrong.append(f"{response.status}: {response.url}")


# the network idle for half a second, which Playwright can wait for, would be a minute of the whole run
ALIVE = """() => {
  const below = (image) => !image.checkVisibility() || image.getBoundingClientRect().top > innerHeight;
  return window.did_handshake && document.readyState === "complete" && document.fonts.status === "loaded"
    && [...document.images].every((image) => image.complete || below(image))
    && [...document.querySelectorAll(".chart")].every((chart) => chart.querySelector("svg") || !chart.checkVisibility())
}"""


def alive(page: Page) -> None:
    """Connected, drawn, fonts and pictures there."""
    page.wait_for_function(ALIVE)


def entered(browser: Browser, served: Served) -> BrowserContext:
    """A browser of its own that has been let in."""
    context = browser.new_context(viewport=DESK, color_scheme="light")  # type: ignore[arg-type]
    context.set_default_timeout(30_000)
    context.add_cookies([served.cookie])  # type: ignore[list-item]
    return context


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; module scope, because an open Playwright disturbs later event loops."""
    if not CHROMIUM.exists():
        if os.environ.get("CI"):
            pytest.fail("Chromium is needed here: apt-get install chromium.")
        pytest.skip("The pages are tested in Chromium, which is not here: apt-get install chromium.")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        found = playwright.chromium.launch(executable_path=str(CHROMIUM), args=arguments)
        yield found
        found.close()


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    """Starts servers, with settings as seedbed.toml has them, and ends them with all their jobs."""
    stops = []

    def start(token: str, settings: str = "") -> Served:
        home, port = tmp_path_factory.mktemp("home"), _free_port()
        (home / "seedbed.toml").write_text(settings)
        command = [sys.executable, "-m", "tests.faces.ui.serve", str(home), str(port), *([token] if token else [])]
        with (home / "server.log").open("wb") as log:
            process = subprocess.Popen(command, cwd=Path(__file__).parents[3], stdout=log, stderr=log)
        served = Served(f"http://127.0.0.1:{port}", _opened(home, process, port))
        stops.append(lambda: _stop(served.platform, process, home / "server.log"))
        return served

    yield start
    for stop in stops:
        stop()


@pytest.fixture(scope="module")
def solo(serve: Callable[[str], Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    """One person's server, with content."""
    served = serve(TOKEN)
    return Served(served.url, served.platform, fill(served.platform, tmp_path_factory.mktemp("content")))


@pytest.fixture(scope="module")
def served(solo: Served) -> Served:
    """The server that `shared` and `watched` look at: a file of tests with one of its own says so by this name."""
    return solo


@pytest.fixture(scope="module")
def shared(browser: Browser, served: Served) -> Iterator[BrowserContext]:
    """One browser for many pages: what was fetched once is kept, as at people's."""
    context = entered(browser, served)
    yield context
    context.close()


@pytest.fixture
def watched(shared: BrowserContext) -> Iterator[Watched]:
    """A page of that browser."""
    page = shared.new_page()
    yield Watched(page)
    page.close()


def _opened(home: Path, process: "subprocess.Popen[bytes]", port: int) -> Platform:
    until = time.monotonic() + 90
    while True:
        try:
            httpx.get(f"http://127.0.0.1:{port}/api/v1/health", timeout=5)
            return Platform.open(load_settings({"home": home}, environ={}))
        except httpx.TransportError:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError((home / "server.log").read_text()) from None
            time.sleep(0.1)


def _stop(platform: Platform, process: "subprocess.Popen[bytes]", log: Path) -> None:
    open_jobs = [job for job in platform.jobs.list(by=SOLO, limit=1000) if not job.state.ended]
    for job in sorted(open_jobs, key=lambda one: one.state != State.WAITING):
        with suppress(Conflict):  # it may have ended by itself meanwhile
            platform.jobs.cancel(job.id, by=SOLO)
    for job in open_jobs:
        ended(platform, job)
    platform.close()
    process.send_signal(signal.SIGINT)
    process.wait(30)
    # requests that a browser gives up may leave a trace of their own; none may come out of the pages
    assert "faces/ui/" not in log.read_text(), log.read_text()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
