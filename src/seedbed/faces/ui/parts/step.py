"""One step of the way through a project: a card with a sentence, drawn anew only where it changed."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from seedbed.faces.ui.elements import box, words

When = Literal["done", "now", "later", ""]
Draw = Callable[[], Awaitable[None]]


class Step:
    """Title, sentence, and a place whose content follows what is known."""

    def __init__(self, title: str, name: str) -> None:
        self._when: When = ""
        self._drawn: Any = None
        with box("li", "card step", id=name) as self._card:
            words(title, "h2")
            self._say = words("", "p", "say")
            self._place = box(classes="stack")

    async def show(self, when: When, said: str, known: object, draw: Draw) -> None:
        """`known`: what the content depends on; where it is as before, what is drawn stays, and so does the focus."""
        if when != self._when:
            self._card.classes(remove=self._when, add=when)
            self._when = when
        self._say.set_text(said)
        self._say.set_visibility(bool(said))
        if known != self._drawn:
            self._drawn = known
            self._place.clear()
            with self._place:
                await draw()
