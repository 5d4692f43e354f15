"""Counts per class as bars, in plain markup: readable by everybody, at any width."""

from collections.abc import Mapping

from seedbed.faces.ui.elements import box, words


def bars(counts: Mapping[str, int], what: str) -> None:
    """One bar per name; the longest fills the row."""
    most = max(counts.values(), default=0) or 1
    with box("dl", "counts", aria_label=what):
        for name, count in counts.items():
            words(name, "dt")
            with box("dd"), box(classes="bar", aria_hidden="true"):
                box().style(f"width: {100 * count / most:.1f}%")
            words(f"{count:,}", "dd", "n")
