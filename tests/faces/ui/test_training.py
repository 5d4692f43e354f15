"""A training from the page: one button, or everything; mistakes stand by their field; the report as a page."""

from contextlib import suppress
from inspect import signature

import pytest
from playwright.sync_api import Page, expect

from seedbed.assets.access.roles import SOLO
from seedbed.base.errors import Conflict
from seedbed.faces.cli.commands.train import train
from seedbed.faces.ui.parts import trainform
from seedbed.flows.recipes.few_labels import SIZE
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobClass
from tests.faces.ui.conftest import DESK, PHONE, Served, Watched
from tests.faces.ui.content import ended


@pytest.fixture
def form(watched: Watched, solo: Served) -> Page:
    assert solo.content
    return watched.go(f"{solo.url}/projects/{solo.content.project}")


def started(page: Page, solo: Served) -> dict[str, Job]:
    """The jobs of the training that was begun on the project's page, taken out of the queue again."""
    assert solo.content
    expect(page.get_by_role("button", name="Stop for now")).to_be_visible()
    jobs = dict(solo.platform.trainings.of(solo.content.project, by=SOLO).jobs or {})
    for job in jobs.values():
        with suppress(Conflict):  # the first ones may have ended by themselves
            solo.platform.jobs.cancel(job.id, by=SOLO)
    for job in jobs.values():
        ended(solo.platform, job)
    return jobs


def test_one_button_trains_with_the_labels_of_the_project(form: Page, watched: Watched, solo: Served):
    assert solo.content
    expect(form.get_by_label("Steps", exact=True)).to_be_hidden()
    form.get_by_role("button", name="Train with 30 labels").click()
    jobs = started(form, solo)
    assert jobs["train"].spec.params == {"size": SIZE}
    assert jobs["train"].project == solo.content.project
    assert jobs["sample-labels"].spec.params["per_class"] == 0
    assert watched.wrong == []


def test_what_an_expert_chooses_reaches_the_step(form: Page, solo: Served):
    form.get_by_text("Advanced", exact=True).click()
    expect(form.locator(".choice")).to_have_count(len(trainform.NAMES))
    form.get_by_label("Algorithm").click()
    form.get_by_role("option", name="fixmatch").click()
    expect(form.get_by_text("what the weak view says")).to_be_visible()
    form.get_by_label("Steps", exact=True).fill("7")
    form.get_by_label("Patience (0: never ends early)").fill("4")
    form.get_by_label("Learning rate").fill("0.01")
    form.get_by_label("Labels of each class (0: all)").fill("3")
    form.get_by_label("Seed", exact=True).fill("11")
    form.get_by_label("Grouped by column").fill("plant")
    form.get_by_label("Memory (else enough)").fill("2.5G")
    form.get_by_label("When it runs").click()
    form.get_by_role("option", name="When there is room").click()
    form.get_by_label("Other settings").fill("ema=0.9 threshold=0.8")
    form.get_by_role("button", name="Train with 30 labels").click()
    jobs = started(form, solo)
    assert jobs["train"].spec.seed == 11
    assert jobs["sample-labels"].spec.params["per_class"] == 3
    assert jobs["sample-labels"].spec.params["group"] == "plant"
    assert jobs["train"].spec.resources and jobs["train"].spec.resources.memory == 2560 << 20
    assert jobs["train"].spec.cls is JobClass.BE
    assert jobs["train"].spec.params == {
        "size": SIZE,
        "algorithm": "fixmatch",
        "steps": 7,
        "patience": 4,
        "learning_rate": 0.01,
        "ema": 0.9,
        "options": {"threshold": 0.8},
    }


def test_the_rate_that_would_be_taken_stands_by_its_field_and_follows_the_batches(form: Page, watched: Watched):
    form.get_by_text("Advanced", exact=True).click()
    field = form.locator(".choice", has=form.get_by_label("Learning rate"))
    expect(field).to_contain_text("0.0005: the usual one.")
    form.get_by_label("Labelled images a step", exact=True).fill("4")
    expect(field).to_contain_text(
        "0.00028: less than the 0.0005 of the usual batches of 16 + 48, since batches of 4 + 48"
    )
    form.get_by_label("Learning rate").fill("0.01")
    expect(field).to_contain_text("0.01: as it was set.")
    assert watched.wrong == []


def test_a_training_that_may_take_fewer_steps_says_so_where_its_start_is_chosen(form: Page, watched: Watched):
    form.get_by_text("Advanced", exact=True).click()
    field = form.locator(".choice", has=form.get_by_label("Start from the weights"))
    fewer = "Where these are surely quicker it takes fewer steps, unless you change steps, epochs or patience."
    expect(field).to_contain_text(fewer)
    form.get_by_label("Start from the weights").click()
    form.get_by_role("option", name="The usual ones of the backbone").click()
    expect(field).to_contain_text("The usual ones")
    expect(field).not_to_contain_text("fewer steps")
    assert watched.wrong == []


def test_every_mistake_stands_by_its_field_and_nothing_is_queued(form: Page, watched: Watched, solo: Served):
    before = len(solo.platform.jobs.list(by=SOLO, limit=1000))
    form.get_by_text("Advanced", exact=True).click()
    form.get_by_label("Steps", exact=True).fill("0")
    form.get_by_label("Backbone").fill("vit_tinny")
    form.get_by_label("Share for the test").fill("3")
    form.get_by_label("Memory (else enough)").fill("a lot")
    form.get_by_label("Values of ordered classes").fill("few, many")
    form.get_by_label("Other settings").fill("treshold=0.8")
    form.get_by_role("button", name="Train with 30 labels").click()
    field = form.locator(".choice", has=form.get_by_label("Steps", exact=True))
    expect(field.locator(".wrong")).to_have_text("This is 0; it must be at least 1.")
    expect(form.locator(".choice", has=form.get_by_label("Other settings")).locator(".wrong")).to_contain_text(
        "Did you mean 'threshold'"
    )
    expect(form.locator(".choice", has=form.get_by_label("Backbone")).locator(".wrong")).to_contain_text(
        "There is no backbone and no card named 'vit_tinny'. Did you mean 'vit_tiny'"
    )
    expect(form.get_by_text("This is 'few, many'; it takes numbers")).to_be_visible()
    expect(form.get_by_text("The share is 3; it must lie between 0 and 1.")).to_be_visible()
    expect(form.get_by_text("'a lot' is not an amount of memory.")).to_be_visible()
    form.set_viewport_size(PHONE)  # type: ignore[arg-type]
    form.wait_for_timeout(100)
    assert form.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert len(solo.platform.jobs.list(by=SOLO, limit=1000)) == before
    assert watched.wrong == []


@pytest.mark.parametrize(
    ("field", "sentences", "beside"),
    [
        ("start", "start: there is no backbone 'a'. Did you mean 'b'?", "There is no backbone 'a'. Did you mean 'b'?"),
        ("steps", "'steps' is 0.5; it must be a whole number.", "This is 0.5; it must be a whole number."),
        ("values", "values has nan. values must rise.", "This has nan. This must rise."),
        ("options", "options: 'emma' is no setting. options: ramp is 2.", "'emma' is no setting. ramp is 2."),
        ("options", "'options.ramp' is 'x'; it must be a number.", "'ramp' is 'x'; it must be a number."),
        ("memory", "'a lot' is not an amount of memory.", "'a lot' is not an amount of memory."),
        ("steps", "", ""),
    ],
)
def test_a_mistake_beside_its_field_does_not_repeat_the_name_of_the_setting(field: str, sentences: str, beside: str):
    assert trainform._beside(field, sentences) == beside


def test_a_report_tells_words_first_then_pictures_tables_and_mistakes(watched: Watched, solo: Served):
    assert solo.content
    page = watched.page
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    watched.go(f"{solo.url}/bundles/{solo.content.report}")
    expect(page.locator(".answer")).to_contain_text("that it had not seen, the model names")
    expect(page.get_by_text("before its temperature was fitted")).to_be_visible()
    for heading in ("Class by class", "How sure it is, and how often it is right", "How it learnt"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    assert page.locator(".chart.square svg path[stroke='var(--c2)']").count() > 0  # after, beside before
    wrong = page.locator(".thumbs.roomy figure")
    assert 0 < wrong.count() <= 24
    wrong.first.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.thumbs.roomy img').naturalWidth > 0")
    expect(wrong.first).to_contain_text("called")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert watched.wrong == []


def test_all_that_the_command_line_offers_stands_on_the_page_too() -> None:
    elsewhere = {"data", "data_option", "labels", "project", "nodes", "detach", "as_json"}  # the page's own, or refused
    called = {"backbone": "start", "lr": "learning_rate", "batch": "labelled_batch", "values_": "values"}
    options = {called.get(name, name) for name in signature(train).parameters} - elsewhere - {"set_"}
    assert options <= trainform.NAMES
