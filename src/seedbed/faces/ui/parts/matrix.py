"""What is taken for what, as a table with a link in every square: for the eye, for keys and for screen readers."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from seedbed.faces.ui.elements import box, link, words
from seedbed.faces.ui.words import plural

_MOST = 60  # classes


def matrix(facts: Mapping[str, Any], here: str, chosen: tuple[str, str]) -> None:
    """Rows are what images are, columns what they are called; `here` is the page that shows a square's images."""
    names = [str(one["name"]) for one in facts["classes"]]
    if len(names) > _MOST:
        words(f"There are {len(names)} classes, too many for a table; the report has all numbers.", "p", "soft")
        return
    with (
        box(classes="matrix-place", tabindex="0", role="region", aria_label="What is taken for what"),
        box("table", "matrix"),
    ):
        with box("thead"), box("tr"):
            words("shows ↓  called →", "th", scope="col")
            for name in names:
                words(name, "th", scope="col", title=name)
        with box("tbody"):
            for true, row in zip(names, facts["confusion"], strict=True):
                _row(true, row, names, here, chosen)


def _row(true: str, row: Sequence[int], names: Sequence[str], here: str, chosen: tuple[str, str]) -> None:
    with box("tr"):
        words(true, "th", scope="row", title=true)
        for called, count in zip(names, row, strict=True):
            with box("td"):
                if not count:
                    words("0", "span", "cell none").style(_colour(0, 1, right=True))
                    continue
                said = f"{plural(count, 'image')} of {true}, called {called}"
                href = f"{here}?{urlencode({'true': true, 'called': called})}#chosen"
                classes = "cell chosen" if (true, called) == chosen else "cell"
                made = link(f"{count:,}", href, classes, aria_label=said, title=said)
                made.style(_colour(count, sum(row), right=true == called))


def _colour(count: int, total: int, *, right: bool) -> str:
    if not count:
        return "background: rgba(128,140,131,0.07)"
    strength = 0.14 + 0.6 * count / max(total, 1)
    return f"background: rgba({'64,160,100' if right else '217,120,40'},{strength:.3f})"
