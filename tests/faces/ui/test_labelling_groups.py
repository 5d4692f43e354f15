"""With groups of alike images: headings, proposals accepted with one key, all like this, images that come later."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.synthetic import CLASSES, write_leaves
from seedbed.assets.store.bundle import Lineage
from seedbed.flows.kinds.embeddings import Embeddings, Groups
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State
from tests.faces.ui.conftest import PHONE, TOKEN, Served, entered
from tests.faces.ui.content import ended
from tests.faces.ui.test_labelling import all_saved, image, label, make_project, said

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Grouped:
    """A project whose images have been looked at, and what each of them shows."""

    served: Served
    project: str
    truth: list[str]  # by index
    images: Path

    def of(self, klass: str) -> list[int]:
        return [index for index, name in enumerate(self.truth) if name == klass]


@pytest.fixture(scope="module")
def grouped(serve: Callable[[str], Served], tmp_path_factory: pytest.TempPathFactory) -> Grouped:
    served, place = serve(TOKEN), tmp_path_factory.mktemp("leaves")
    answers = write_leaves(place / "images", 10, seed=3)
    with answers.open(newline="") as file:
        shows = {row["file"]: row["class"] for row in csv.DictReader(file)}
    job = brought(served, place / "images")
    records = served.platform.data.records(job.outputs["data"], limit=1000, by=SOLO)
    truth = [shows[record["file"]] for record in records]
    publish_alike(served, job, [record["id"] for record in records], truth, place)
    project = make_project(served, job.outputs["data"], list(CLASSES), looked_at=True)
    return Grouped(served, project, truth, place)


def brought(served: Served, images: Path, to: str = "") -> Job:
    job = ended(served.platform, served.platform.data.add(images, name="leaves", to=to, by=SOLO))
    assert job.state == State.DONE, job.reason
    return job


def publish_alike(served: Served, job: Job, ids: list[str], truth: list[str], place: Path) -> None:
    """As if a network had looked at the leaves and told them apart: a corner for each class, with some noise."""
    numbers = np.array([CLASSES.index(name) for name in truth])
    rows = np.eye(len(CLASSES), 12)[numbers] + np.random.default_rng(0).normal(0, 0.12, (len(truth), 12))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    seen = Embeddings.write(place / "seen", rows, ids, card="drawn", size=32)
    lineage = Lineage(step="embed", inputs=(("decoded", job.outputs["decoded"]),))
    embeddings = served.platform.store.publish(seen.draft(name="leaves.seen", lineage=lineage))
    groups = Groups.write(place / "groups", numbers, rows.max(axis=1), np.eye(len(CLASSES), 12, dtype=np.float32))
    lineage = Lineage(step="group", inputs=(("embeddings", embeddings.uuid),))
    served.platform.store.publish(groups.draft(name="leaves.groups", lineage=lineage))


@pytest.fixture
def page(browser: Browser, grouped: Grouped) -> Iterator[Page]:
    context = entered(browser, grouped.served)
    yield label(context.new_page(), grouped.served, grouped.project, "show=groups&mode=grid")
    context.close()


def test_alike_images_are_labelled_together_and_the_rest_by_accepting_proposals(page: Page, grouped: Grouped):
    expect(page.get_by_role("heading", name="Group 1", exact=True)).to_be_visible()
    page.get_by_role("button", name="Pick all of Group 1 that have no label").click()
    page.keyboard.press("1")
    page.get_by_role("button", name="Pick all of Group 2").click()
    page.keyboard.press("2")
    all_saved(page)
    wanted = dict.fromkeys(grouped.of(CLASSES[0]), CLASSES[0]) | dict.fromkeys(grouped.of(CLASSES[1]), CLASSES[1])
    assert said(grouped.served, grouped.project) == wanted

    stranger = grouped.of(CLASSES[2])[0]  # its class has no label yet
    proposal = image(page, stranger)
    proposal.scroll_into_view_if_needed()
    expect(proposal).to_have_attribute("data-state", "proposed", timeout=60_000)
    page.keyboard.press("3")  # the cursor stands at the first that wants a label
    third = grouped.of(CLASSES[2])
    expect(page.locator(".lb-cell[data-state=proposed] .lb-name", has_text=CLASSES[2]).first).to_be_visible()
    page.keyboard.press("Enter")
    all_saved(page)
    assert sum(said(grouped.served, grouped.project).get(index) == CLASSES[2] for index in third) == 2


def test_on_a_phone_a_proposal_is_accepted_with_one_touch(page: Page, grouped: Grouped):
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.get_by_role("button", name="One by one").click()
    accept = page.get_by_role("button", name="Accept")
    expect(accept).to_be_visible(timeout=60_000)
    shown, proposed = page.locator("[data-cursor]").get_attribute("id"), page.locator(".lb-saying strong").inner_text()
    accept.click()
    all_saved(page)
    assert said(grouped.served, grouped.project)[int((shown or "").removeprefix("image-"))] == proposed
    expect(page.locator("[data-cursor]")).not_to_have_attribute("id", shown or "")


def test_all_like_this_are_the_most_alike_and_going_back_is_where_one_was(page: Page, grouped: Grouped):
    page.keyboard.press("End")
    page.keyboard.press("a")
    expect(page.locator(".lb-title")).to_have_text("24 images picked", timeout=60_000)
    places = (page.locator(f".lb-cell[aria-posinset='{place}']:visible") for place in range(1, 9))
    shown = [int((place.get_attribute("id") or "").removeprefix("image-")) for place in places]
    assert {grouped.truth[index] for index in shown} == {CLASSES[5]}
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.locator(".lb-cell[data-cursor]:visible")).to_have_attribute("aria-posinset", "60")


def test_in_class_by_class_the_likeliest_can_come_first(page: Page, grouped: Grouped):
    page.get_by_role("button", name="Class by class").click()
    page.get_by_role("button", name=f"{CLASSES[1]},").click()
    page.get_by_label("Show").select_option("class")
    expect(page.locator(".lb-cell[aria-posinset='1']:visible")).to_have_attribute(
        "data-round", "in", timeout=30_000
    )  # what was picked so far stands first


def test_class_by_class_takes_a_whole_group_and_names_all_like_one(page: Page, grouped: Grouped):
    fourth, fifth = CLASSES[3], CLASSES[4]
    page.get_by_role("button", name="Class by class").click()
    page.get_by_role("button", name=f"{fourth},").click()
    place = grouped.of(fourth)[0]
    half = "(scroller) => { scroller.scrollTop = scroller.scrollHeight / 2; }"  # where the fourth of six groups begins
    page.locator(".lb-scroller").evaluate(half)
    page.get_by_role("button", name="Pick all of Group 4 that have no label").click()
    expect(image(page, place)).to_have_attribute("data-round", "in")
    all_saved(page)
    assert {said(grouped.served, grouped.project)[index] for index in grouped.of(fourth)} == {fourth}

    image(page, grouped.of(fifth)[0]).click()
    page.keyboard.press("u")
    page.keyboard.press("a")
    expect(page.locator(".lb-title")).to_have_text("24 images picked", timeout=60_000)
    expect(page.locator(".lb-cell[aria-posinset='1']:visible")).to_have_attribute("aria-selected", "true")
    page.get_by_label("How many to pick").fill("4")
    expect(page.locator(".lb-title")).to_have_text("4 images picked")
    page.get_by_role("button", name=f"{fifth},").click()
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.locator(".lb-round")).to_contain_text(fourth)
    all_saved(page)
    assert sum(said(grouped.served, grouped.project).get(index) == fifth for index in grouped.of(fifth)) == 4


def test_images_that_are_added_in_the_middle_appear_with_their_labels(page: Page, grouped: Grouped):
    projects, before = grouped.served.platform.projects, said(grouped.served, grouped.project)
    write_leaves(grouped.images / "more", 2, seed=9)
    data = projects.get(grouped.project, by=SOLO).data
    more = brought(grouped.served, grouped.images / "more", to=data)
    projects.set_data(grouped.project, more.outputs["data"], by=SOLO)
    expect(page.locator(".lb-done")).to_contain_text("of 72 images labelled", timeout=30_000)
    assert len(said(grouped.served, grouped.project)) == len(before)
    expect(page.locator(".lb-done")).to_contain_text(f"{len(before)} of")
