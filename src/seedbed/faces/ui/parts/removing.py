"""Removing a project for good: asked first, with what goes and what stays."""

from nicegui import ui

from seedbed.assets.projects.projects import Project
from seedbed.faces.ui.elements import box, button, words
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import telling

_ASKED = "remove-project"


def remove_button(visit: Visit, project: Project) -> None:
    """The button and its question; afterwards the first page opens."""

    async def remove() -> None:
        with telling():
            await visit.ask(visit.platform.projects.delete, project.id)
            ui.navigate.to("/")

    button("Remove this project…", classes="danger", data_opens=_ASKED)
    with box("dialog", id=_ASKED, aria_label=f"Remove {project.name}"):
        words(f"Remove {project.name}?", "h2", "wrap")
        words("Its classes and all its labels go for good. Its images, models and reports stay, under Bundles.", "p")
        with box(classes="actions"):
            words("Leave it", "button", "button", type="button", data_closes="", autofocus="")
            button("Remove it with its labels", remove, "danger full", data_closes="")
