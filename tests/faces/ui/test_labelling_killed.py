"""A server that is killed in the middle of labelling: nothing that was labelled is lost or doubled."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.synthetic import write_leaves
from seedbed.base.settings import load_settings
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.states import State
from tests.faces.ui.conftest import TOKEN, Served, _free_port, entered
from tests.faces.ui.content import ended
from tests.faces.ui.test_labelling import all_saved, events, image, label, make_project, said


class Mortal:
    """A server that can be killed and started again at its address."""

    def __init__(self, home: Path) -> None:
        self.home, self.port = home, _free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, token: str = TOKEN) -> None:
        command = [sys.executable, "-m", "tests.faces.ui.serve", str(self.home), str(self.port), token]
        with (self.home / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=Path(__file__).parents[3], stdout=log, stderr=log)
        until = time.monotonic() + 90
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{self.port}/api/v1/health", timeout=5)
                return
            except httpx.TransportError:
                assert time.monotonic() < until, (self.home / "server.log").read_text()
                time.sleep(0.05)

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Mortal]:
    server = Mortal(tmp_path)
    server.start()
    yield server
    server.kill()


def drawn(served: Served, folder: Path) -> str:
    """A project of leaves."""
    write_leaves(folder, 20, seed=3)
    job = ended(served.platform, served.platform.data.add(folder, name="leaves", by=SOLO))
    assert job.state == State.DONE, job.reason
    return make_project(served, job.outputs["data"], ["healthy", "rust", "mildew"])


@pytest.mark.slow
def test_a_server_killed_in_the_middle_loses_and_doubles_no_label(mortal: Mortal, browser: Browser, tmp_path: Path):
    with Platform.open(load_settings({"home": tmp_path}, environ={})) as platform:
        served = Served(f"http://127.0.0.1:{mortal.port}", platform)
        project = drawn(served, tmp_path / "leaves")
        context = entered(browser, served)
        page = label(context.new_page(), served, project)
        wanted = {}
        for number in range(60):
            if number == 20:
                mortal.kill()  # while labels are on their way
            if number == 40:
                page.close()  # and the browser's page goes too, with labels that wait
                mortal.start()
                page = label(context.new_page(), served, project)
                expect(image(page, 39)).to_have_attribute("data-state", "labelled")
                expect(image(page, 40)).to_have_attribute("data-cursor", "true")
            page.keyboard.press(str(number % 3 + 1))
            wanted[number] = ("healthy", "rust", "mildew")[number % 3]
        all_saved(page)
        assert said(served, project) == wanted
        counted = Counter(event["id"] for event in events(served, project))
        assert len(counted) == 60 and set(counted.values()) == {1}
        context.close()
        assert platform.jobs.list(by=SOLO, limit=10)[0].state.ended


@pytest.mark.slow
def test_who_is_no_longer_known_signs_in_again_and_what_waited_is_kept(
    mortal: Mortal, browser: Browser, tmp_path: Path
):
    with Platform.open(load_settings({"home": tmp_path}, environ={})) as platform:
        served = Served(f"http://127.0.0.1:{mortal.port}", platform)
        project = drawn(served, tmp_path / "leaves")
        context = entered(browser, served)
        page = label(context.new_page(), served, project)
        page.wait_for_function("window.did_handshake")  # only a connection that there was can be lost
        mortal.kill()
        page.keyboard.press("2")
        expect(page.locator("#popup")).to_contain_text("The server cannot be reached.")
        mortal.start("another-token-for-tests")
        expect(page.locator(".lb-saved")).to_have_text("1 label waits until you sign in again")
        page.locator("#popup").get_by_role("link", name="Sign in again").click()
        page.get_by_label("Token").fill("another-token-for-tests")
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_selector("#labelling[data-ready]")
        all_saved(page)
        expect(image(page, 0)).to_have_attribute("aria-label", "Image 1: rust")
        context.close()
