"""Every page in a real browser: on a desk, on a phone, in the dark; live; by keyboard; with hostile names."""

import io
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from seedbed.assets.access.roles import SOLO
from seedbed.base.ids import new_id
from seedbed.base.resources import Resources
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobClass, JobSpec
from seedbed.runtime.jobs.states import State
from tests.faces.ui.conftest import PHONE, Served, Watched, alive, entered
from tests.faces.ui.content import EVIL, ended

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
PAGES = {
    "home": "/",
    "queue": "/queue",
    "job": "/jobs/{running}",
    "job-failed": "/jobs/{failed}",
    "compare": "/compare?jobs={running},{done}",
    "bundles": "/bundles",
    "report": "/bundles/{report}",
    "predictions": "/bundles/{predictions}",
    "hostile-bundle": "/bundles/{evil_bundle}",
    "data": "/data",
    "data-set": "/data/{data}",
    "hostile-data-set": "/data/{evil_data}",
    "project": "/projects/{project}",
    "doctor": "/doctor",
}


@pytest.fixture
def apart(browser: Browser, solo: Served) -> Iterator[Watched]:
    """For tests that leave something behind in the browser."""
    context = entered(browser, solo)
    yield Watched(context.new_page())
    context.close()


def picture(page: Page, name: str, folder: Path) -> None:
    """A screenshot with few colours, small enough to keep; classes and the page keep theirs."""
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    few = shot.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
    few.save(folder / f"{name}.png", optimize=True)


def count(name: str, steps: int, seconds: float) -> JobSpec:
    params = {"steps": steps, "seconds_per_step": seconds, "tag": new_id()}
    return JobSpec("sleep-and-count", params, name=name, resources=Resources(cpus=0.1, memory=128 << 20))


@pytest.fixture
def quick(solo: Served) -> Job:
    """A job that overtakes the waiting one: trial and error."""
    spec = count("counting along", 12, 0.25)
    return solo.platform.jobs.submit(JobSpec.from_json({**spec.to_json(), "cls": "te"}), by=SOLO)


@pytest.mark.parametrize("name", list(PAGES))
def test_a_page_is_whole_on_a_desk_on_a_phone_and_in_the_dark(watched: Watched, solo: Served, name: str):
    page = watched.go(solo.url + PAGES[name].format(**vars(solo.content)))
    assert page.locator("h1").count() == 1
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 20, 17)"
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert watched.wrong == []
    assert watched.hosts == {"127.0.0.1"}
    assert page.evaluate("window.hacked") is None


def test_the_printed_address_opens_the_door_and_hides_its_token(browser: Browser, solo: Served):
    context = browser.new_context()
    page = context.new_page()
    page.goto(solo.entrance)
    alive(page)
    assert page.url == solo.url + "/"
    context.close()


def test_names_that_people_gave_are_shown_and_never_become_markup(watched: Watched, solo: Served):
    assert solo.content
    for path in (
        "/bundles?all=1",
        f"/bundles/{solo.content.evil_bundle}",
        f"/data/{solo.content.evil_data}",
        "/queue",
    ):
        page = watched.go(solo.url + path)
        expect(page.get_by_text(EVIL, exact=False).first).to_be_visible()
        assert page.locator("#main img[src='x']").count() == 0
        assert page.evaluate("window.hacked") is None
    assert watched.wrong == []


def test_a_search_for_markup_shows_it_as_text(watched: Watched, solo: Served):
    page = watched.go(f"{solo.url}/bundles?q=%22%3E%3Cscript%3Ewindow.hacked%3D1%3C%2Fscript%3E")
    expect(page.locator("[data-search]")).to_have_value('"><script>window.hacked=1</script>')
    assert page.evaluate("window.hacked") is None


def test_a_page_follows_its_job_without_reloading(watched: Watched, solo: Served, quick: Job):
    page = watched.go(f"{solo.url}/jobs/{quick.id}")
    page.evaluate("window.same = true")
    expect(page.locator(".state.running")).to_be_visible()
    expect(page.locator("#main .chart svg path[stroke='var(--c1)']").first).to_be_attached()
    expect(page.locator(".top .lead")).to_contain_text("Done in")
    expect(page.locator(".state.done").first).to_be_visible()
    expect(page.get_by_role("heading", name="What came out")).to_be_visible()
    expect(page.get_by_role("button", name="Run again…")).to_be_visible()
    assert page.evaluate("window.same") is True
    assert watched.wrong == []


def test_the_queue_shows_live_progress_and_why_a_job_waits(watched: Watched, solo: Served):
    assert solo.content
    page = watched.go(f"{solo.url}/queue")
    waiting = page.locator("li.job", has_text="one that needs the whole machine")
    expect(waiting.locator(".going")).to_contain_text("eeds 2 cpus")
    bar = page.locator("li.job", has_text="a slow count").get_by_role("progressbar")
    before = float(bar.get_attribute("aria-valuenow") or 0)
    page.wait_for_function(
        "([id, before]) => Number(document.getElementById(id).ariaValueNow) > before",
        arg=[bar.get_attribute("id"), before],
    )


def test_the_owner_is_told_on_every_open_page_and_by_the_browser(apart: Watched, solo: Served, quick: Job):
    context = apart.page.context
    context.grant_permissions(["notifications"], origin=solo.url)
    context.add_init_script(
        "window.told = []; window.Notification = class { static permission = 'granted';"
        "constructor(title, options) { window.told.push(options.body); } };"
    )
    other = context.new_page()
    for page, path in ((apart.page, "/bundles"), (other, "/doctor")):
        page.goto(solo.url + path)
        alive(page)
    for page in (apart.page, other):
        expect(page.locator(".toast")).to_contain_text("counting along is done.", timeout=60_000)
        expect(page.locator(".toast a")).to_have_attribute("href", f"/jobs/{quick.id}")
        assert page.evaluate("window.told") == ["counting along is done."]


def test_the_first_page_shows_a_new_project_without_reloading(watched: Watched, solo: Served):
    page = watched.go(solo.url + "/")
    made = solo.platform.projects.create("Orchard", classes=["apple", "pear"], by=SOLO)
    tile = page.get_by_role("link", name="Orchard")
    expect(tile).to_contain_text("no images yet")
    solo.platform.projects.delete(made.id, by=SOLO)
    expect(tile).to_have_count(0)


def test_who_is_alone_is_not_asked_about_people(watched: Watched, solo: Served):
    assert solo.content
    page = watched.go(f"{solo.url}/projects/{solo.content.project}")
    expect(page.locator("#wishes")).to_be_visible()
    expect(page.locator("#people")).to_have_count(0)
    watched.go(f"{solo.url}/users")
    expect(page.locator(".empty")).to_contain_text("seedbed up --team")
    expect(page.get_by_role("button", name="Make the account")).to_have_count(0)


def test_the_images_of_a_project_stand_on_the_first_page_once(watched: Watched, solo: Served):
    assert solo.content
    page = watched.go(solo.url + "/")
    expect(page.locator(f"a.tile[href='/projects/{solo.content.project}'] img").first).to_be_visible()
    expect(page.locator(f"a.tile[href='/data/{solo.content.data}']")).to_have_count(0)
    expect(page.locator(f"a.tile[href='/data/{solo.content.evil_data}']")).to_have_count(1)


def test_cancelling_asks_first_and_running_again_makes_a_new_job(watched: Watched, solo: Served):
    made = solo.platform.jobs.submit(JobSpec.from_json({**count("to stop", 500, 0.5).to_json(), "cls": "te"}), by=SOLO)
    page = watched.go(f"{solo.url}/jobs/{made.id}")
    expect(page.locator(".state.running")).to_be_visible()
    page.get_by_role("button", name="Cancel this job…").click()
    page.get_by_role("button", name="Keep it").click()
    assert solo.platform.jobs.get(made.id, by=SOLO).state == State.RUNNING
    page.get_by_role("button", name="Cancel this job…").click()
    page.get_by_role("button", name="Cancel the job").click()
    expect(page.locator(".state.cancelled")).to_be_visible()
    page.get_by_role("button", name="Run again…").click()
    page.get_by_role("button", name="Run again", exact=True).click()
    page.wait_for_url(lambda url: "/jobs/" in url and made.id not in url)
    again = page.url.rpartition("/")[2]
    assert solo.platform.jobs.get(again, by=SOLO).spec.params == made.spec.params
    assert solo.platform.jobs.get(again, by=SOLO).spec.resources == made.spec.resources
    solo.platform.jobs.cancel(again, by=SOLO)
    ended(solo.platform, solo.platform.jobs.get(again, by=SOLO))


def test_a_job_that_had_too_little_memory_is_run_again_with_more(watched: Watched, solo: Served):
    spec = replace(count("hungry", 1, 1.0), cls=JobClass.TE, resources=Resources(cpus=0.1, memory=8 << 20))
    hungry = ended(solo.platform, solo.platform.jobs.submit(spec, by=SOLO))
    page = watched.go(f"{solo.url}/jobs/{hungry.id}")
    expect(page.locator(".top .lead")).to_contain_text(f"seedbed jobs rerun {hungry.id} --memory ")
    page.get_by_role("button", name="Run again…").click()
    asked = page.get_by_role("dialog", name="Run hungry again?")
    memory, again = asked.get_by_label("Memory that it may take"), asked.get_by_role("button", name="Run again")
    expect(memory).to_have_value("8M")
    refusals = {"plenty": "'plenty' is not an amount of memory.", "900T": "which no machine here has"}
    for wrong, told in {**refusals, "0": "memory is 0; it must be a number of at least 1."}.items():
        memory.fill(wrong)
        again.click()
        expect(asked.get_by_role("alert")).to_contain_text(told)  # where it was typed, and it stays
        expect(memory).to_have_value(wrong)
    memory.fill("512M")
    again.click()
    page.wait_for_url(lambda url: "/jobs/" in url and hungry.id not in url)
    made = ended(solo.platform, solo.platform.jobs.get(page.url.rpartition("/")[2], by=SOLO))
    assert (made.state, made.spec.resources.memory) == (State.DONE, 512 << 20)
    assert watched.wrong == []


def until_it_has_a_curve(solo: Served) -> None:
    """The running job counts once a second, and may have begun only now."""
    assert solo.content
    cursor, until = 0, time.monotonic() + 60
    while len(solo.platform.jobs.metrics(solo.content.running, by=SOLO).get("count", ())) < 2:
        assert time.monotonic() < until
        _, cursor = solo.platform.feed.wait(cursor, 0.5, by=SOLO)


def test_curves_of_two_jobs_lie_over_each_other(watched: Watched, solo: Served):
    assert solo.content
    until_it_has_a_curve(solo)
    page = watched.go(f"{solo.url}/compare?jobs={solo.content.running},{solo.content.done}")
    texts = page.locator("#main .chart svg text").all_text_contents()
    assert {"a slow count", "a quick count"} <= set(texts)
    lines = page.locator("#main .chart svg path[fill='none']")
    strokes = {lines.nth(number).get_attribute("stroke") for number in range(lines.count())}
    assert {"var(--c1)", "var(--c2)"} <= strokes


def test_only_jobs_that_have_learning_curves_are_offered_for_comparison(watched: Watched, solo: Served):
    assert solo.content
    until_it_has_a_curve(solo)
    page = watched.go(f"{solo.url}/compare?jobs={solo.content.waiting}")
    offered = page.locator("form [name=pick]")
    values = [offered.nth(number).get_attribute("value") for number in range(offered.count())]
    assert {solo.content.running, solo.content.done} < set(values)
    assert values[0] == solo.content.waiting  # it was asked for, and stays chosen
    assert solo.content.failed not in values
    assert not any(solo.platform.jobs.get(str(job), by=SOLO).step == "ingest" for job in values)
    expect(page.get_by_text("Without a learning curve so far: one that needs the whole machine.")).to_be_visible()
    for name in ("a quick count", "a slow count"):
        page.get_by_role("checkbox", name=name).check()
    page.get_by_role("button", name="Lay these over each other").click()
    expect(page.locator("#main .chart svg text", has_text="a quick count").first).to_be_visible()
    assert watched.wrong == []


def test_a_click_in_the_lineage_leads_to_the_bundle(watched: Watched, solo: Served):
    assert solo.content
    page = watched.go(f"{solo.url}/bundles/{solo.content.report}")
    graph = page.locator(".chart.graph")
    graph.scroll_into_view_if_needed()
    node = graph.locator("svg text", has_text="crop leaves").bounding_box()
    assert node
    page.mouse.click(node["x"] + node["width"] / 2, node["y"] - 14)
    page.wait_for_url(f"**/bundles/{solo.content.data}")


def test_keys_reach_everything_and_the_first_leads_to_the_content(watched: Watched, solo: Served):
    page = watched.go(solo.url + "/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.goto(solo.url + "/")
    alive(page)
    wanted = page.evaluate(
        "[...document.querySelectorAll('a[href], button, input, select')].filter(e => e.checkVisibility()"
        " && !e.closest('dialog:not([open])')).length"
    )
    reached = 0
    for _ in range(wanted):
        page.keyboard.press("Tab")
        seen = page.evaluate(
            "(() => { const e = document.activeElement; const s = getComputedStyle(e);"
            " return [s.outlineStyle, (e.ariaLabel || e.textContent || '').trim().length]; })()"
        )
        assert seen[0] == "solid" and seen[1] > 0
        reached += 1
    assert reached == wanted


def test_shortcuts_are_shown_and_lead_where_they_say(watched: Watched, solo: Served):
    page = watched.go(solo.url + "/")
    page.keyboard.press("?")
    expect(page.locator("dialog#shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog#shortcuts")).to_be_hidden()
    for key, path in (("q", "/queue"), ("b", "/bundles"), ("h", "/")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(solo.url + path)
        alive(page)
    page.goto(solo.url + "/bundles")
    alive(page)
    page.keyboard.press("/")
    page.keyboard.type("gq?")
    expect(page.locator("[data-search]")).to_have_value("gq?")


def test_the_choice_of_colours_is_remembered(apart: Watched, solo: Served):
    page = apart.go(solo.url + "/")
    for choice in ("light", "dark"):
        page.locator("[data-theme-button]").click()
        expect(page.locator("html")).to_have_attribute("data-choice", choice)
    apart.go(solo.url + "/queue")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_on_a_phone_the_navigation_is_a_menu(watched: Watched, solo: Served):
    page = watched.page
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    watched.go(solo.url + "/")
    expect(page.get_by_role("link", name="Queue", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Queue", exact=True).click()
    page.wait_for_url(solo.url + "/queue")


@pytest.mark.parametrize("path", ["/jobs/0000", "/bundles/no-such", "/data/no-such", "/projects/no-such", "/nowhere"])
def test_what_is_not_there_is_said_in_a_sentence(watched: Watched, solo: Served, path: str):
    answer = watched.page.goto(solo.url + path)
    assert answer and answer.status == 404
    expect(watched.page.locator("h1")).to_have_text("Not here")
    expect(watched.page.get_by_role("link", name="Go to the first page")).to_be_visible()
    expect(watched.page.locator("main")).not_to_contain_text("seedbed ")  # a command says nothing to who is here
