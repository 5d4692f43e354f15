"""Small, plain HTML elements. Text always goes in as text; addresses are built here, quoted."""

from collections.abc import Awaitable, Callable
from html import escape
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from seedbed.base.errors import SeedbedError
from seedbed.faces.ui import theme

E = TypeVar("E", bound=Element)
Handler = Callable[[], Any] | Callable[[], Awaitable[Any]]


def box(tag: str = "div", classes: str = "", **attributes: str) -> Element:
    """An element that holds others; underscores in attribute names become dashes."""
    return _dressed(ui.element(tag), classes, attributes)


def words(text: str, tag: str = "div", classes: str = "", **attributes: str) -> TextElement:
    """An element that holds text, whatever the text is."""
    return _dressed(TextElement(tag=tag, text=text), classes, attributes)


def link(text: str, href: str, classes: str = "", **attributes: str) -> TextElement:
    """A real link."""
    return words(text, "a", classes, href=href, **attributes)


def button(text: str, on_click: Handler | None = None, classes: str = "", **attributes: str) -> TextElement:
    """A real button that says what will happen."""
    made = words(text, "button", f"button {classes}", type="button", **attributes)
    return made.on("click", on_click, args=[]) if on_click else made


def icon(name: str) -> Element:
    """A small drawing that says nothing to screen readers."""
    return ui.html(theme.icon(name), sanitize=False, tag="span").classes("icon")


def tool(name: str, label: str, **attributes: str) -> Element:
    """A button that is only an icon; its label is read out and shown on hovering."""
    made = box("button", "plain", type="button", aria_label=label, title=label, **attributes)
    with made:
        icon(name)
    return made


def card(title: str = "", classes: str = "", aside: str = "") -> Element:
    """A section with a heading."""
    made = box("section", f"card {classes}")
    if title:
        with made, box(classes="head"):
            words(title, "h2")
            if aside:
                words(aside, "span", "soft small")
    return made


def empty(name: str, title: str, text: str, command: str = "") -> Element:
    """What an empty place says: what to do next."""
    made = box("section", "card empty")
    with made:
        icon(name)
        words(title, "h2")
        words(text, "p")
        if command:
            words(command, "code")
    return made


def refused(error: SeedbedError) -> Element:
    """What was refused and why, where it stays in sight: every mistake on a line of its own."""
    made = box(classes="note bad stack tight")
    with made:
        words(error.message, "p")
        if error.problems:
            with box("ul", "points"):
                for problem in error.problems:
                    words(problem, "li")
        if error.hint:
            words(error.hint, "p", "hint")
    return made


def facts(pairs: dict[str, str]) -> None:
    """Names and values below each other."""
    with box("dl", "facts"):
        for name, value in pairs.items():
            words(name, "dt")
            words(value, "dd")


def figures(pairs: dict[str, str]) -> None:
    """A few large numbers."""
    with box(classes="figures"):
        for what, value in pairs.items():
            with box(classes="figure"):
                words(value, classes="value number")
                words(what, classes="what")


def table(heads: list[str], classes: str = "") -> Element:
    """A table with its heads; rows go into what it returns."""
    with box("table", f"rows {classes}"):
        with box("thead"), box("tr"):
            for text in heads:
                words(text, "th", scope="col")
        return box("tbody")


class Progress:
    """A progress bar that can be moved."""

    def __init__(self, share: float | None, label: str) -> None:
        self.element = box(classes="bar", role="progressbar", aria_label=label, aria_valuemin="0", aria_valuemax="100")
        with self.element:
            self._filled = box()
        self.move(share)

    def move(self, share: float | None) -> None:
        """Show another share."""
        unsure = share is None
        self.element.classes(add="unsure" if unsure else "", remove="" if unsure else "unsure")
        percent = 0.0 if share is None else round(100 * share, 1)
        self._filled.style(f"width: {percent}%")
        if share is None:
            self.element.props.pop("aria-valuenow", None)
        else:
            self.element.props["aria-valuenow"] = f"{percent:g}"
        self.element.update()


def path(*parts: str, **query: str) -> str:
    """An address of ours from parts that may be anything."""
    address = "/" + "/".join(quote(part, safe="") for part in parts)
    asked = {name: value for name, value in query.items() if value}
    return f"{address}?{urlencode(asked)}" if asked else address


def markup(text: str) -> str:
    """Text that is safe inside markup and inside quoted attributes."""
    return escape(text, quote=True)


def _dressed(element: E, classes: str, attributes: dict[str, str]) -> E:
    for name, value in attributes.items():
        element.props[name.rstrip("_").replace("_", "-")] = value
    return element.classes(classes) if classes else element
