"""Several people: the first operator, roles on pages, what somebody may not see, signing out."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from seedbed.assets.access.roles import SOLO, Role
from seedbed.assets.store.bundle import ArrayType, Bundle, Draft, DraftArray, Lineage
from seedbed.faces.ui.app import declare
from seedbed.faces.ui.parts.tokens import end_in_words
from seedbed.faces.ui.site import PAGES
from tests.faces.ui.conftest import PHONE, Served, alive
from tests.faces.ui.serve import CODE

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def team(serve: Callable[[str], Served], browser: Browser) -> Served:
    """A team's server whose first operator has been set up through the page."""
    served = serve("")
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{served.url}/set-up?code={CODE}")
    page.get_by_label("Your name").fill("ada")
    page.get_by_label("A password").fill(PASSWORD)
    page.get_by_role("button").click()
    alive(page)
    expect(page.locator("h1")).to_have_text("Home")
    context.close()
    return served


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()


def sign_in(page: Page, team: Served, name: str, path: str = "/") -> None:
    page.goto(team.url + path)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def test_an_operator_lets_somebody_in_gives_a_role_and_disables(page: Page, team: Served):
    sign_in(page, team, "ada", "/users")
    alive(page)
    page.get_by_label("Name", exact=True).fill("grace")
    page.get_by_label("First password").fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    row = page.locator("tr", has=page.get_by_label("Role of grace")).first
    expect(row).to_be_visible()
    assert team.platform.users.get("grace", by=SOLO).role == Role.LABELLER
    row.get_by_role("button", name="Disable…").click()
    page.get_by_role("button", name="Disable grace").click()
    expect(row.locator(".state")).to_have_text("disabled")
    done = page.locator("section.card", has_text="Who did what lately").locator("tr", has_text="user.disable")
    expect(done.first).to_contain_text("grace")  # by name, and without reloading
    assert team.platform.users.get("grace", by=SOLO).disabled
    row.get_by_role("button", name="Let in again…").click()
    expect(page.get_by_role("dialog")).to_contain_text("all their API tokens open the door again")
    assert team.platform.users.get("grace", by=SOLO).disabled
    page.get_by_role("button", name="Let grace in again", exact=True).click()
    expect(row.get_by_role("button", name="Disable…")).to_be_visible()
    assert not team.platform.users.get("grace", by=SOLO).disabled


def test_an_operator_sets_a_forgotten_password_and_everybody_their_own(page: Page, team: Served):
    team.platform.users.create("flora", Role.LABELLER, password="forgotten by flora", by=SOLO)
    sign_in(page, team, "ada", "/users")
    alive(page)
    page.locator("tr", has=page.get_by_label("Role of flora")).get_by_role("button", name="New password…").click()
    asked = page.get_by_role("dialog", name="A new password for flora")
    expect(asked).to_contain_text("their API tokens go on")
    asked.get_by_label("New password of flora").fill("x")
    asked.get_by_role("button", name="Keep this password").click()
    expect(asked.get_by_role("alert")).to_contain_text("The password is too short")  # where it can be read
    expect(page.locator(".toast.failed")).to_have_count(0)
    asked.get_by_label("New password of flora").fill(PASSWORD)
    asked.get_by_role("button", name="Keep this password").click()
    expect(page.locator(".toast", has_text="flora signs in with the new password now.")).to_be_visible()
    page.context.clear_cookies()
    sign_in(page, team, "flora")
    alive(page)
    page.get_by_role("link", name="flora").click()
    expect(page.locator(".lead")).to_contain_text("You are flora, and your role is labeller.")
    page.get_by_label("Your address").fill("flora@example.org")
    page.get_by_role("button", name="Keep this address").click()
    expect(page.locator(".toast", has_text="The address is kept.")).to_be_visible()
    assert team.platform.users.get("flora", by=SOLO).mail == "flora@example.org"
    own = page.locator("section.card", has_text="A new password")
    expect(own).to_contain_text("Your API tokens go on")
    own.get_by_label("New password").fill("only flora knows it")
    own.get_by_label("Present password").fill("somebody's guess")
    own.get_by_role("button", name="Keep this password").click()
    expect(own.get_by_role("alert")).to_contain_text("That is not your present password.")
    assert team.platform.users.sign_in("flora", PASSWORD)
    own.get_by_label("Present password").fill(PASSWORD)
    own.get_by_role("button", name="Keep this password").click()
    page.wait_for_url("**/sign-in*")
    assert team.platform.users.sign_in("flora", "only flora knows it")


def test_everybody_makes_sees_and_revokes_their_own_tokens(page: Page, team: Served):
    users = team.platform.users
    users.create("tilda", Role.VIEWER, password=PASSWORD, by=SOLO)
    users.make_token("ada", "of somebody else", by=SOLO)
    sign_in(page, team, "tilda", "/you")
    alive(page)
    own = page.locator("section.card", has=page.get_by_role("heading", name="API tokens"))
    expect(own).to_contain_text("You have no token yet.")
    own.get_by_role("button", name="Make this token").click()
    refused, name = own.get_by_role("alert"), own.get_by_label("What it is for")
    expect(refused).to_contain_text("The token's name is empty")
    name.fill("field\alaptop")
    own.get_by_role("button", name="Make this token").click()
    expect(refused).to_contain_text("The token's name holds control characters")
    expect(name).to_have_value("field\alaptop")
    name.fill("field laptop")
    own.get_by_role("button", name="Make this token").click()
    expect(refused).to_have_text("")
    expect(name).to_have_value("")
    text = own.locator("code.token").inner_text()
    here = {"Authorization": f"Bearer {text}"}
    assert httpx.get(f"{team.url}/api/v1/users/tilda", headers=here).json()["name"] == "tilda"
    row = own.locator("tr", has_text="field laptop")
    expect(row).to_contain_text("not used yet")
    (kept,) = users.tokens("tilda", by=SOLO)
    assert round((kept.expires - kept.created) / 86400) == 90
    page.reload()
    alive(page)
    expect(row).to_contain_text("used just now")
    assert text not in page.content()
    expect(own.locator("tbody tr")).to_have_count(1)
    row.get_by_role("button", name="Revoke…").click()
    expect(page.get_by_role("dialog")).to_contain_text("Whatever uses it will be let in no longer")
    page.get_by_role("button", name="Leave it").click()
    assert users.identify(text)
    row.get_by_role("button", name="Revoke…").click()
    page.get_by_role("button", name="Revoke this token").click()
    expect(own).to_contain_text("You have no token yet.")
    assert httpx.get(f"{team.url}/api/v1/users/tilda", headers=here).status_code == 401
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_until_when_a_token_works_is_told_in_words():
    day = 86400.0
    assert end_in_words(0.0, now=day) == "until it is revoked"
    assert end_in_words(400.5 * day, now=day) == "until 1971-02-05"
    assert end_in_words(400.5 * day, now=401 * day) == "no longer: it expired 1971-02-05"


def test_a_password_that_is_refused_is_told_in_a_sentence(page: Page, team: Served):
    sign_in(page, team, "ada", "/users")
    alive(page)
    page.get_by_label("Name", exact=True).fill("short")
    page.get_by_label("First password").fill("x")
    page.get_by_role("button", name="Make the account").click()
    expect(page.locator(".toast.failed")).to_be_visible()
    lines = page.locator(".toast.failed > div").inner_text().split("\n")
    assert lines[0] == "The user was not made." and len(lines) > 1  # each mistake on a line of its own
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_viewer_sees_no_doors_that_are_closed_to_them(page: Page, team: Served):
    team.platform.users.create("vera", Role.VIEWER, password=PASSWORD, by=SOLO)
    hidden = team.platform.projects.create("not for vera", by=SOLO)
    sign_in(page, team, "vera")
    alive(page)
    expect(page.get_by_role("link", name="Machine")).to_have_count(0)
    expect(page.get_by_role("link", name="People")).to_have_count(0)
    expect(page.locator(".empty")).to_contain_text("Ask somebody who runs a project to let you in")
    expect(page.get_by_role("link", name="Begin a project")).to_have_count(0)
    assert "not for vera" not in page.content()
    for path, status in (("/users", 403), ("/doctor", 403), (f"/projects/{hidden.id}", 404)):
        answer = page.goto(team.url + path)
        assert answer and answer.status == status
        assert "not for vera" not in page.content()


def test_a_lineage_names_no_bundle_of_a_project_that_somebody_may_not_see(page: Page, team: Served):
    team.platform.users.create("viktor", Role.VIEWER, password=PASSWORD, by=SOLO)
    hidden = team.platform.projects.create("not for viktor", by=SOLO)
    secret = _published(team, "secret origin", project=hidden.id)
    made = _published(team, "open result", secret, project="")
    sign_in(page, team, "viktor", f"/bundles/{made.uuid}")
    alive(page)
    listed = page.get_by_role("list", name="Lineage of open result, as links")
    expect(listed).to_contain_text("a bundle of another project")
    assert "secret origin" not in page.content()
    expect(listed.get_by_role("link")).to_have_count(1)


def _published(team: Served, name: str, *made_from: Bundle, project: str) -> Bundle:
    inputs = tuple(("data", one.uuid) for one in made_from)
    arrays = {"text": DraftArray(ArrayType.STR, (name,))}
    return team.platform.store.publish(
        Draft(name=name, kind="notes", arrays=arrays, lineage=Lineage(step="write", inputs=inputs), project=project)
    )


def test_signing_out_closes_the_pages(page: Page, team: Served):
    team.platform.users.create("olga", Role.OPERATOR, password=PASSWORD, by=SOLO)
    sign_in(page, team, "olga")
    alive(page)
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in*")
    page.goto(team.url + "/queue")
    assert "/sign-in" in page.url


def test_an_open_page_loses_its_power_with_its_role(page: Page, team: Served):
    team.platform.users.create("emil", Role.OPERATOR, password=PASSWORD, by=SOLO)
    sign_in(page, team, "emil", "/users")
    alive(page)
    team.platform.users.set_role("emil", Role.VIEWER, by=SOLO)
    page.get_by_label("Name", exact=True).fill("friend")
    page.get_by_label("First password").fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    expect(page.locator(".toast.failed")).to_contain_text("needs the role operator")
    assert "friend" not in [user.name for user in team.platform.users.list(by=SOLO)]


@pytest.mark.parametrize("path", ["/", "/queue", "/_seedbed/seedbed.css", "/_seedbed/seedbed.js", "/users"])
def test_nothing_of_the_pages_is_served_to_strangers(team: Served, path: str):
    assert httpx.get(team.url + path).status_code == 401
    assert httpx.get(team.url + path, headers={"Accept": "text/html"}).status_code == 303


def test_every_page_declares_its_role_where_the_walk_over_all_routes_looks():
    program = (
        "import json, nicegui\n"
        "from fastapi import FastAPI\n"
        "from seedbed.faces.api.app import role_of\n"
        "from seedbed.faces.ui.app import mount\n"
        "from types import SimpleNamespace\n"
        "app = FastAPI(); app.state.door = SimpleNamespace(who=None)\n"
        "mount(app, None)\n"
        "from seedbed.faces.ui.site import PAGES\n"
        "found = {r.path: role_of(r) for r in nicegui.app.routes if getattr(r, 'path', '') in PAGES}\n"
        "print(json.dumps({path: needs and str(needs.role) for path, needs in found.items()}))\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True, timeout=120
    )
    declare()
    assert json.loads(done.stdout) == {path: page.role.value for path, page in PAGES.items()}
