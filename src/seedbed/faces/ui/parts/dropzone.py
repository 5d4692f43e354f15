"""A place where files are dropped or chosen; the browser sends them with a bar, and the server hears of the upload."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from seedbed.faces.ui.elements import box, button, icon, words


@dataclass(frozen=True)
class Uploaded:
    """What arrived: the id of the upload, how many files, and what the folder or archive is called."""

    upload: str
    files: int
    name: str


IMAGES = "image/*,.zip,.tar,.tgz,.gz,.csv"
LABELS = ".csv,.json,.jsonl,.zip"
Heard = Callable[[Uploaded], Awaitable[None]]


def dropzone(
    text: str,
    heard: Heard | None = None,
    *,
    folder: bool = True,
    accept: str = "",
    project: str = "",
    files: str = "Choose files…",
    **attributes: str,
) -> Element:
    """The place; `folder`: whole folders can be chosen too. `accept` limits what the browser offers."""
    with box("div", "drop", data_drop="", data_project=project, **attributes) as place:
        icon("data")
        words(text, "p")
        with box(classes="row"):
            if folder:
                button("Choose a folder…", data_pick="folder")
            button(files, data_pick="files")
        if folder:
            box(
                "input", type="file", data_part="folder", webkitdirectory="", multiple="", hidden="", aria_hidden="true"
            )
        box("input", type="file", data_part="files", multiple="", accept=accept, hidden="", aria_hidden="true")
        with box(classes="bar", data_part="bar", role="progressbar", aria_label="Sending", hidden=""):
            box()
        words("", "p", "drop-said", data_part="said", role="status")
    if heard:
        place.on("uploaded", lambda event: heard(_read(event)), args=["detail"])
    return place


def _read(event: GenericEventArguments) -> Uploaded:
    told: dict[str, Any] = event.args["detail"]
    return Uploaded(str(told["upload"]), int(told["files"]), str(told["name"]))
