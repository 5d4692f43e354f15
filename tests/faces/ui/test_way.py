"""The way through a project in a real browser: a new one from a folder, its steps, training, results, taking away."""

import csv
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Page, expect

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.assets.data.synthetic import write_leaves
from seedbed.assets.projects.classes import Kind
from seedbed.assets.projects.labels import LabelEvent, Source
from seedbed.assets.store.bundle import Draft, Lineage
from seedbed.base.ids import new_id
from seedbed.base.resources import Resources
from seedbed.flows.kinds.models import Download
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State
from tests.faces.ui.conftest import PHONE, TOKEN, Served, Watched, alive
from tests.faces.ui.content import ended
from tests.faces.ui.test_labelling import all_saved
from tests.faces.ui.tested import publish_tested
from tests.flows.made_up import made_up

PER_CLASS, LABELS = 5, 3
SERIOUS = ("serious", "critical")


@dataclass(frozen=True)
class Place:
    """A server with one project whose training is over, and the folder of its leaves."""

    served: Served
    leaves: Path
    project: str
    data: str

    def at(self, *parts: str) -> str:
        """An address of the project."""
        return "/".join((f"{self.served.url}/projects/{self.project}", *parts))


@pytest.fixture(scope="module")
def place(serve: Callable[[str], Served], tmp_path_factory: pytest.TempPathFactory) -> Place:
    served = serve(TOKEN)
    leaves = tmp_path_factory.mktemp("drawn") / "leaves"
    truth = _truth(write_leaves(leaves, PER_CLASS, seed=11, size=48))
    shutil.copy(min(leaves.glob("*.jpg")), leaves / "the-same-again.jpg")
    (leaves / "broken.jpg").write_bytes(b"no image")
    platform, quiet = served.platform, {"grouping": False, "proposals": False, "goal": 4}
    project = platform.projects.create("Leaf health", classes=sorted(set(truth.values())), settings=quiet, by=SOLO)
    job = ended(platform, platform.data.add(leaves, name="leaves", project=project.id, size=32, by=SOLO))
    assert job.state is State.DONE, job.reason
    platform.projects.set_data(project.id, job.outputs["data"], by=SOLO)
    _label(served, project.id, truth)
    publish_tested(platform, tmp_path_factory.mktemp("out"), project.id, job.outputs["data"], truth)
    return Place(served, leaves, project.id, job.outputs["data"])


@pytest.fixture(scope="module")
def served(place: Place) -> Served:
    return place.served


@pytest.fixture
def whole_machine(place: Place) -> Iterator[Job]:
    """Work of somebody else that leaves no room, so that a training waits and nothing is computed."""
    params = {"steps": 5000, "seconds_per_step": 0.2, "tag": new_id()}
    room = Resources(cpus=2, memory=128 << 20)
    spec = JobSpec("sleep-and-count", params, name="another piece of work", resources=room, grace=0.1)
    job = place.served.platform.jobs.submit(JobSpec.from_json({**spec.to_json(), "cls": "te"}), by=SOLO)
    yield job
    place.served.platform.jobs.cancel(job.id, by=SOLO)
    ended(place.served.platform, job)


def _truth(path: Path) -> dict[str, str]:
    with path.open(newline="") as file:
        return {row["file"]: row["class"] for row in csv.DictReader(file)}


def _label(served: Served, project: str, truth: dict[str, str]) -> None:
    for klass in sorted(set(truth.values())):
        files = [file for file, its in truth.items() if its == klass][:LABELS]
        served.platform.projects.add_labels(project, [LabelEvent(new_id(), f, klass, "") for f in files], by=SOLO)


def step(page: Page, name: str) -> str:
    """The sentence of a step."""
    return page.locator(f"#{name} .say").inner_text()


def test_a_project_is_made_from_a_folder_with_classes_colours_and_keys(watched: Watched, place: Place):
    page = watched.go(f"{place.served.url}/new")
    page.get_by_role("button", name="Make the project").click()
    wrong = page.get_by_role("alert").filter(has_text="Something is missing")
    expect(wrong.locator("li")).to_contain_text(["Give the project a name", "Drop a folder"])
    page.locator("#images input[data-part=folder]").set_input_files(place.leaves)
    expect(page.locator("#images .drop-said")).to_contain_text("32 files are here")
    expect(page.get_by_label("Name of the project")).to_have_value("leaves")
    expect(wrong).to_have_count(0)  # what has been mended is not called missing any more
    page.get_by_label("Name of the project").fill("Bean leaves")
    for number, name in enumerate(("healthy", "rust"), 1):
        page.get_by_label(f"Name of class {number}").fill(name)
    page.get_by_label("Key of class 2").fill("r")
    page.get_by_label("Leave out class 3").click()
    page.get_by_text("Also a class for everything else").click()
    page.get_by_text("Advanced settings").click()
    page.get_by_text("Put alike images together").click()
    page.get_by_text("Propose a class for each image").click()
    page.get_by_label("Labels of each class").fill("7")
    page.get_by_role("button", name="Make the project").click()
    page.wait_for_url("**/projects/*")
    alive(page)
    expect(page.locator("#images .say")).to_contain_text("30 images are in; 2 things to look at", timeout=60_000)
    made = place.served.platform.projects.get("Bean leaves", by=SOLO)
    assert (made.settings.goal, made.settings.grouping, made.settings.proposals) == (7, False, False)
    assert made.kind is Kind.CLASSES
    classes = place.served.platform.projects.classes(made.id, by=SOLO)
    assert [(one.name, one.key, one.other) for one in classes] == [
        ("healthy", "1", False),
        ("rust", "r", False),
        ("other", "0", True),
    ]
    assert classes[0].colour == "#0072b2"
    expect(page.get_by_role("link", name="Begin to label")).to_be_visible()
    assert watched.wrong == []


def test_files_that_are_dropped_and_bins_of_a_percentage_make_a_project_too(watched: Watched, place: Place):
    page = watched.go(f"{place.served.url}/new")
    page.get_by_label("Name of the project").fill("Leaf area")
    page.evaluate(
        """async () => {
          const transfer = new DataTransfer();
          for (const name of ["a", "b"]) {
            const canvas = new OffscreenCanvas(48, 48), paint = canvas.getContext("2d");
            paint.fillStyle = name === "a" ? "green" : "brown"; paint.fillRect(0, 0, 48, 48);
            transfer.items.add(new File([await canvas.convertToBlob({ type: "image/png" })], `${name}.png`));
          }
          const drop = new DragEvent("drop", { bubbles: true, dataTransfer: transfer });
          document.querySelector("#images").dispatchEvent(drop);
        }"""
    )
    expect(page.locator("#images .drop-said")).to_contain_text("2 files are here")
    missed = page.evaluate(
        """() => {
          const transfer = new DataTransfer();
          transfer.items.add(new File(["x"], "x.png"));
          const drop = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: transfer });
          return document.querySelector("h1").dispatchEvent(drop);
        }"""
    )
    assert missed is False, "the browser would leave the page to show the file"
    expect(page.locator(".toast", has_text="Drop files on a field with a dashed line.")).to_be_visible()
    page.get_by_role("button", name="How much").click()
    page.get_by_label("Where one ends").fill("0, 10, 100")
    page.get_by_label("Where one ends").press("Enter")
    expect(page.get_by_label("Name of class 3")).to_have_count(0)
    page.get_by_text("Advanced settings").click()
    page.get_by_text("Put alike images together").click()
    page.get_by_text("Propose a class for each image").click()
    page.get_by_role("button", name="Make the project").click()
    page.wait_for_url("**/projects/*")
    alive(page)
    expect(page.locator("#images .say")).to_contain_text("2 images are in", timeout=60_000)
    made = place.served.platform.projects.get("Leaf area", by=SOLO)
    classes = place.served.platform.projects.classes(made.id, by=SOLO)
    assert made.kind is Kind.BINS
    assert [(one.name, one.value) for one in classes] == [("0-10 %", 5.0), ("10-100 %", 55.0)]
    assert watched.wrong == []


def test_labels_that_somebody_has_already_come_in_with_the_images(watched: Watched, place: Place, tmp_path: Path):
    named = tmp_path / "named.csv"
    files = sorted(path.name for path in place.leaves.glob("leaf-*.jpg"))[:4]
    named.write_text("file,class\n" + "".join(f"{file},a{n % 2}\n" for n, file in enumerate(files)))
    page = watched.go(f"{place.served.url}/new")
    page.get_by_label("Name of the project").fill("Named before")
    page.get_by_label("A folder on the computer").fill(str(place.leaves))
    page.locator("#labels input[data-part=files]").set_input_files(named)
    expect(page.locator("#labels .drop-said.ok")).to_be_visible()
    page.get_by_text("Advanced settings").click()
    page.get_by_text("Put alike images together").click()
    page.get_by_text("Propose a class for each image").click()
    page.get_by_role("button", name="Make the project").click()
    page.wait_for_url("**/projects/*")
    expect(page.locator("#labels-step .say")).to_contain_text("4 of 30 images have labels", timeout=60_000)
    expect(page.locator(".toast", has_text="4 labels were brought in.")).to_be_visible()
    assert "labels=" not in page.url
    assert place.served.platform.projects.counts("Named before", by=SOLO) == {"a0": 2, "a1": 2}
    assert watched.wrong == []


def test_a_list_that_is_not_taken_says_why_until_the_labels_that_fit_are_taken(
    watched: Watched, place: Place, tmp_path: Path
):
    platform = place.served.platform
    made = platform.projects.create("Partly named", by=SOLO)
    platform.projects.set_settings(made.id, {"grouping": False, "proposals": False}, by=SOLO)
    platform.projects.set_data(made.id, place.data, by=SOLO)
    file = platform.data.records(place.data, limit=1, by=SOLO)[0]["file"]
    named = tmp_path / "named.csv"
    page = watched.go(f"{place.served.url}/projects/{made.id}")
    page.get_by_text("Labels that you have already").click()
    for content in ("a,b\n1,2\n", f"file,class\n{file},rust\nnowhere.jpg,rust\n"):
        named.write_text(content)
        page.locator("#more-labels input[data-part=files]").set_input_files(named)
        first = "has no column" if content.startswith("a,b") else "nowhere.jpg. No label was kept."
        expect(page.locator("#labels-step .note")).to_contain_text(first)
    page.get_by_role("button", name="Take the labels of the others").click()
    taken = "1 label was brought in. 1 is of an image that is not here."
    expect(page.locator(".toast", has_text=taken)).to_be_visible()
    expect(page.locator("#labels-step .note")).to_have_count(0)
    assert platform.projects.counts(made.id, by=SOLO) == {"rust": 1}
    assert watched.wrong == []


def test_the_steps_say_where_the_project_stands_and_findings_show_their_images(watched: Watched, place: Place):
    page = watched.go(place.at())
    expect(page.locator(".lead")).to_contain_text("Of images that it had not seen, it names")
    expect(page.locator(".lead")).to_contain_text("correctly. 18 labels so far")
    assert step(page, "images") == "30 images are in; 2 things to look at."
    assert step(page, "labels-step").startswith("18 of 30 images have labels. 6 more are wanted:")
    assert page.locator("#labels-step .tally dd.n").all_inner_texts() == ["3 of 4"] * 6
    copies = page.locator("#images .findings details", has_text="copy of another")
    expect(copies).to_be_hidden()  # labelling has begun: what was odd about the images is behind a click
    page.get_by_text("2 things to look at and more images").click()
    copies.locator("summary").click()
    expect(copies.locator("img").first).to_be_visible()
    page.locator("#images .findings details", has_text="broken.jpg").locator("summary").click()
    expect(page.get_by_text("Left out: broken.jpg.")).to_be_visible()
    assert "the-same-again.jpg" in copies.inner_text()
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.set_viewport_size({"width": 1280, "height": 860})
    assert watched.wrong == []


def test_findings_are_folded_for_who_comes_back_from_labelling_and_not_while_they_are_read(
    watched: Watched, place: Place
):
    platform = place.served.platform
    made = platform.projects.create("Read while labelled", classes=["rust"], by=SOLO)
    platform.projects.set_settings(made.id, {"grouping": False, "proposals": False}, by=SOLO)
    platform.projects.set_data(made.id, place.data, by=SOLO)
    page = watched.go(f"{place.served.url}/projects/{made.id}")
    finding = page.locator("#images .findings summary", has_text="copy of another")
    expect(finding).to_be_visible()
    file = platform.data.records(place.data, limit=1, by=SOLO)[0]["file"]
    platform.projects.add_labels(made.id, [LabelEvent(new_id(), file, "rust", "")], by=SOLO)
    expect(page.locator("#labels-step .say")).to_contain_text("1 of 30 images has a label")
    expect(finding).to_be_visible()
    watched.go(f"{place.served.url}/projects/{made.id}/label")
    page.go_back()
    expect(page.get_by_text("2 things to look at and more images")).to_be_visible()
    expect(finding).to_be_hidden()
    assert watched.wrong == []


def test_a_training_is_queued_stopped_let_go_on_and_ended_in_plain_words(
    watched: Watched, place: Place, whole_machine: Job
):
    platform, page = place.served.platform, watched.page
    while platform.jobs.get(whole_machine.id, by=SOLO).state is not State.RUNNING:
        page.wait_for_timeout(50)
    watched.go(place.at())
    page.evaluate("window.same = true")
    page.get_by_role("button", name="Train again with 18 labels").click()
    said = page.locator("#training .say")
    expect(said).to_contain_text("It is queued behind 1 other piece of work")
    expect(page.locator(".lead")).to_contain_text("It is queued behind")
    page.get_by_role("button", name="Stop for now").click()
    expect(said).to_contain_text("It is stopped for now")
    page.get_by_role("button", name="Go on from here").click()
    expect(said).to_contain_text("It is queued behind")
    beside = page.context.new_page()
    beside.goto(place.at("results"))
    expect(beside.get_by_text("these are the results of the training before")).to_be_visible()
    beside.close()
    page.get_by_role("button", name="End it…").click()
    page.get_by_role("button", name="Keep it").click()
    assert platform.trainings.of(place.project, by=SOLO).stage == "waiting"
    page.get_by_role("button", name="End it…").click()
    page.get_by_role("button", name="End the training").click()
    expect(said).to_contain_text("It was ended before it was done.")
    expect(page.get_by_role("button", name="Train again with 18 labels")).to_be_visible()
    page.locator("#training .q-checkbox").click()
    page.wait_for_timeout(300)
    assert platform.projects.get(place.project, by=SOLO).settings.train_by_itself
    platform.projects.set_settings(place.project, {"train_by_itself": False}, by=SOLO)
    assert page.evaluate("window.same") is True
    page.goto(place.at("label"))
    page.wait_for_selector("#labelling[data-ready]")
    offer = page.locator(".lb-ready")
    expect(offer).to_contain_text("It was ended before it was done.")
    page.keyboard.press("1")
    expect(offer).to_contain_text("There is 1 more label than it began with.")
    expect(offer.get_by_role("link", name="Train again with 19 labels")).to_be_visible()
    page.keyboard.press("u")
    expect(offer.get_by_role("link")).to_have_count(0)
    all_saved(page)
    assert watched.wrong == []


def test_a_click_in_the_table_of_mistakes_shows_exactly_those_images(watched: Watched, place: Place):
    page = watched.go(place.at("results"))
    expect(page.locator(".lead")).to_contain_text("Of 10 images that it had not seen, it names")
    expect(page.locator(".lead")).to_contain_text("With only 10 test images this is a rough figure")
    counts = page.locator(".matrix a.cell").all_inner_texts()
    assert sum(int(count) for count in counts) == 10
    for place_of_cell in (0, -1):
        cell = page.locator(".matrix a.cell").nth(place_of_cell)
        count, said = int(cell.inner_text()), cell.get_attribute("aria-label") or ""
        cell.click()
        alive(page)
        expect(page.locator("#chosen h3")).to_contain_text(said.partition(",")[0])
        expect(page.locator("#chosen figure")).to_have_count(count)
    shown = page.locator(".card", has_text="One more round").locator("figure img")
    first = [int((one.get_attribute("src") or "").split("/images/")[1].split("/")[0]) for one in shown.all()]
    page.get_by_role("link", name="Label these next").click()
    page.wait_for_selector("#labelling[data-ready]")
    cells = page.locator(".lb-cell:not([hidden])").evaluate_all("cells => cells.map((cell) => cell.id)")
    assert {f"image-{index}" for index in first} <= {*cells}, "the very images that were shown"
    assert watched.wrong == []


def test_everything_that_can_be_taken_away_comes_when_it_is_asked_for(watched: Watched, place: Place, tmp_path: Path):
    page = watched.go(place.at("takeaway"))
    saved = {"ONNX": "model.onnx", "safetensors": "model.safetensors"}
    saved["Download the folder"] = "Leaf health on a device.zip"
    for name, called in saved.items():
        with page.expect_download() as waiting:
            page.get_by_role("link", name=name).first.click()
        waiting.value.save_as(tmp_path / "file")
        assert waiting.value.suggested_filename == called
        assert (tmp_path / "file").stat().st_size > 0
    with page.expect_download() as waiting:
        page.locator(".take", has_text="What people said").get_by_role("link", name="Table (CSV)").click()
    waiting.value.save_as(tmp_path / "labels.csv")
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 19
    assert watched.wrong == []


def test_of_a_network_that_cannot_be_written_as_onnx_only_what_there_is_is_offered(
    watched: Watched, place: Place, tmp_path: Path
):
    platform = place.served.platform
    made = platform.projects.create("Odd network", settings={"grouping": False, "proposals": False}, by=SOLO)
    model = platform.store.publish(Draft("odd.model", "model", project=made.id))
    download = Download(tmp_path / "download", {"classes": ("a", "b"), "size": (32,)})
    download.place.mkdir(parents=True)
    for name in ("model.json", "model.safetensors", "model.pt", "README.txt"):
        (download.place / name).write_text("{}")
    lineage = Lineage("export", inputs=(("model", model.uuid),))
    platform.store.publish(download.draft(name="odd.download", project=made.id, lineage=lineage))
    page = watched.go(f"{place.served.url}/projects/{made.id}/takeaway")
    offered = page.locator(".take a").all_inner_texts()
    assert [name.partition(" (")[0] for name in offered[:4]] == ["model.json", "safetensors", "PyTorch", "README"]
    expect(page.get_by_text("This network cannot be written as ONNX")).to_be_visible()
    expect(page.get_by_text("For a device or another computer")).to_have_count(0)
    assert watched.wrong == []


def test_a_project_without_anything_says_what_to_do_next(watched: Watched, place: Place):
    made = place.served.platform.projects.create("Empty", settings={"grouping": False, "proposals": False}, by=SOLO)
    for path in ("results", "takeaway"):
        page = watched.go(f"{place.served.url}/projects/{made.id}/{path}")
        expect(page.get_by_role("link", name="Back to the project")).to_be_visible()
    expect(page.locator(".lead")).to_have_text("There is no model yet, and no label.")
    page = watched.go(f"{place.served.url}/projects/{made.id}/review")
    expect(page.locator(".lead")).to_have_text("There are no labels to review yet.")
    expect(page.get_by_role("link", name="Begin to label")).to_be_visible()
    watched.go(f"{place.served.url}/projects/{made.id}")
    expect(page.locator(".lead")).to_have_text("It begins with the images: drop a folder of them below.")
    expect(page.locator("#popup")).to_contain_text("What was saved is kept.")  # shown while the server is away


def test_what_was_said_of_a_new_project_can_be_changed_later(watched: Watched, place: Place):
    made = place.served.platform.projects.create(
        "Other wishes", settings={"grouping": False, "proposals": False}, by=SOLO
    )
    page = watched.go(f"{place.served.url}/projects/{made.id}")
    alive(page)
    page.get_by_text("Settings", exact=True).click()
    page.get_by_label("Labels of each class").fill("9")
    page.get_by_text("Put alike images together").click()
    page.get_by_label("Checks in 100 images").fill("5")
    page.get_by_role("button", name="Keep these settings").click()
    expect(page.locator(".toast", has_text="The settings are kept.")).to_be_visible()
    settings = place.served.platform.projects.get(made.id, by=SOLO).settings
    assert (settings.goal, settings.grouping, settings.train_by_itself) == (9, True, False)
    assert settings.honeypots == 0.05
    assert watched.wrong == []


def test_a_project_is_removed_after_a_question_and_its_images_stay(watched: Watched, place: Place):
    platform = place.served.platform
    made = platform.projects.create("A mistake", settings={"grouping": False, "proposals": False}, by=SOLO)
    platform.projects.set_data(made.id, place.data, by=SOLO)
    page = watched.go(f"{place.served.url}/projects/{made.id}")
    page.get_by_text("Settings", exact=True).click()
    page.get_by_role("button", name="Remove this project…").click()
    page.get_by_role("button", name="Leave it").click()
    assert platform.projects.get(made.id, by=SOLO).name == "A mistake"
    page.get_by_role("button", name="Remove this project…").click()
    assert watched.wrong == []
    page.get_by_role("button", name="Remove it with its labels").click()
    page.wait_for_url(f"{place.served.url}/")  # where projects of earlier tests are shown, whose images are gone by now
    assert "A mistake" not in [project.name for project in platform.projects.list(by=SOLO)]
    assert platform.data.show(place.data, by=SOLO)["name"] == "leaves"
    assert not [one for one in watched.wrong if one.startswith("script")]


def test_a_slip_is_changed_or_kept_with_one_click_and_not_asked_about_again(
    watched: Watched, place: Place, tmp_path: Path
):
    projects = place.served.platform.projects
    fields = made_up(place.served.platform, tmp_path, name="Fields", count=30, size=240)
    fields.label(*range(24))
    fields.say(9, "healthy")
    fields.say(22, "rust")
    page = watched.go(f"{place.served.url}/projects/{fields.project.id}/review")
    slips = "2 labels look as if they might be slips. Keep each, or change it."
    expect(page.locator(".lead")).to_have_text(slips, timeout=30_000)  # a desk starts
    page.get_by_role("button", name="Change to rust").click()
    expect(page.get_by_text("It is rust.")).to_be_visible()
    page.get_by_role("button", name="Keep rust").click()
    expect(page.locator(".lead")).to_have_text("Nothing is left to review here.")
    labels = projects.labels(fields.project.id, by=SOLO)
    assert [labels[fields.ids[row]].label for row in (9, 22)] == ["rust", "rust"]
    page.reload()
    expect(page.get_by_text("No label looks like a slip.")).to_be_visible()
    for row in range(12):
        fields.say(row, fields.truth(row + 1))
    page.reload()
    expect(page.locator(".lead")).to_contain_text("Slips cannot be told yet")
    expect(page.get_by_text("few of them can be wrong")).to_be_visible()
    assert watched.wrong == []


def test_the_page_for_reviewing_says_how_people_agree_and_who_gets_checks_right(
    watched: Watched, place: Place, tmp_path: Path
):
    projects = place.served.platform.projects
    fields = made_up(place.served.platform, tmp_path, name="Two people", count=30, size=240)
    fields.label(*range(12))
    ben = Identity("ben", "ben", Role.LABELLER, {fields.project.id: Role.LABELLER})
    said = [LabelEvent(new_id(), fields.ids[row], "rust", "") for row in (0, 1, 3)]
    sure = [LabelEvent(new_id(), fields.ids[row], fields.truth(row), "", Source.GOLDEN) for row in (0, 1)]
    projects.add_labels(fields.project.id, said, by=ben)
    projects.add_labels(fields.project.id, sure, by=SOLO)
    page = watched.go(f"{place.served.url}/projects/{fields.project.id}/review")
    both = " and ".join(sorted(["ben", SOLO.name]))
    agree = page.get_by_text(f"{both} agree on 2 of 3 images that both labelled.")
    expect(agree).to_be_visible(timeout=30_000)  # a desk starts
    expect(page.get_by_text("ben got 1 of 2 checks right.")).to_be_visible()
    page.get_by_role("link", name="Look at 1 image they see differently").click()
    page.wait_for_url("**/label?show=disagreements")
    expect(page.locator(".lb-banner")).to_contain_text("agree on 2 of 3 images that both labelled.")
    assert watched.wrong == []


@pytest.mark.parametrize("path", ["/new", "/projects/{}", "/projects/{}/results", "/projects/{}/takeaway"])
def test_people_who_cannot_see_or_point_can_use_the_page(watched: Watched, place: Place, path: str):
    page = watched.go(place.served.url + path.format(place.project))
    found = Axe().run(page).response["violations"]
    bad = {one["id"]: [node["html"][:200] for node in one["nodes"]] for one in found if one["impact"] in SERIOUS}
    assert bad == {}


def test_names_of_classes_never_become_markup_on_these_pages(watched: Watched, place: Place, tmp_path: Path):
    platform, evil = place.served.platform, "<img src=x onerror=window.hacked=1>"
    for number, colour in enumerate(("red", "blue")):
        (tmp_path / evil).mkdir(exist_ok=True)
        Image.new("RGB", (40, 40), colour).save(tmp_path / evil / f"<b>{number}.png")
    project = platform.projects.create(
        "<i>slanted", classes=[evil, "b"], settings={"grouping": False, "proposals": False}, by=SOLO
    )
    job = ended(platform, platform.data.add(tmp_path, name="evil", project=project.id, size=32, by=SOLO))
    platform.projects.set_data(project.id, job.outputs["data"], by=SOLO)
    records = platform.data.records(job.outputs["data"], by=SOLO)
    truth = {record["file"]: name for record, name in zip(records, (evil, "b"), strict=True)}
    publish_tested(platform, tmp_path / "out", project.id, job.outputs["data"], truth)
    for path in ("", "/results", f"/results?true={evil}&called={evil}", "/takeaway"):
        page = watched.go(f"{place.served.url}/projects/{project.id}{path}")
        assert page.evaluate("window.hacked") is None
        assert page.locator("#main img[src='x']").count() == 0
    assert watched.wrong == []
