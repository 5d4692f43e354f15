"""The whole way of a domain expert, with real clicks and keys: from a folder of leaves to a model that is tried.

With SEEDBED_PICTURES it leaves the pictures of the tutorial, and learns for longer, so that they show something.
"""

import csv
import os
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.synthetic import CLASSES, write_leaves
from seedbed.runtime.jobs.states import State
from tests.faces.ui.conftest import TOKEN, Served, Watched, alive
from tests.faces.ui.test_labelling import all_saved
from tests.faces.ui.test_pages import PICTURES, picture

LONG = bool(os.environ.get("SEEDBED_PICTURES"))
PER_CLASS, EACH, MOST = (50, 15, 220) if LONG else (16, 3, 60)  # of 15 some are kept to judge by while it learns
STEPS = "60" if LONG else "4"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """docs/pictures where that is asked for, else a place that nobody sees."""
    return PICTURES if LONG else tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def served(serve: Callable[[str], Served]) -> Served:
    return serve(TOKEN)


def shoot(page: Page, name: str, folder: Path, height: int = 860) -> None:
    """A picture as high as it needs to be."""
    page.set_viewport_size({"width": 1280, "height": height})
    page.wait_for_timeout(200)
    picture(page, name, folder)
    page.set_viewport_size({"width": 1280, "height": 860})


def truth_of(path: Path) -> dict[str, str]:
    with path.open(newline="") as file:
        return {row["file"]: row["class"] for row in csv.DictReader(file)}


def begin(page: Page, leaves: Path, folder: Path) -> None:
    """A new project: its name, the folder, six classes."""
    page.get_by_role("link", name="Begin a project").click()
    page.wait_for_url("**/new")
    alive(page)
    page.locator("#images input[data-part=folder]").set_input_files(leaves)
    expect(page.locator("#images .drop-said.ok")).to_be_visible(timeout=60_000)
    page.get_by_label("Name of the project").fill("Crop leaves")
    for number, name in enumerate(CLASSES, 1):
        if number > 3:
            page.get_by_role("button", name="Add a class").click()
        page.get_by_label(f"Name of class {number}").fill(name)
    page.evaluate("window.scrollTo(0, 0)")
    shoot(page, "way-new", folder, 1500)
    page.get_by_role("button", name="Make the project").click()
    page.wait_for_url("**/projects/*")
    alive(page)
    expect(page.locator("#images .say")).to_contain_text("images are in", timeout=120_000)
    expect(page.locator("#grouping")).to_contain_text("whole groups can be labelled", timeout=240_000)
    page.wait_for_timeout(500)
    page.evaluate("document.getElementById('toasts')?.replaceChildren()")
    shoot(page, "way-project", folder, 1240)


def name_by_keys(page: Page, served: Served, truth: dict[str, str], folder: Path) -> Counter[str]:
    """Look at the image under the cursor, and press the key of its class, until every class has a few."""
    project = served.platform.projects.get("Crop leaves", by=SOLO)
    files = [record["file"] for record in served.platform.data.records(project.data, limit=10_000, by=SOLO)]
    keys = {one.name: one.key for one in served.platform.projects.classes(project.id, by=SOLO)}
    page.get_by_role("link", name="Begin to label").click()
    page.wait_for_selector("#labelling[data-ready]")
    given: Counter[str] = Counter()
    while min((given[name] for name in CLASSES), default=0) < EACH and given.total() < MOST:
        index = int((page.locator("[data-cursor]").get_attribute("id") or "").rpartition("-")[2])
        name = truth[files[index]]
        page.keyboard.press(keys[name])
        given[name] += 1
        page.wait_for_function("before => document.querySelector('[data-cursor]')?.id !== before", arg=f"image-{index}")
    all_saved(page)
    page.wait_for_timeout(1500)
    shoot(page, "way-label", folder)
    return given


def train(page: Page, labels: int, folder: Path) -> None:
    """One button; here with few steps, so that the test ends today."""
    page.get_by_text("Advanced", exact=True).click()
    page.get_by_label("Steps", exact=True).fill(STEPS)
    if not LONG:
        page.get_by_label("Image size in pixels").fill("32")
    page.get_by_role("button", name=f"Train with {labels} labels").click()
    expect(page.locator("#training .say")).to_contain_text("It is learning", timeout=120_000)
    if LONG:
        page.wait_for_function(
            "Number(document.querySelector('#training [role=progressbar]')?.ariaValueNow) > 70", timeout=900_000
        )
    page.locator("#labels-step").evaluate("step => step.scrollIntoView()")
    shoot(page, "way-training", folder)
    expect(page.locator("#training .say")).to_contain_text("It is done: right on", timeout=900_000)


def try_out(page: Page, leaf: Path, folder: Path) -> None:
    """An image that it has never seen, and why it is called what it is called."""
    page.locator("#try input[data-part=files]").set_input_files(leaf)
    expect(page.locator(".answer-card .likely")).to_be_visible(timeout=120_000)
    assert page.locator(".answer-card .likely").inner_text() in CLASSES
    page.wait_for_function(
        "[...document.querySelectorAll('.answer-card .shelf img')].filter(i => i.naturalWidth).length > 3"
    )
    shoot(page, "way-try", folder)


def try_many(page: Page, leaves: list[Path], place: Path) -> None:
    """Many at once, among them what is no image: a line each, which opens; all answers as a table."""
    (place / "broken.jpg").write_bytes(b"no image")
    page.locator("#try input[data-part=files]").set_input_files([*leaves, place / "broken.jpg"])
    expect(page.locator("#answers [role=status]")).to_contain_text(f"{len(leaves)} images: ", timeout=60_000)
    expect(page.locator("#answers [role=status]")).to_contain_text("1 file cannot be read.")
    expect(page.locator("article.answer-card")).to_contain_text("not an image that can be read")
    cards = page.locator("details.answer-card")
    expect(cards).to_have_count(len(leaves))
    expect(page.locator("details.answer-card[open]")).to_have_count(0)
    cards.first.locator("summary").click()
    expect(cards.first.locator(".shelf a img").first).to_be_visible()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download these answers").click()
    waiting.value.save_as(place / "answers.csv")
    with (place / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["file"] for row in rows} == {leaf.name for leaf in leaves}
    assert all(float(row[row["class"]]) == float(row["confidence"]) for row in rows)


def take(page: Page, place: Path, leaf: Path) -> None:
    """The folder for a device, which then runs with one command."""
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download the folder").click()
    waiting.value.save_as(place / "edge.zip")
    with zipfile.ZipFile(place / "edge.zip") as archive:
        archive.extractall(place)
    command = [sys.executable, "predict.py", str(leaf)]
    done = subprocess.run(command, cwd=place / "model-on-a-device", capture_output=True, text=True, check=False)
    assert done.returncode == 0 and any(f"\t{name}\t" in done.stdout for name in CLASSES), done.stderr


def test_an_expert_comes_from_a_folder_of_leaves_to_a_model_alone(
    watched: Watched, served: Served, folder: Path, tmp_path: Path
):
    truth = truth_of(write_leaves(tmp_path / "leaves", PER_CLASS, seed=21))
    write_leaves(tmp_path / "new", 1, seed=99)
    unseen = min((tmp_path / "new").glob("*.jpg"))
    page = watched.go(served.url)
    begin(page, tmp_path / "leaves", folder)
    home = page.url
    given = name_by_keys(page, served, truth, folder)
    kept = served.platform.projects.counts("Crop leaves", by=SOLO)
    assert {name: count for name, count in kept.items() if count} == dict(given)
    watched.go(home)
    train(page, given.total(), folder)
    assert served.platform.trainings.of("Crop leaves", by=SOLO).stage == "done"
    page.get_by_role("link", name="Look at the results").click()
    page.wait_for_url("**/results")
    alive(page)
    shoot(page, "way-results", folder, 1100)
    page.locator(".matrix a.cell").first.click()
    expect(page.locator("#chosen figure").first).to_be_visible()
    expect(page.get_by_role("link", name="Label these next")).to_be_visible()
    watched.go(f"{home.partition('?')[0]}/review")
    expect(page.locator(".lead")).not_to_contain_text("Looking for", timeout=120_000)
    watched.go(f"{home.partition('?')[0]}/takeaway")
    try_out(page, unseen, folder)
    try_many(page, sorted((tmp_path / "new").glob("*.jpg")), tmp_path)
    take(page, tmp_path, unseen)
    jobs = served.platform.jobs.list(by=SOLO, limit=100)
    assert {job.state for job in jobs} == {State.DONE}
    assert watched.wrong == []
    assert watched.hosts == {"127.0.0.1"}
