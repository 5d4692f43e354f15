"""Two people and one project: one is let in from its page, sees it at once, may more, and is taken out again."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from seedbed.assets.access.roles import SOLO, Role
from seedbed.assets.access.users import Member
from seedbed.runtime.jobs.spec import JobSpec
from tests.faces.ui.conftest import DESK, PHONE, Served, alive
from tests.faces.ui.content import ended
from tests.faces.ui.test_pages import picture
from tests.faces.ui.test_pictures import folder
from tests.faces.ui.test_team import PASSWORD, sign_in

__all__ = ["folder"]  # the fixture


@pytest.fixture(scope="module")
def team(serve: Callable[[str], Served]) -> Served:
    """A team's server with an operator, somebody who makes projects, and somebody who labels."""
    served = serve("")
    for name, role in (("olga", Role.OPERATOR), ("ada", Role.TRAINER), ("grace", Role.LABELLER)):
        served.platform.users.create(name, role, password=PASSWORD, by=SOLO)
    return served


@pytest.fixture(scope="module")
def browsers(browser: Browser) -> Iterator[dict[str, BrowserContext]]:
    """Everybody's own browser: who has signed in once stays so, and what was fetched once is kept."""
    contexts: dict[str, BrowserContext] = {}
    yield contexts
    for context in contexts.values():
        context.close()


@pytest.fixture
def open_page(
    browser: Browser, browsers: dict[str, BrowserContext], team: Served
) -> Iterator[Callable[[str, str], Page]]:
    """Somebody's page, signed in, at an address."""
    pages = []

    def opened(name: str, path: str) -> Page:
        known = name in browsers
        if not known:
            browsers[name] = browser.new_context(viewport=DESK, color_scheme="light")  # type: ignore[arg-type]
            browsers[name].set_default_timeout(30_000)
        page = browsers[name].new_page()
        pages.append(page)
        page.goto(team.url + path) if known else sign_in(page, team, name, path)
        alive(page)
        return page

    yield opened
    for page in pages:
        page.close()


def made(team: Served, name: str) -> str:
    """A project that ada began."""
    token = team.platform.users.make_token("ada", name, by=SOLO)
    ada = team.platform.users.identify(token)
    assert ada
    return team.platform.projects.create(name, classes=["healthy", "rust"], by=ada).id


def members(team: Served, project: str) -> dict[str, Role]:
    found: list[Member] = list(team.platform.users.members(project, by=SOLO))
    return {member.name: member.role for member in found}


def unfolded(page: Page) -> Page:
    page.locator("#people > summary").click()
    return page


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_label(label).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_a_colleague_is_let_in_sees_it_at_once_and_is_taken_out(team: Served, open_page: Callable[[str, str], Page]):
    project = made(team, "Leaf health")
    grace = open_page("grace", "/")
    assert "Leaf health" not in grace.content()
    ada = unfolded(open_page("ada", f"/projects/{project}"))
    expect(ada.locator("#people > summary")).to_have_text("People in this project: ada")
    choose(ada, "Person", "grace")
    ada.get_by_role("button", name="Let them in").click()
    expect(ada.locator(".toast")).to_contain_text("grace may label images now.")
    assert members(team, project) == {"ada": Role.OPERATOR, "grace": Role.LABELLER}

    told = grace.locator(".toast", has_text="In the project 'Leaf health' you may label images now.")
    told.get_by_role("link").click()  # without a reload
    alive(unfolded(grace))
    expect(grace.locator("h1")).to_have_text("Leaf health")
    expect(grace.locator("#people > summary")).to_have_text("People in this project: ada and grace")
    expect(grace.locator("#people").get_by_role("button")).to_have_count(0)

    row = ada.locator("#people tr", has_text="grace")
    row.get_by_role("button", name="Take out…").click()
    ada.get_by_role("button", name="Leave it").click()
    assert "grace" in members(team, project)
    row.get_by_role("button", name="Take out…").click()
    ada.get_by_role("button", name="Take grace out").click()
    expect(row).to_have_count(0)
    assert members(team, project) == {"ada": Role.OPERATOR}
    expect(grace.locator("body")).to_contain_text("There is no such project, or you are not a member of it.")


def test_a_member_is_given_more_to_do_and_their_open_page_offers_it(
    team: Served, open_page: Callable[[str, str], Page]
):
    project = made(team, "More to do")
    team.platform.users.add_member(project, "grace", Role.LABELLER, by=SOLO)
    grace = open_page("grace", f"/projects/{project}")
    expect(grace.get_by_text("Settings", exact=True)).to_have_count(0)
    ada = unfolded(open_page("ada", f"/projects/{project}"))
    choose(ada, "What grace may do", "may label, bring images and train")
    expect(grace.get_by_text("Settings", exact=True)).to_be_visible()
    assert members(team, project)["grace"] == Role.TRAINER


def test_who_runs_a_project_leaves_it_knowing_what_stops(team: Served, open_page: Callable[[str, str], Page]):
    project = made(team, "Left alone")
    ada = unfolded(open_page("ada", f"/projects/{project}"))
    ada.get_by_role("button", name="Leave…").click()
    expect(ada.get_by_role("dialog")).to_contain_text("in the name of the one who began it")
    ada.get_by_role("button", name="Leave the project").click()
    expect(ada.locator("h1")).to_have_text("Home")
    assert members(team, project) == {}
    olga = unfolded(open_page("olga", f"/projects/{project}"))  # it is nobody's, and yet not lost
    expect(olga.locator("#people > summary")).to_have_text("Nobody is in this project yet")
    choose(olga, "Person", "ada")
    olga.get_by_role("button", name="Let them in").click()
    expect(olga.locator("#people tr", has_text="ada")).to_be_visible()
    assert members(team, project) == {"ada": Role.LABELLER}


def test_who_runs_a_project_removes_it_knowing_who_still_sees_what_was_made_in_it(
    team: Served, open_page: Callable[[str, str], Page]
):
    project = made(team, "Gone for good")
    job = team.platform.jobs.submit(JobSpec("sleep-and-count", name="long", project=project), by=SOLO)
    team.platform.jobs.pause(job.id, by=SOLO)
    ada = open_page("ada", f"/projects/{project}")
    ada.get_by_text("Settings", exact=True).click()
    ada.get_by_role("button", name="Remove this project…").click()
    expect(ada.get_by_role("dialog")).to_contain_text("only operators of this service still see them")
    ada.get_by_role("button", name="Remove it with its labels").click()
    expect(ada.locator(".toast.failed")).to_contain_text(f"long ({job.id}) is ")
    ended(team.platform, team.platform.jobs.cancel(job.id, by=SOLO))
    ada.get_by_role("button", name="Remove this project…").click()
    ada.get_by_role("button", name="Remove it with its labels").click()
    expect(ada.locator("h1")).to_have_text("Home")
    assert project not in [one.id for one in team.platform.projects.list(by=SOLO)]


@pytest.mark.parametrize("role", [Role.LABELLER, Role.TRAINER])
def test_who_does_not_run_a_project_is_not_offered_to_remove_it(
    team: Served, open_page: Callable[[str, str], Page], role: Role
):
    project = made(team, f"Not for a {role.value}")
    team.platform.users.add_member(project, "grace", role, by=SOLO)
    grace = open_page("grace", f"/projects/{project}")
    expect(grace.locator("#people > summary")).to_contain_text("grace")
    expect(grace.get_by_text("Settings", exact=True)).to_have_count(1 if role is Role.TRAINER else 0)
    expect(grace.locator("button", has_text="Remove this project…")).to_have_count(0)


def test_the_first_page_offers_a_new_project_to_who_has_become_a_trainer(
    team: Served, open_page: Callable[[str, str], Page]
):
    team.platform.users.create("lena", Role.LABELLER, password=PASSWORD, by=SOLO)
    lena = open_page("lena", "/")
    expect(lena.get_by_role("link", name="Begin a project")).to_have_count(0)
    team.platform.users.set_role("lena", Role.TRAINER, by=SOLO)
    project = made(team, "With lena")
    team.platform.users.add_member(project, "lena", Role.LABELLER, by=SOLO)
    expect(lena.get_by_role("link", name="New project")).to_be_visible()  # without a reload


def test_what_is_refused_is_said_and_the_list_tells_the_truth(team: Served, open_page: Callable[[str, str], Page]):
    project = made(team, "Nobody chosen")
    ada = unfolded(open_page("ada", f"/projects/{project}"))
    ada.get_by_role("button", name="Let them in").click()
    expect(ada.locator(".toast.warn")).to_contain_text("Choose first whom to let in.")
    emil = team.platform.users.create("emil", Role.OPERATOR, password=PASSWORD, by=SOLO)
    page = unfolded(open_page("emil", f"/projects/{project}"))
    expect(page.get_by_role("button", name="Let them in")).to_be_visible()
    team.platform.users.add_member(project, "emil", Role.VIEWER, by=SOLO)
    team.platform.users.set_role(emil.id, Role.VIEWER, by=SOLO)
    expect(page.get_by_role("button", name="Let them in")).to_have_count(0)


def test_who_is_in_a_project_can_be_read_on_a_desk_and_on_a_phone(
    team: Served, open_page: Callable[[str, str], Page], folder: Path
):
    project = made(team, "Leaves of the north field")
    team.platform.users.add_member(project, "grace", Role.LABELLER, by=SOLO)
    page = unfolded(open_page("ada", f"/projects/{project}"))
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light")
    page.wait_for_timeout(300)
    page.locator("#people").evaluate("fold => fold.scrollIntoView({ block: 'center' })")
    picture(page, "people", folder)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
