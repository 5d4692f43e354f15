"""The classes of a project to be: what kind of answer they are, with names, colours and keys."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nicegui import ui

from seedbed.assets.projects.classes import COLOURS, KEYS, Kind, NewClass, percent_bins
from seedbed.base.errors import InvalidInput
from seedbed.faces.ui.elements import box, button, words

_KINDS = {
    Kind.CLASSES: ("Several kinds", "healthy, rust, mildew …"),
    Kind.BINARY: ("Yes or no", "weed or not, good or broken"),
    Kind.BINS: ("How much", "parts of a percentage, such as leaf area"),
}
_EDGES = "0, 5, 25, 50, 75, 100"
OTHER = "other"


@dataclass
class Row:
    """The inputs of one class."""

    colour: Any
    name: Any
    key: Any
    value: Any = None

    def read(self) -> NewClass:
        """What is in them."""
        number = self.value.value if self.value else None
        return NewClass(
            str(self.name.value or "").strip(),
            str(self.colour.value or ""),
            str(self.key.value or "").strip(),
            float(number) if number is not None else None,
        )


class ClassForm:
    """Kinds as large buttons, a row per class, and the class for everything else."""

    def __init__(self) -> None:
        self.kind = Kind.CLASSES
        self._rows: list[Row] = []
        self._buttons: dict[Kind, Any] = {}

    def build(self) -> None:
        """Everything, once."""
        with box(classes="kinds", role="group", aria_label="What kind of answer"):
            for kind, (title, example) in _KINDS.items():
                made = box("button", type="button", aria_pressed="true" if kind is self.kind else "false")
                with made.on("click", self._chooser(kind), args=[]):
                    words(title, "b")
                    words(example, "span")
                self._buttons[kind] = made
        self._place = box(classes="stack")
        with box(classes="row"):
            self._other: Any = ui.checkbox("Also a class for everything else")
        self._show()

    def read(self) -> list[NewClass]:
        """The classes as they stand, rows without a name left out."""
        named = [one for row in self._rows if (one := row.read()).name]
        taken = {one.key for one in named}
        if self._other.value:
            key = "0" if "0" not in taken else ""
            named.append(NewClass(OTHER, "#7f7f7f", key, other=True))
        return named

    def _chooser(self, kind: Kind) -> Callable[[], None]:
        def choose() -> None:
            for one, made in self._buttons.items():
                made.props["aria-pressed"] = "true" if one is kind else "false"
                made.update()
            self.kind = kind
            self._show()

        return choose

    def _show(self) -> None:
        self._rows = []
        self._place.clear()
        with self._place:
            if self.kind is Kind.BINS:
                self._bins()
            else:
                _heads()
                self._list = box(classes="stack")
                names = ("yes", "no") if self.kind is Kind.BINARY else ("", "", "")
                self._fill([NewClass(name) for name in names])
            if self.kind is Kind.CLASSES:
                with box(classes="row"):
                    button("Add a class", lambda: self._fill([NewClass("")]))
                words(
                    "You can add, rename and merge classes later. If your folders are named after the classes, leave "
                    "this empty: the names are taken from there.",
                    "p",
                    "soft small",
                )

    def _bins(self) -> None:
        edges: Any = ui.input("Where one ends and the next begins, in percent", value=_EDGES)
        edges.props("outlined dense")
        wrong = words("", "p", "wrong", role="alert")
        _heads("In percent")
        self._list = box(classes="stack")

        def draw() -> None:
            try:
                found = percent_bins([float(part) for part in str(edges.value or "").split(",")])
            except (InvalidInput, ValueError):
                wrong.set_text("Write at least three numbers from 0 to 100, rising: 0, 25, 50, 100")
                return
            wrong.set_text("")
            self._rows = []
            self._list.clear()
            self._fill(found)

        edges.on("blur", draw).on("keydown.enter", draw)
        draw()

    def _fill(self, classes: Sequence[NewClass]) -> None:
        with self._list:
            for one in classes:
                self._row(one)

    def _row(self, one: NewClass) -> None:
        place = len(self._rows)
        valued = self.kind is Kind.BINS
        with box(classes="class-row valued" if valued else "class-row") as line:
            colour: Any = ui.input(value=COLOURS[place % len(COLOURS)])
            colour.props(f"type=color borderless dense aria-label='Colour of class {place + 1}'")
            name: Any = ui.input(value=one.name, placeholder=f"Class {place + 1}")
            name.props(f"outlined dense aria-label='Name of class {place + 1}'")
            value: Any = None
            if valued:
                value = ui.number(value=one.value, min=0, max=100, suffix="%").classes("value")
                value.props(f"outlined dense aria-label='Percentage of class {place + 1}'")
            key: Any = ui.input(value=KEYS[place] if place < len(KEYS) else "").classes("key")
            key.props(f"outlined dense maxlength=1 aria-label='Key of class {place + 1}'")
            row = Row(colour, name, key, value)
            remove = box("button", "plain", type="button", aria_label=f"Leave out class {place + 1}", title="Leave out")
            with remove:
                words("×", "span", aria_hidden="true")
        self._rows.append(row)

        def leave_out() -> None:
            self._rows.remove(row)
            line.delete()

        remove.on("click", leave_out, args=[])


def _heads(value: str = "") -> None:
    """What the columns are; screen readers have it from the fields themselves."""
    with box(classes="class-row heads valued" if value else "class-row heads", aria_hidden="true"):
        for text in ("Colour", "Name", *([value] if value else []), "Key", ""):
            words(text, "span", "soft small")
