"""The pages of the zoo in a real browser: what is nearest, why, which data sets are alike, what is in memory."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from seedbed.assets.access.roles import SOLO
from seedbed.assets.store.bundle import Lineage
from seedbed.base.ids import new_id
from seedbed.flows.kinds.kind import put
from seedbed.flows.kinds.models import Model
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State
from tests.faces.ui.conftest import PHONE, TOKEN, Served, Watched
from tests.faces.ui.content import ended
from tests.faces.ui.zoo_content import EVIL, ZooContent, fill_zoo

SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def served(serve: Callable[[str], Served]) -> Served:
    return serve(TOKEN)


@pytest.fixture(scope="module")
def zoo(served: Served, tmp_path_factory: pytest.TempPathFactory) -> ZooContent:
    return fill_zoo(served.platform, tmp_path_factory.mktemp("zoo"))


@pytest.fixture
def whole_machine(served: Served) -> Iterator[Job]:
    """Work that leaves no room, so that jobs wait and nothing is computed."""
    params = {"steps": 5000, "seconds_per_step": 0.2, "tag": new_id()}
    spec = JobSpec("sleep-and-count", params, name="another piece of work", grace=0.1)
    room = {"cpus": 2, "memory": 128 << 20}
    job = served.platform.jobs.submit(JobSpec.from_json({**spec.to_json(), "cls": "te", "resources": room}), by=SOLO)
    yield job
    for one in served.platform.jobs.list(by=SOLO, state=State.WAITING):
        served.platform.jobs.cancel(one.id, by=SOLO)
    served.platform.jobs.cancel(job.id, by=SOLO)
    ended(served.platform, job)


def usable(page: Page) -> None:
    """Also for people who cannot see or point."""
    found = Axe().run(page).response["violations"]
    bad = {one["id"]: [node["html"][:200] for node in one["nodes"]] for one in found if one["impact"] in SERIOUS}
    assert bad == {}


def well(watched: Watched) -> None:
    """Whole in the dark and on a phone; no name became markup; nothing was fetched from elsewhere."""
    page = watched.page
    usable(page)
    page.emulate_media(color_scheme="dark")
    usable(page)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.evaluate("window.hacked") is None
    assert watched.wrong == [] and watched.hosts == {"127.0.0.1"}


def test_an_empty_zoo_says_what_to_do_next(watched: Watched, served: Served):
    page = watched.go(f"{served.url}/zoo")
    expect(page.locator(".lead")).to_contain_text("Bring images, and it says which of them is the nearest.")
    expect(page.get_by_text("seedbed zoo import MY-TRAINING")).to_be_visible()
    expect(page.get_by_text("Nothing is in memory yet.")).to_be_visible()
    page.get_by_role("link", name="Which data sets are alike").click()
    expect(page.locator(".lead")).to_have_text("No data sets have been compared yet.")
    expect(page.get_by_text("There are no data sets to compare")).to_be_visible()
    assert watched.wrong == []


def test_the_zoo_says_what_is_nearest_and_what_is_in_memory_and_why(watched: Watched, served: Served, zoo: ZooContent):
    page = watched.go(f"{served.url}/")
    page.get_by_role("link", name="Starting points").click()
    expect(page.locator(".lead")).to_contain_text("the nearest to your newest data set 'bean leaves' is 'wheat 2025'.")
    row = page.locator("tr", has_text="wheat 2025").first
    for part in ("tf_efficientnet_lite0", "wheat leaves, 12 images", "94.1 %", "CC-BY-4.0", "in memory"):
        expect(row).to_contain_text(part)
    memory = page.locator("section", has=page.get_by_role("heading", name="In memory, and why"))
    expect(memory).to_contain_text("2 of 4 places are taken")
    expect(memory).to_contain_text("It was used here lately, and no other weights needed its place.")
    expect(memory.get_by_text(EVIL)).to_be_visible()
    well(watched)


def test_a_map_shows_which_data_sets_are_alike(watched: Watched, served: Served, zoo: ZooContent):
    page = watched.go(f"{served.url}/zoo/similarity")
    said = "'bean leaves' and 'wheat leaves' are the most alike; 'bean leaves' and 'leaves at night' the least."
    expect(page.locator(".lead")).to_have_text(said)
    squares = page.locator(".chart.heat svg path[fill^='rgb']")
    expect(squares).to_have_count(9)
    squares.nth(1).hover(force=True)  # its number lies over it
    expect(page.locator(".chart.heat svg text", has_text="bean leaves and wheat leaves: 7.92 apart")).to_be_attached()
    expect(page.get_by_role("row", name="bean leaves 12 – 7.92 19.4")).to_be_visible()
    for name in ("bean leaves", "wheat leaves", "leaves at night"):
        page.get_by_role("checkbox", name=name).click()
    page.get_by_role("button", name="Compare these").click()
    expect(page.locator("#toasts")).to_contain_text("2 to 40 data sets can be compared at a time; given: 0.")
    page.locator("#toasts button").click()
    expect(page.locator("#toasts .toast")).to_have_count(0)
    well(watched)


def test_a_ranking_shows_images_side_by_side_and_says_why(watched: Watched, served: Served, zoo: ZooContent):
    page = watched.go(f"{served.url}/zoo/rank/{zoo.ranking}")
    expect(page.locator(".lead")).to_contain_text("Start 'bean leaves' from 'wheat 2025': about 45 %")
    first, second = page.locator(".candidate").first, page.locator(".candidate").nth(1)
    expect(first).to_contain_text("start from this")
    expect(first).to_contain_text("59 % nearer than ImageNet's images")
    expect(first).to_contain_text("45 % saved, likely between 18 % and 62 %")
    expect(second).to_contain_text("20 % lost, likely between 90 % lost and 20 %")
    mine, theirs = first.locator(".pair section").first, first.locator(".pair section").nth(1)
    assert mine.locator("img").count() == theirs.locator("img").count() == 6
    assert zoo.data["bean leaves"] in (mine.locator("img").first.get_attribute("src") or "")
    assert zoo.data["wheat leaves"] in (theirs.locator("img").first.get_attribute("src") or "")
    left_out = page.locator(".card", has=page.get_by_role("heading", name="Left out"))
    expect(left_out).to_contain_text("old weights: Its data set has no signature.")
    well(watched)


def test_where_nothing_is_surely_quicker_imagenet_is_as_good(watched: Watched, served: Served, zoo: ZooContent):
    page = watched.go(f"{served.url}/zoo/rank/{zoo.as_good}")
    expect(page.get_by_text("ImageNet is as good: for")).to_be_visible()
    expect(page.get_by_text("ImageNet is as good: wheat 2025 would save")).to_be_visible()
    assert page.locator(".candidate.chosen").count() == 0
    assert watched.wrong == []


def test_a_training_can_be_told_which_weights_to_start_from(
    watched: Watched, served: Served, zoo: ZooContent, whole_machine: Job
):
    page = watched.go(f"{served.url}/projects/{zoo.project}")
    page.get_by_text("Advanced", exact=True).click()
    weights = page.get_by_label("Start from the weights")
    weights.click()
    offered = ["The nearest", "The usual ones", "None: from scratch", "wheat 2025, which learnt from wheat leaves"]
    for name in offered:
        expect(page.get_by_role("option", name=name)).to_be_visible()
    page.get_by_role("option", name=offered[-1]).click()
    page.get_by_label("Backbone").fill("resnet18")
    page.get_by_label("Backbone").blur()
    expect(page.locator(".choice", has=weights)).to_contain_text("The nearest")  # the card is of another network
    page.get_by_label("Backbone").fill("efficientnet_lite0")
    page.get_by_label("Backbone").blur()
    weights.click()
    page.get_by_role("option", name=offered[-1]).click()
    page.get_by_role("button", name="Train with 12 labels").click()
    expect(page.get_by_role("button", name="Stop for now")).to_be_visible()
    jobs = served.platform.trainings.of(zoo.project, by=SOLO).jobs or {}
    told = served.platform.zoo.start_of(jobs["train"].id, by=SOLO)
    assert (told.card, told.reason) == ("wheat 2025", "These weights were asked for.")
    assert watched.wrong == []


def test_a_model_becomes_a_starting_point_with_one_click(
    watched: Watched, served: Served, zoo: ZooContent, whole_machine: Job, tmp_path: Path
):
    platform = served.platform
    model = Model(tmp_path, {"classes": ("a", "b"), "size": (32,), "images": (12,), "architecture": ("resnet18",)})
    put(tmp_path / "model" / "model.json", "{}")
    lineage = Lineage("train", inputs=(("decoded", zoo.decoded["bean leaves"]),))
    made = platform.store.publish(model.draft(name="beans.model", lineage=lineage))
    page = watched.go(f"{served.url}/bundles/{made.uuid}")
    page.get_by_role("button", name="Keep it as a starting point").click()
    page.wait_for_url("**/jobs/*")
    (job,) = [one for one in platform.jobs.list(by=SOLO) if one.step == "import-weights"]
    assert job.id in page.url and job.spec.inputs["model"] == made.uuid and job.name == "beans"
    assert watched.wrong == []


def test_a_training_says_what_it_starts_from_and_why(
    watched: Watched, served: Served, zoo: ZooContent, whole_machine: Job
):
    platform = served.platform
    flow = platform.trainings.start(zoo.project, by=SOLO).jobs["train"].flow
    jobs = {job.step: job for job in platform.jobs.list(flow=flow, by=SOLO)}
    coming = "The weights of the zoo are being compared with its images."
    page = watched.go(f"{served.url}/projects/{zoo.project}")
    expect(page.locator("#training .started")).to_have_text(coming)
    page = watched.go(f"{served.url}/jobs/{jobs['train'].id}")
    expect(page.get_by_text(coming)).to_be_visible()
    with platform.database.write() as conn:
        for state in (State.STARTING, State.RUNNING):
            platform.queue.transition(conn, jobs["rank-weights"].id, state)
        made = {"ranking": zoo.ranking, "start": zoo.ranking}
        platform.queue.transition(conn, jobs["rank-weights"].id, State.DONE, outputs=made)
    page.reload()
    expect(page.get_by_text("'wheat 2025'", exact=True)).to_be_visible()
    page.get_by_role("link", name="Why, with images side by side").click()
    expect(page.locator(".lead")).to_contain_text("Start 'bean leaves' from 'wheat 2025'")
    watched.go(f"{served.url}/projects/{zoo.project}")
    told = "It begins with what was learnt for 'wheat 2025', whose images are alike: about 45 % of the time"
    expect(page.locator("#training .started")).to_contain_text(told)
    assert watched.wrong == []


def test_asking_what_is_nearest_leads_to_the_ranking_that_is_coming(
    watched: Watched, served: Served, zoo: ZooContent, whole_machine: Job
):
    page = watched.go(f"{served.url}/zoo")
    page.get_by_role("button", name="Compare it with all weights").click()
    page.wait_for_url("**/zoo/rank/*")
    expect(page.locator(".lead")).to_contain_text("The images are being compared.")
    assert watched.wrong == []
