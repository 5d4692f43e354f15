"""The pages of the zoo in a real browser: what is nearest, why, which data sets are alike, what is in memory."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from seedbed.assets.access.roles import SOLO
from seedbed.assets.store.bundle import Draft, Lineage
from seedbed.base.ids import new_id
from seedbed.flows.kinds.kind import put
from seedbed.flows.kinds.models import Model, Weights
from seedbed.flows.kinds.zoo import Ranking, Similarity
from seedbed.flows.steps.embed import CARD
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State
from tests.faces.ui.conftest import PHONE, TOKEN, Served, Watched
from tests.faces.ui.content import ended
from tests.faces.ui.zoo_content import EVIL, ZooContent, fill_zoo, publish_card

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


def test_a_card_is_told_in_words_and_goes_after_a_question(
    watched: Watched, served: Served, zoo: ZooContent, tmp_path: Path
):
    store = served.platform.store
    made = publish_card(served.platform, tmp_path, "rye <b>", "rye fields", "")
    for number in range(60):
        lineage = Lineage("shortlist", inputs=(("card 0", made.uuid),))
        store.publish(Draft(f"{number}.shortlist", "shortlist", {}, lineage=lineage, derived=True))
    page = watched.go(f"{served.url}/zoo")
    page.get_by_role("link", name="rye <b>").click()
    page.wait_for_url(f"**/bundles/{made.uuid}")
    said = page.locator("section.card", has=page.get_by_role("heading", name="What it says"))
    known = ["tf_efficientnet_lite0", "rye fields", "12", "a, b", "94.1 %", "CC-BY-4.0", "13.0 MiB"]
    rest = ["leave it out: nothing is kept of the images", "It was used here lately"]
    for part in (*known, *rest):
        expect(said).to_contain_text(part)
    expect(page.get_by_text("and 48 more that were made of it")).to_be_visible()
    expect(page.locator("ul.made li")).to_have_count(13)
    expect(page.get_by_text("13600000")).to_have_count(0)
    well(watched)
    page.get_by_role("button", name="Remove it from the zoo…").click()
    page.get_by_role("button", name="Leave it").click()
    assert store.get(made.uuid)
    page.get_by_role("button", name="Remove it from the zoo…").click()
    page.get_by_role("button", name="Remove it for good").click()
    page.wait_for_url("**/zoo")
    expect(page.get_by_text("rye <b>")).to_have_count(0)
    assert store.find(name=made.name) == [] and watched.wrong == []


def test_weights_that_no_card_describes_keep_their_facts(
    watched: Watched, served: Served, zoo: ZooContent, tmp_path: Path
):
    platform = served.platform
    put(tmp_path / "weights" / "tuned.safetensors", "x")
    tuned = Weights(tmp_path, {"card": (CARD,), "size": (96,), "steps": (217,)})
    lineage = Lineage("tune", params={"card": CARD, "batch": 61})
    made = platform.store.publish(tuned.draft(name="beans.tuned", lineage=lineage))
    page = watched.go(f"{served.url}/bundles/{made.uuid}")
    expect(page.get_by_text("No card describes these weights")).to_be_visible()
    for number in ("217", "61"):
        expect(page.get_by_text(number, exact=True)).to_be_visible()
    older = publish_card(platform, tmp_path / "older", "rye", "rye fields", "")
    newest = publish_card(platform, tmp_path / "newest", "rye", "rye fields", "")
    page = watched.go(f"{served.url}/bundles/{older.uuid}")
    expect(page.get_by_text("Newer weights have taken the name 'rye'.")).to_be_visible()
    expect(page.get_by_text("tf_efficientnet_lite0", exact=True)).to_be_visible()
    platform.bundles.remove([made.uuid, older.uuid, newest.uuid], by=SOLO)
    assert watched.wrong == []


def test_of_many_data_sets_the_map_has_numbers_where_they_fit_and_the_table_is_whole(
    watched: Watched, served: Served, zoo: ZooContent, tmp_path: Path
):
    names = ["single-image-class", *(f"a data set of field {number}" for number in range(9))]
    distances = [[0.0 if a == b else 20.4 + a + b for a in range(10)] for b in range(10)]
    slots = [f"set{number:03d}" for number in range(10)]
    facts = {"names": names, "inputs": slots, "images": [12] * 10, "distances": distances, "shares": distances}
    made = served.platform.store.publish(Similarity.write(tmp_path / "t", {**facts, "space": "x"}).draft(name="many"))
    page = watched.go(f"{served.url}/zoo/similarity?of={made.uuid}")
    number = page.locator(".chart.heat svg text", has_text="21.4")
    expect(number).to_have_count(2)
    fits = "place => place.scrollWidth <= place.clientWidth"
    assert page.locator(".wide-place").evaluate(fits), "no column is cut off"
    whole = "heads => heads.every(head => head.scrollWidth <= head.clientWidth)"
    assert page.locator(".distances th").evaluate_all(whole)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    expect(number).to_have_count(0)
    expect(page.locator(".chart.heat svg path[fill^='rgb']")).to_have_count(100)
    well(watched)
    served.platform.bundles.remove([made.uuid], by=SOLO)


def test_rankings_for_every_network_are_listed(watched: Watched, served: Served, zoo: ZooContent, tmp_path: Path):
    again = served.platform.zoo.ranking(zoo.ranking, by=SOLO)
    facts = {name: again[name] for name in again if name not in ("bundle", "created")}
    made = Ranking.write(tmp_path / "other", {**facts, "baseline": "resnet18"}).draft(name="bean leaves.ranking")
    other = served.platform.store.publish(made)
    page = watched.go(f"{served.url}/zoo")
    rows = page.locator("tr", has=page.get_by_role("link", name="Why, for bean leaves"))
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("resnet18")
    expect(rows.nth(1)).to_contain_text(again["baseline"])
    expect(page.get_by_text("That takes about half a minute of one processor")).to_be_visible()
    served.platform.bundles.remove([other.uuid], by=SOLO)
    assert watched.wrong == []


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
    lead = "Start 'bean leaves' from 'wheat 2025': it should be as good after 55 %"
    expect(page.locator(".lead")).to_contain_text(lead)
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
    told = "It begins with what was learnt for 'wheat 2025', whose images are alike"
    expect(page.locator("#training .started")).to_contain_text(told)
    assert watched.wrong == []


def test_a_training_whose_ranking_was_removed_still_says_why_and_not_that_it_was_asked_for(
    watched: Watched, served: Served, zoo: ZooContent, whole_machine: Job, tmp_path: Path
):
    platform = served.platform
    flow = platform.trainings.start(zoo.project, by=SOLO).jobs["train"].flow
    jobs = {job.step: job for job in platform.jobs.list(flow=flow, by=SOLO)}
    told = platform.zoo.ranking(zoo.ranking, by=SOLO)
    facts = {name: told[name] for name in told if name not in ("bundle", "created")}
    ranking = platform.store.publish(Ranking.write(tmp_path / "ranking", facts).draft(name="gone.ranking")).uuid
    known = {"classes": ("a", "b"), "size": (32,), "architecture": ("resnet18",), "steps": (4,)}
    put(tmp_path / "model" / "model" / "model.json", "{}")
    draft = Model(tmp_path / "model", known).draft(name="beans.model", lineage=Lineage("train"))
    model = platform.store.publish(draft).uuid
    reason = told["advice"]["reason"]
    platform.store.tag(model, {"started-from": "wheat 2025", "why": reason})
    made = {"rank-weights": {"ranking": ranking, "start": ranking}, "train": {"model": model}}
    with platform.database.write() as conn:
        for step, outputs in made.items():
            for state in (State.STARTING, State.RUNNING):
                platform.queue.transition(conn, jobs[step].id, state)
            platform.queue.transition(conn, jobs[step].id, State.DONE, outputs=outputs)
    platform.bundles.remove([ranking], by=SOLO)
    page = watched.go(f"{served.url}/jobs/{jobs['train'].id}")
    expect(page.get_by_text("'wheat 2025'", exact=True)).to_be_visible()
    expect(page.get_by_text(reason, exact=True)).to_be_visible()
    watched.go(f"{served.url}/projects/{zoo.project}")
    expect(page.locator("#training .started")).to_have_text(reason)
    assert watched.wrong == []


def test_asking_what_is_nearest_leads_to_the_ranking_that_is_coming(
    watched: Watched, served: Served, zoo: ZooContent, whole_machine: Job
):
    page = watched.go(f"{served.url}/zoo")
    page.get_by_role("button", name="Compare it with all weights").click()
    page.wait_for_url("**/zoo/rank/*")
    expect(page.locator(".lead")).to_contain_text("The images are being compared.")
    assert watched.wrong == []
