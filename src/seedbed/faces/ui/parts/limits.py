"""Small bars that say how far and how much: the same is written beside them, so screen readers pass over them."""

from collections.abc import Mapping
from typing import Any

from seedbed.faces.ui.elements import box

_LEAST, _MOST = -1.0, 1.0  # shares of a training that may be lost or saved


def distance_bar(ratio: float, furthest: float) -> None:
    """A distance in distances to ImageNet's images, with a mark at those."""
    whole = max(furthest, 1.15)
    with box(classes="scale", aria_hidden="true"):
        box(classes="filled near" if ratio < 1 else "filled").style(f"width: {100 * min(ratio / whole, 1):.1f}%")
        box(classes="mark", title="ImageNet").style(f"left: {100 / whole:.1f}%")


def saving_bar(expected: Mapping[str, Any]) -> None:
    """What is expected to be saved as a dot within its limits; left of the mark it is lost."""
    low, middle, high = (_place(1 - float(expected[name])) for name in ("high", "epoch_ratio", "low"))
    sure = "limits sure" if float(expected["high"]) < 1 else "limits"
    with box(classes="scale", aria_hidden="true"):
        box(classes=sure).style(f"left: {low:.1f}%; width: {max(high - low, 1):.1f}%")
        box(classes="mark").style(f"left: {_place(0):.1f}%")
        box(classes="dot").style(f"left: {middle:.1f}%")


def _place(saved: float) -> float:
    """Where a share stands on the bar, in percent."""
    return 100 * (min(max(saved, _LEAST), _MOST) - _LEAST) / (_MOST - _LEAST)
