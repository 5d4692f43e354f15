"""The zoo for real: trainings become starting points by one command each, and a new data set is compared by clicks."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import expect

from seedbed.assets.access.roles import SOLO
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State
from tests.faces.ui.conftest import TOKEN, Served, Watched
from tests.faces.ui.content import ended
from tests.faces.ui.test_pictures import folder, shoot
from tests.faces.ui.zoo_content import bring

__all__ = ["folder"]  # the fixture

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
QUICK = {"size": 64, "steps": 36, "labelled_batch": 16, "unlabelled_batch": 8, "algorithm": "supervised"}
CARDS = {"wheat 2025": "wheat leaves", "night camera": "leaves at night"}


@pytest.fixture(scope="module")
def served(serve: Callable[..., Served]) -> Served:
    return serve(TOKEN, 'baseline = "everyday things"\n')


@pytest.fixture(scope="module")
def zoo(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """Three data sets of leaves, one of everyday things, and two trainings that became cards."""
    platform, place = served.platform, tmp_path_factory.mktemp("zoo")
    things = _things(place / "everyday things")
    done(platform, [platform.data.add(things, name="everyday things", size=64, by=SOLO)])
    bring(platform, place, per_class=8)
    trained = {
        card: platform.models.train(data, str(place / f"{data}-truth.csv"), params=QUICK, weights="pretrained", by=SOLO)
        for card, data in CARDS.items()
    }
    for card, jobs in trained.items():
        steps = {job.step: job for job in jobs}
        done(platform, [steps["train"], steps["evaluate"]])
        done(platform, platform.zoo.add(steps["train"].id, name=card, licence="CC-BY-4.0", by=SOLO))
    return served


def done(platform: Platform, jobs: list[Job]) -> None:
    for job in jobs:
        found = ended(platform, job, 300)
        assert found.state is State.DONE, found.reason


def _things(folder: Path) -> Path:
    """Round and square things of all colours."""
    draws = np.random.default_rng(7)
    for kind in ("round", "square"):
        (folder / kind).mkdir(parents=True)
        for number in range(18):
            picture = Image.fromarray(draws.integers(90, 220, (64, 64, 3), dtype=np.uint8).astype(np.uint8))
            pen, colour = ImageDraw.Draw(picture), tuple(int(one) for one in draws.integers(0, 255, 3))
            left, top, side = (int(one) for one in draws.integers((4, 4, 20), (20, 20, 40)))
            shape = pen.ellipse if kind == "round" else pen.rectangle
            shape((left, top, left + side, top + side), fill=colour)
            picture.save(folder / kind / f"{number}.png")
    return folder


def test_a_new_data_set_finds_its_start_and_is_laid_beside_the_others(watched: Watched, zoo: Served, folder: Path):
    page = watched.go(f"{zoo.url}/zoo")
    expect(page.locator("tr", has_text="night camera")).to_contain_text("leaves at night")
    page.get_by_role("button", name="Compare it with all weights").click()
    page.wait_for_url("**/zoo/rank/*")
    expect(page.locator(".candidate").first).to_contain_text("wheat 2025", timeout=200_000)
    expect(page.locator(".candidate").first).to_contain_text("nearer than ImageNet's images")
    expect(page.locator(".candidate").nth(1).locator(".pair img")).to_have_count(12)
    shoot(watched.go(f"{zoo.url}/zoo/rank/bean leaves"), "zoo-rank", folder)
    page = watched.go(f"{zoo.url}/zoo/similarity")
    page.get_by_role("button", name="Compare these").click()
    expect(page.get_by_role("heading", name="They are being compared")).to_be_visible()
    expect(page.locator(".lead")).to_contain_text("are the most alike", timeout=200_000)
    expect(page.get_by_role("heading", name="They are being compared")).to_be_hidden()
    shoot(watched.go(f"{zoo.url}/zoo/similarity"), "zoo-similarity", folder)
    page = watched.go(f"{zoo.url}/zoo")
    expect(page.locator(".lead")).to_contain_text("the nearest to your newest data set 'bean leaves' is 'wheat 2025'")
    assert watched.wrong == [] and watched.hosts == {"127.0.0.1"}
