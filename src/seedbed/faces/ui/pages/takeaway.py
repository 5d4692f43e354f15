"""What a person takes away from a project: the model, the labels; and a place to try the model on other images."""

from collections.abc import Mapping

from nicegui import ui

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.projects import Project
from seedbed.assets.store.bundle import Bundle
from seedbed.base.names import in_a_name
from seedbed.base.resources import show_size
from seedbed.faces.ui import theme
from seedbed.faces.ui.elements import box, card, empty, link, path, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts.dropzone import dropzone
from seedbed.faces.ui.results import scalar
from seedbed.faces.ui.site import Visit, page
from seedbed.faces.ui.words import plural
from seedbed.flows.edge import EDGE_FILE
from seedbed.flows.kinds.models import ONNX_FILE
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.labelling import MOST_DROPPED
from seedbed.flows.usecases.results import Result
from seedbed.flows.usecases.trainings import share_in_words

_COMING = "It is being packed; this page will have it in a moment."
_NEVER_PACKED = "It was not packed: the training ended before that. Train once more to have it."
_DEVICE = (
    "A folder that runs with one command: python3 predict.py PHOTOS. Its README says how to set it up once; after that "
    "it needs no network."
)
_ONNX = "ONNX takes raw pixels and is understood nearly everywhere; model.json says what it tells apart."
_NO_ONNX = (
    "This network cannot be written as ONNX, so there is no folder for a device either; README.txt says why, and has "
    "the code to use it in Python. model.json says what it tells apart."
)
_FORMATS = {
    "label-studio": "Label Studio",
    "coco": "COCO",
    "yolo": "YOLO",
    "huggingface": "Hugging Face",
    "folders": "Class folders",
}


@page("/projects/{ref}/takeaway", role=Role.VIEWER)
async def takeaway(visit: Visit, ref: str) -> None:
    """Downloads, and a place to try it."""
    project = await visit.ask(visit.platform.projects.get, ref)
    result = await visit.ask(visit.platform.results.of, project.id)
    labels = await visit.ask(lambda *, by: _labels(visit.platform, project.id, by))
    going = (await visit.ask(visit.platform.trainings.of, project.id)).open
    ui.add_head_html(theme.way_head())
    home = path("projects", project.id)
    with frame(visit, "Take away", crumbs=[("Home", "/"), (project.name, home)]) as lead:
        lead.set_text(_answer(result, labels))
        if not labels and result is None:
            with empty("sprout", "Nothing to take away yet", "Label a few images and train; then it is all here."):
                link("Back to the project", home, "button main")
            return
        if result is not None and visit.by.may(Role.LABELLER, project.id):
            _try(project.id, project.data)
        if result is not None:
            _model(result, project.name, going=going)
            if result.download is None:
                _reload_when_packed(visit, project.id)
        _names(project, labels, result)


def _reload_when_packed(visit: Visit, project: str) -> None:
    async def look(_: object) -> None:
        result = await visit.ask(visit.platform.results.of, project)
        if result and result.download:
            visit.client.run_javascript("location.reload()")

    visit.site.live.watch(visit.client, visit.by, look)


def _labels(platform: Platform, project: str, by: Identity) -> int:
    return sum(platform.projects.counts(project, by=by).values())


def _answer(result: Result | None, labels: int) -> str:
    have = f"your {plural(labels, 'label')}"
    if result is None:
        return f"There is no model yet; {have} can be taken away." if labels else "There is no model yet, and no label."
    right = scalar(result.report, "accuracy") if result.report else None
    good = f", right on {share_in_words(float(right))} of images that it had not seen" if right is not None else ""
    return f"Here are the model{good}, and {have}."


def _try(project: str, data: str) -> None:
    with card("Try it on other images", aside="they are not kept"):
        dropzone(
            f"Drag images here that it has never seen: one, or up to {MOST_DROPPED} at once.",
            folder=False,
            accept="image/*",
            project=project,
            id="try",
            files="Choose images…",
            data_try=project,
            data_data=data,
        )
        box(classes="answers", id="answers")


def _model(result: Result, project: str, *, going: bool) -> None:
    files = _files(result.download, project)
    with card("The model"):
        if not files:
            words(_COMING if going else _NEVER_PACKED, "p", "soft")
            return
        with box(classes="takes"):
            if EDGE_FILE in files:
                _take("For a device or another computer", _DEVICE, {"Download the folder": files.get(EDGE_FILE)})
            _take(
                "For other programs",
                _ONNX if ONNX_FILE in files else _NO_ONNX,
                {"ONNX": files.get(ONNX_FILE), "model.json": files.get("model.json")},
            )
            _take(
                "To go on training elsewhere",
                "The weights alone, as safetensors or for PyTorch; README.txt has the code for each.",
                {
                    "safetensors": files.get("model.safetensors"),
                    "PyTorch": files.get("model.pt"),
                    "README": files.get("README.txt"),
                },
            )


def _take(title: str, about: str, files: Mapping[str, tuple[str, int] | None]) -> None:
    with box("section", "take"):
        words(title, "h3")
        words(about, "p")
        with box(classes="row"):
            for name, found in files.items():
                if found:
                    href, size = found
                    link(f"{name} ({show_size(size)})", href, "button", download="")


def _files(download: Bundle | None, project: str) -> dict[str, tuple[str, int]]:
    """Name to address and size. The folder is saved by the project's name; the others know each other by their own."""
    if download is None:
        return {}
    saved = {EDGE_FILE: {"as": f"{in_a_name(project)} on a device.zip"}}
    file_of = ("api", "v1", "bundles", download.uuid, "files", "files")
    return {
        file.name: (path(*file_of, str(index), **saved.get(file.name, {})), file.size)
        for index, file in enumerate(download.arrays["files"].files)
    }


def _names(project: Project, labels: int, result: Result | None) -> None:
    with card("Names of images"), box(classes="takes"):
        with box("section", "take"):
            words("What people said", "h3")
            words(f"{plural(labels, 'label')}, for a spreadsheet or for another tool.", "p")
            with box(classes="row"):
                export = ("api", "v1", "projects", project.id, "labels", "export")
                link("Table (CSV)", path(*export, format="csv"), "button main", download="")
                for name, title in _FORMATS.items():
                    link(title, path(*export, format=name), "button", download="")
        if result and result.predictions:
            with box("section", "take"):
                words("What the model says of every image", "h3")
                words("A table with how sure it is of each.", "p")
                with box(classes="row"):
                    file_of = ("api", "v1", "bundles", result.predictions.uuid, "files", "predictions", "0")
                    saved = {"as": f"{in_a_name(project.name)} predictions.csv"}
                    link("Table (CSV)", path(*file_of, **saved), "button", download="")
