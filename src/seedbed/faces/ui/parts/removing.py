"""Removing a project for good: asked first, with what goes and what stays."""

from nicegui import ui

from seedbed.assets.access.roles import Role
from seedbed.assets.projects.projects import Project
from seedbed.faces.ui.elements import box, button, words
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import telling

_ASKED = "remove-project"
_GO = "Its classes and all its labels go for good."
_STAY = "Its images, models and reports stay, under Bundles."
_STAY_FOR_OPERATORS = (
    "Images, models and reports that were made in it stay, but only operators of this service still see them: take "
    "away first what you need."
)


def remove_button(visit: Visit, project: Project) -> None:
    """The button and its question; afterwards the first page opens."""

    async def remove() -> None:
        with telling():
            await visit.ask(visit.platform.projects.delete, project.id)
            ui.navigate.to("/")

    button("Remove this project…", classes="danger", data_opens=_ASKED)
    with box("dialog", id=_ASKED, aria_label=f"Remove {project.name}"):
        words(f"Remove {project.name}?", "h2", "wrap")
        words(f"{_GO} {_STAY if visit.by.may(Role.OPERATOR) else _STAY_FOR_OPERATORS}", "p")
        with box(classes="actions"):
            words("Leave it", "button", "button", type="button", data_closes="", autofocus="")
            button("Remove it with its labels", remove, "danger full", data_closes="")
