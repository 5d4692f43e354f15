"""The pictures of the docs: the demonstration recipe for real, looked at while it runs and when it is done."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from seedbed.assets.access.roles import SOLO
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State
from tests.faces.ui.conftest import TOKEN, Served, Watched, alive, entered
from tests.faces.ui.content import ended
from tests.faces.ui.test_pages import PICTURES, picture

LARGEST = 250_000  # bytes of one picture
DEMO = {"count_per_class": 40, "train": {"steps": 120, "evaluate_every": 15}}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """docs/pictures where that is asked for, else a place that nobody sees."""
    if not os.environ.get("SEEDBED_PICTURES"):
        return tmp_path_factory.mktemp("pictures")
    PICTURES.mkdir(parents=True, exist_ok=True)
    return PICTURES


@pytest.fixture(scope="module")
def demo(serve: object) -> tuple[Served, dict[str, Job]]:
    """The recipe, started; by the name of each job."""
    served: Served = serve(TOKEN)  # type: ignore[operator]
    jobs = served.platform.models.start_recipe("demo", DEMO, by=SOLO)
    return served, {job.name: job for job in jobs}


@pytest.fixture
def page(browser: Browser, demo: tuple[Served, dict[str, Job]]) -> Iterator[Watched]:
    context = entered(browser, demo[0])
    yield Watched(context.new_page())
    context.close()


def shoot(page: Page, name: str, folder: Path) -> None:
    """A picture that a page of the docs shows."""
    picture(page, name, folder)
    assert (folder / f"{name}.png").stat().st_size < LARGEST


def test_a_training_is_watched_while_it_learns(page: Watched, demo: tuple[Served, dict[str, Job]]):
    served, jobs = demo
    for name in ("leaves.draw-leaves", "leaves.ingest", "leaves.sample-labels"):
        assert ended(served.platform, jobs[name], 300).state == State.DONE
    train = page.go(f"{served.url}/jobs/{jobs['leaves.train'].id}")
    expect(train.locator(".state.running")).to_be_visible(timeout=120_000)
    train.wait_for_function("Number(document.querySelector('[role=progressbar]').ariaValueNow) > 60", timeout=300_000)
    page.go(f"{served.url}/queue")
    assert page.wrong == []


def test_results_are_told_in_words_and_pictures(page: Watched, demo: tuple[Served, dict[str, Job]], folder: Path):
    served, jobs = demo
    found = {name: ended(served.platform, job, 900) for name, job in jobs.items()}
    assert {job.state for job in found.values()} == {State.DONE}
    shoot(page.go(f"{served.url}/jobs/{found['leaves.label-all'].id}"), "labelled", folder)
    project = served.platform.projects.list(by=SOLO)[0]
    pair = ",".join(found[name].id for name in ("leaves.train", "leaves-labels-alone.train"))
    for path in (
        "/",
        f"/jobs/{found['leaves.evaluate'].id}",
        f"/bundles/{found['leaves.train'].outputs['model']}",
        f"/compare?jobs={pair}",
        "/bundles",
        f"/data/{found['leaves.ingest'].outputs['data']}",
        "/doctor",
    ):
        page.go(served.url + path)
    report = found["leaves.evaluate"].outputs["report"]
    shown = page.go(f"{served.url}/bundles/{report}")
    shown.get_by_role("heading", name="How sure it is").evaluate("head => head.scrollIntoView()")
    shoot(shown, "report", folder)
    form = page.go(f"{served.url}/projects/{project.id}")
    form.get_by_text("Advanced", exact=True).click()
    form.locator("#training").evaluate("card => card.scrollIntoView()")
    shoot(form, "train", folder)
    assert page.wrong == []
    assert page.hosts == {"127.0.0.1"}


def test_the_key_to_everything_is_a_token(page: Watched, demo: tuple[Served, dict[str, Job]]):
    served, _ = demo
    page.page.context.clear_cookies()
    page.page.goto(f"{served.url}/queue")
    expect(page.page.get_by_role("button", name="Sign in")).to_be_visible()
    page.page.get_by_label("Token").fill(TOKEN)
    page.page.get_by_role("button", name="Sign in").click()
    alive(page.page)
    assert page.page.url == f"{served.url}/queue"
