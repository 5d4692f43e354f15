"""What a project wants, as fields with their reasons: of a project to be, and of one that is there."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nicegui import ui

from seedbed.assets.access.roles import Role
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.settings import ProjectSettings
from seedbed.faces.ui.elements import box, button, words
from seedbed.faces.ui.parts.removing import remove_button
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import say_so, telling

_DEFAULT = ProjectSettings()
_WHY = {
    "goal": f"{_DEFAULT.goal} of each are a good beginning; after that, labels where it is unsure help more than many "
    "of the same.",
    "grouping": "Then a whole group is labelled at once, and the first few labels cover more of what there is.",
    "proposals": "Each image says what it is taken for, going by the labels so far: one key accepts it. Off: people "
    "judge by their own eyes alone, as for images that are to test a model.",
    "honeypots": "Images whose answer is known, among those that people are shown: the page for reviewing labels then "
    "says how many each got right. You mark them by bringing labels in that you are sure of.",
    "train_by_itself": "Once every class has its labels, and again with a quarter more. Off: you click when you want "
    "it.",
}


def _goal(now: ProjectSettings) -> Any:
    return ui.number("Labels of each class", value=now.goal, min=1, precision=0, step=5).props("outlined dense")


def _honeypots(now: ProjectSettings) -> Any:
    field = ui.number("Checks in 100 images", value=round(100 * now.honeypots), min=0, max=50, precision=0, step=5)
    return field.props("outlined dense")


_FIELDS: Mapping[str, Callable[[ProjectSettings], Any]] = {
    "goal": _goal,
    "grouping": lambda now: ui.checkbox("Put alike images together", value=now.grouping),
    "proposals": lambda now: ui.checkbox("Propose a class for each image", value=now.proposals),
    "honeypots": _honeypots,
    "train_by_itself": lambda now: ui.checkbox("Train by itself", value=now.train_by_itself),
}


class Wishes:
    """The fields of some settings, each with why its default is the default."""

    def __init__(self, now: ProjectSettings, *names: str) -> None:
        self._fields: dict[str, Any] = {}
        with box(classes="choose"):
            for name in names:
                with box(classes="stack tight"):
                    self._fields[name] = _FIELDS[name](now)
                    words(_WHY[name], "p", "why")

    def read(self) -> dict[str, Any]:
        """What they say; None, the default, where a field was left empty."""
        return {name: _READ[name](field.value) for name, field in self._fields.items()}


def _number(value: float | None) -> int | None:
    return None if value is None else int(value)


def _share(value: float | None) -> float | None:
    return None if value is None else round(value) / 100


_READ: Mapping[str, Callable[[Any], Any]] = {
    "goal": _number,
    "grouping": bool,
    "proposals": bool,
    "honeypots": _share,
    "train_by_itself": bool,
}


def wishes_of(visit: Visit, project: Project, refresh: Callable[[], Awaitable[None]]) -> None:
    """The settings of a project that is there; whether it trains by itself stands where it trains."""
    with box("details", "fold", id="wishes"):
        words("Settings", "summary")
        with box(classes="stack"):
            fields = Wishes(project.settings, "goal", "grouping", "proposals", "honeypots")

            async def keep() -> None:
                with telling():
                    await visit.ask(visit.platform.projects.set_settings, project.id, fields.read())
                    say_so("The settings are kept.")
                    await refresh()

            with box(classes="row"):
                button("Keep these settings", keep)
                if visit.by.may(Role.OPERATOR, project.id):
                    remove_button(visit, project)
