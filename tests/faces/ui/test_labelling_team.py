"""Two people label one project at once: they see each other, each other's labels, and where they disagree."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from seedbed.assets.access.roles import SOLO, Role
from seedbed.assets.data.synthetic import write_leaves
from seedbed.runtime.jobs.states import State
from tests.faces.ui.conftest import Served
from tests.faces.ui.content import ended
from tests.faces.ui.test_labelling import all_saved, image, make_project
from tests.faces.ui.test_team import PASSWORD, sign_in


@pytest.fixture(scope="module")
def team(serve: Callable[[str], Served], tmp_path_factory: pytest.TempPathFactory) -> tuple[Served, str]:
    """A team's server with a project of two people, without groups."""
    served = serve("")
    images = tmp_path_factory.mktemp("leaves")
    write_leaves(images, 4, seed=3)
    platform = served.platform
    job = ended(platform, platform.data.add(images, name="leaves", by=SOLO))
    assert job.state == State.DONE, job.reason
    project = make_project(served, job.outputs["data"], ["healthy", "rust"])
    for name in ("ada", "grace", "victor"):
        role = Role.VIEWER if name == "victor" else Role.LABELLER
        platform.users.create(name, role, password=PASSWORD, by=SOLO)
        platform.users.add_member(project, name, role, by=SOLO)
    return served, project


def opened(browser: Browser, team: tuple[Served, str], name: str) -> tuple[BrowserContext, Page]:
    context = browser.new_context()
    page = context.new_page()
    served, project = team
    sign_in(page, served, name, f"/projects/{project}/label")
    page.goto(f"{served.url}/projects/{project}/label?show=index")
    page.wait_for_selector("#labelling[data-ready]")
    return context, page


@pytest.mark.slow
def test_two_people_see_each_other_their_labels_and_where_they_disagree(browser: Browser, team: tuple[Served, str]):
    first, ada = opened(browser, team, "ada")
    second, grace = opened(browser, team, "grace")
    expect(ada.get_by_role("list", name="Who else is here")).to_contain_text("grace", timeout=20_000)
    ada.keyboard.press("1")
    expect(image(grace, 0)).to_have_attribute("title", "On disk by ada")
    image(grace, 0).click()
    grace.keyboard.press("2")
    said = grace.locator(".toast", has_text="ada had called it healthy.")
    said.get_by_role("button", name="Look again").click()
    expect(image(grace, 0)).to_have_attribute("data-cursor", "true")
    expect(said).to_have_count(0)
    all_saved(grace)
    expect(image(ada, 0)).to_have_attribute("aria-label", "Image 1: rust")
    ada.get_by_role("button", name="People disagree: 1").click(timeout=20_000)
    expect(image(ada, 0).locator(".lb-name")).to_contain_text("ada: healthy")
    expect(image(ada, 0).locator(".lb-name")).to_contain_text("grace: rust")
    expect(image(ada, 0)).to_have_attribute("title", "ada: healthy · grace: rust")
    ada.keyboard.press("u")  # what grace said since stays
    expect(ada.locator(".toast.warn")).to_contain_text("somebody else has labelled since")
    expect(image(grace, 0)).to_have_attribute("aria-label", "Image 1: rust")
    ada.keyboard.press("1")  # keeps to it, knowing what grace said: that settles it
    expect(image(grace, 0)).to_have_attribute("aria-label", "Image 1: healthy")
    expect(ada.get_by_role("button", name="People disagree")).to_be_hidden(timeout=20_000)
    first.close()
    second.close()


@pytest.mark.slow
def test_what_was_overruled_comes_back_with_undo(browser: Browser, team: tuple[Served, str]):
    first, ada = opened(browser, team, "ada")
    second, grace = opened(browser, team, "grace")
    for key, place in (("1", 4), ("1", 5)):
        image(ada, place).click()
        ada.keyboard.press(key)
    expect(image(grace, 5)).to_have_attribute("title", "On disk by ada")
    image(grace, 4).click()
    image(grace, 5).click(modifiers=["Shift"])
    grace.keyboard.press("2")
    expect(grace.locator(".toast")).to_contain_text("ada had called 2 images healthy.")
    grace.keyboard.press("u")
    for place in (4, 5):
        expect(image(ada, place)).to_have_attribute("aria-label", f"Image {place + 1}: healthy")
    assert grace.locator(".toast").count() <= 1
    first.close()
    second.close()


@pytest.mark.slow
def test_who_may_only_look_looks(browser: Browser, team: tuple[Served, str]):
    context, page = opened(browser, team, "victor")
    page.keyboard.press("1")
    expect(page.locator(".toast.warn")).to_contain_text("not label")
    expect(page.get_by_role("button", name="Change classes…")).to_be_hidden()
    context.close()
