"""The labelling page in a real browser: keys, drag and shift, undo, class by class, waiting labels, live news."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, Route, expect

from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.synthetic import CLASSES, write_leaves
from seedbed.base.ids import new_id
from seedbed.runtime.jobs.states import State
from tests.faces.ui.conftest import PHONE, TOKEN, Served, Watched, entered
from tests.faces.ui.content import EVIL, ended

_SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def leaves(serve: Callable[[str], Served], tmp_path_factory: pytest.TempPathFactory) -> tuple[Served, str]:
    """A server with a data set of 48 leaves."""
    served = serve(TOKEN)
    images = tmp_path_factory.mktemp("leaves")
    write_leaves(images, 8, seed=3)
    job = ended(served.platform, served.platform.data.add(images, name="leaves", by=SOLO))
    assert job.state == State.DONE, job.reason
    return served, job.outputs["data"]


@pytest.fixture
def project(leaves: tuple[Served, str]) -> str:
    """A project of its own for each test, without groups: nothing of one test is seen in another."""
    served, data = leaves
    return make_project(served, data, ["healthy", "rust", "mildew"])


def make_project(served: Served, data: str, classes: list[str], goal: int = 25, *, looked_at: bool = False) -> str:
    projects = served.platform.projects
    made = projects.create(f"Leaves {new_id()}", classes=classes, by=SOLO)
    projects.set_settings(made.id, {"grouping": looked_at, "proposals": looked_at, "goal": goal}, by=SOLO)
    projects.set_data(made.id, data, by=SOLO)
    return made.id


@pytest.fixture(scope="module")
def served(leaves: tuple[Served, str]) -> Served:
    return leaves[0]


@pytest.fixture
def page(watched: Watched, leaves: tuple[Served, str], project: str) -> Page:
    """The labelling page, ready for keys, in the order of the folder."""
    return label(watched.page, leaves[0], project)


def label(page: Page, served: Served, project: str, query: str = "show=index") -> Page:
    page.goto(f"{served.url}/projects/{project}/label?{query}")
    page.wait_for_selector("#labelling[data-ready]")
    return page


def image(page: Page, index: int) -> Locator:
    return page.locator(f"#image-{index}")


def events(served: Served, project: str) -> list[dict[str, Any]]:
    """Every label event on disk, the oldest first."""
    data = served.platform.projects.get(project, by=SOLO).data
    address = f"{served.url}/api/v1/projects/{project}/labels/changes"
    answer = httpx.get(address, params={"data": data}, headers={"Authorization": f"Bearer {TOKEN}"})
    found: list[dict[str, Any]] = answer.raise_for_status().json()["events"]
    return found


def said(served: Served, project: str) -> dict[int, str]:
    """What is on disk: index of an image to its label."""
    newest = {event["index"]: event["label"] for event in events(served, project)}
    return {index: label for index, label in newest.items() if label}


def all_saved(page: Page) -> None:
    expect(page.locator(".lb-saved")).to_have_text("All saved")


def test_one_key_labels_an_image_and_goes_on_to_the_next(page: Page, leaves: tuple[Served, str], project: str):
    for key in "1231":
        page.keyboard.press(key)
    all_saved(page)
    assert said(leaves[0], project) == {0: "healthy", 1: "rust", 2: "mildew", 3: "healthy"}
    expect(image(page, 0)).to_have_attribute("data-kept", "true")
    expect(image(page, 4)).to_have_attribute("data-cursor", "true")
    expect(page.get_by_role("button", name="healthy, 2 labels")).to_be_visible()
    assert page.locator("[role=listbox]").get_attribute("aria-activedescendant") == "image-4"


def test_shift_and_arrows_pick_many_and_one_key_labels_them_all(page: Page, leaves: tuple[Served, str], project: str):
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    expect(page.locator(".lb-title")).to_have_text("4 images picked")
    page.keyboard.press("2")
    all_saved(page)
    assert said(leaves[0], project) == dict.fromkeys(range(4), "rust")


def test_a_frame_drawn_with_the_mouse_picks_what_it_touches(page: Page, leaves: tuple[Served, str], project: str):
    first, last = image(page, 1).bounding_box(), image(page, 2).bounding_box()
    assert first and last
    page.mouse.move(first["x"] + 20, first["y"] + 20)
    page.mouse.down()
    page.mouse.move(last["x"] + 30, last["y"] + 40, steps=4)
    page.mouse.up()
    page.get_by_role("button", name="mildew,").click()
    all_saved(page)
    assert said(leaves[0], project) == {1: "mildew", 2: "mildew"}


def test_shift_click_reaches_and_control_click_adds(page: Page, leaves: tuple[Served, str], project: str):
    image(page, 0).click()
    image(page, 2).click(modifiers=["Shift"])
    image(page, 5).click(modifiers=["Control"])
    page.keyboard.press("1")
    all_saved(page)
    assert said(leaves[0], project) == dict.fromkeys((0, 1, 2, 5), "healthy")


def test_undo_brings_back_what_was_before_and_redo_does_it_again(page: Page, leaves: tuple[Served, str], project: str):
    page.keyboard.press("1")
    image(page, 0).click()
    page.keyboard.press("2")
    page.keyboard.press("u")
    all_saved(page)
    expect(image(page, 0)).to_have_attribute("aria-label", "Image 1: healthy")
    assert said(leaves[0], project) == {0: "healthy"}
    page.keyboard.press("Control+z")
    all_saved(page)
    assert said(leaves[0], project) == {}
    page.keyboard.press("Control+y")
    all_saved(page)
    assert said(leaves[0], project) == {0: "healthy"}


def test_skipped_and_not_sure_are_no_labels_and_can_be_looked_at_again(
    page: Page, leaves: tuple[Served, str], project: str
):
    for key in "sn1":
        page.keyboard.press(key)
    all_saved(page)
    assert said(leaves[0], project) == {2: "healthy"}
    expect(image(page, 0)).to_have_attribute("data-state", "skipped")
    page.get_by_role("button", name="Not sure: 1").click()
    expect(page.locator(".lb-cell:visible")).to_have_count(1)
    page.keyboard.press("2")
    all_saved(page)
    assert said(leaves[0], project) == {1: "rust", 2: "healthy"}


def test_class_by_class_asks_for_its_number_and_then_offers_to_train(watched: Watched, leaves: tuple[Served, str]):
    served, data = leaves
    project = make_project(served, data, ["healthy", "rust"], goal=2)
    page = label(watched.page, served, project, "show=index&mode=rounds")
    expect(page.locator(".lb-round")).to_have_text("Pick 2 images of healthy: 0 of 2")
    image(page, 0).click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.locator(".lb-round")).to_have_text("Pick 2 images of healthy: 2 of 2")
    expect(image(page, 1)).to_have_attribute("aria-selected", "true")
    image(page, 1).click()  # not that one after all
    expect(page.locator(".lb-round")).to_contain_text("1 of 2")
    image(page, 1).click()
    page.get_by_role("button", name="Next: rust").click()
    expect(image(page, 0)).to_have_attribute("data-round", "other")
    expect(page.get_by_role("link", name="Train with")).to_have_count(0)
    image(page, 2).click()
    image(page, 3).click()
    expect(page.get_by_role("link", name="Train with 4 labels").first).to_be_visible()
    all_saved(page)
    page.get_by_role("button", name="Grid").click()  # where nothing is checked or steps back any more
    expect(page.locator(".lb-cell[data-round]")).to_have_count(0)
    expect(page.locator(".lb-cell[aria-selected=true]")).to_have_count(0)
    assert said(served, project) == {0: "healthy", 1: "healthy", 2: "rust", 3: "rust"}


def test_labels_wait_in_the_browser_and_are_sent_once_by_a_later_page(
    watched: Watched, page: Page, leaves: tuple[Served, str], project: str
):
    context = page.context
    context.set_offline(True)
    page.keyboard.press("1")
    page.keyboard.press("2")
    expect(page.locator(".lb-saved")).to_have_text("2 labels wait here: no connection")
    expect(image(page, 0)).to_have_attribute("data-kept", "false")
    assert said(leaves[0], project) == {}
    page.close()  # as it goes, Chromium may let it speak once more: then the later page says the same again
    context.set_offline(False)
    later = label(context.new_page(), leaves[0], project)
    expect(image(later, 1)).to_have_attribute("aria-label", "Image 2: rust")
    all_saved(later)
    assert [event["label"] for event in events(leaves[0], project)] == ["healthy", "rust"]


def test_what_is_labelled_in_another_browser_appears_without_reloading(
    browser: Browser, page: Page, leaves: tuple[Served, str], project: str
):
    context = entered(browser, leaves[0])
    other = label(context.new_page(), leaves[0], project)
    other.keyboard.press("3")
    expect(image(page, 0)).to_have_attribute("aria-label", "Image 1: mildew")
    expect(page.get_by_role("button", name="mildew, 1 label")).to_be_visible()
    page.keyboard.press("1")
    expect(image(other, 0)).to_have_attribute("aria-label", "Image 1: healthy")
    context.close()


def test_classes_are_added_renamed_and_merged_in_the_middle(page: Page, leaves: tuple[Served, str], project: str):
    page.keyboard.press("2")
    page.get_by_role("button", name="Change classes…").click()
    page.get_by_label("One more class").fill("blight")
    page.get_by_role("button", name="Add", exact=True).click()
    name = page.get_by_label("Name of rust")
    name.fill("brown rust")
    name.press("Tab")
    expect(page.get_by_label("Name of brown rust")).to_be_visible()
    page.get_by_label("Make brown rust one with").select_option("blight")
    page.get_by_role("button", name="Merge into blight").click()
    expect(page.get_by_label("Name of brown rust")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(image(page, 0)).to_have_attribute("aria-label", "Image 1: blight")
    classes = leaves[0].platform.projects.classes(project, by=SOLO)
    assert [one.name for one in classes] == ["healthy", "mildew", "blight"]
    assert said(leaves[0], project) == {0: "blight"}


def test_a_name_that_is_being_written_outlasts_the_answer_to_an_earlier_change(
    page: Page, leaves: tuple[Served, str], project: str
):
    held: list[Route] = []
    page.route("**/classes", lambda route: held.append(route))
    page.get_by_role("button", name="Change classes…").click()
    page.get_by_label("One more class").fill("blight")
    with page.expect_request("**/classes"):
        page.get_by_role("button", name="Add", exact=True).click()
    name = page.get_by_label("Name of rust")
    name.fill("brown rust")
    held[0].continue_()
    expect(page.get_by_label("Name of blight")).to_be_visible()
    expect(name).to_have_value("brown rust")
    expect(name).to_be_focused()
    name.press("Tab")
    expect(page.get_by_label("Name of brown rust")).to_be_visible()


def test_classes_keep_their_names_lose_their_keys_and_ask_before_they_merge(
    page: Page, leaves: tuple[Served, str], project: str
):
    page.get_by_role("button", name="Change classes…").click()
    page.get_by_label("Name of mildew").fill("")
    page.get_by_label("Key of mildew").fill("")
    page.get_by_label("Key of mildew").press("Tab")
    expect(page.locator(".lb-class kbd")).to_have_text(["1", "2"])
    expect(page.get_by_label("Name of mildew")).to_have_value("mildew")
    merge = page.get_by_label("Make mildew one with")
    merge.select_option("rust")
    merge.select_option("healthy")  # another mind: the first question is gone
    expect(page.locator("#lb-classes-dialog .note")).to_have_text(re.compile("labels of mildew become healthy"))
    page.get_by_role("button", name="No", exact=True).click()
    classes = leaves[0].platform.projects.classes(project, by=SOLO)
    assert [(one.name, one.key) for one in classes] == [("healthy", "1"), ("rust", "2"), ("mildew", "")]


def test_a_key_that_a_class_has_taken_is_not_promised_for_anything_else(
    page: Page, leaves: tuple[Served, str], project: str
):
    expect(page.locator(".lb-other", has_text="Skip").locator("kbd")).to_have_text("s")
    page.get_by_role("button", name="Change classes…").click()
    page.get_by_label("Key of rust").fill("s")
    page.get_by_label("Key of rust").press("Tab")
    expect(page.locator(".lb-other", has_text="Skip").locator("kbd")).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    all_saved(page)
    assert said(leaves[0], project) == {0: "rust"}
    page.keyboard.press("?")
    expect(page.locator("#lb-keys dt", has_text=re.compile("^s$"))).to_have_count(1)
    expect(page.locator("#lb-keys dd", has_text=re.compile("^Skip$"))).to_have_count(0)


def test_what_the_mouse_pressed_beside_the_images_does_not_keep_the_keyboard(page: Page):
    images = page.get_by_role("listbox", name="Images")
    page.locator("[data-theme-button]").click()
    expect(images).to_be_focused()
    page.keyboard.press("Space")  # picks, and presses nothing
    expect(image(page, 0)).to_have_attribute("aria-selected", "true")
    page.locator("#lb-show").dispatch_event("pointerdown")
    page.locator("#lb-show").select_option("random")
    expect(images).to_be_focused()
    page.locator("#lb-show").focus()
    page.keyboard.press("ArrowDown")  # with the keyboard one goes on choosing
    expect(page.locator("#lb-show")).to_be_focused()


def test_the_large_image_takes_the_same_keys_and_goes_back(page: Page, leaves: tuple[Served, str], project: str):
    page.keyboard.press("z")
    expect(page.locator(".lb-stage img")).to_have_attribute("alt", "Image 1")
    expect(page.locator(".lb-where")).to_contain_text("1 of 48 · leaf-")
    page.keyboard.press("3")
    expect(page.locator(".lb-stage img")).to_have_attribute("alt", "Image 2")
    page.keyboard.press("Escape")
    expect(image(page, 0)).to_be_visible()
    all_saved(page)
    assert said(leaves[0], project) == {0: "mildew"}


def test_names_that_people_gave_stay_text(watched: Watched, leaves: tuple[Served, str]):
    served, data = leaves
    project = make_project(served, data, [EVIL[:90], "plain"])
    page = label(watched.page, served, project)
    page.keyboard.press("1")
    expect(image(page, 0).locator(".lb-name")).to_have_text(EVIL[:90])
    page.keyboard.press("?")
    expect(page.locator("#lb-keys")).to_be_visible()
    assert page.evaluate("window.hacked") is None


def test_nothing_serious_stands_in_the_way_of_those_who_do_not_see_or_use_a_mouse(watched: Watched, page: Page):
    page.keyboard.press("1")
    all_saved(page)
    assert serious(page) == []
    page.emulate_media(color_scheme="dark")
    for mode in ("One by one", "Class by class"):
        page.get_by_role("button", name=mode).click()
        assert serious(page) == []
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert watched.wrong == []


def serious(page: Page) -> list[tuple[str, str]]:
    found = Axe().run(page).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in _SERIOUS]


def test_every_class_of_the_example_has_a_key(leaves: tuple[Served, str], watched: Watched):
    served, data = leaves
    page = label(watched.page, served, make_project(served, data, list(CLASSES)))
    expect(page.locator(".lb-class kbd")).to_have_text([str(number + 1) for number in range(len(CLASSES))])
