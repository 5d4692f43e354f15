"""Many small images: one piece of markup with lazy <img>, never an element each."""

from collections.abc import Sequence
from dataclasses import dataclass

from nicegui import ui

from seedbed.faces.ui.elements import markup, path


@dataclass(frozen=True)
class Thumb:
    """One small image: its address, what it is, and a second line."""

    src: str
    title: str
    under: str = ""


def address(ref: str, index: int, size: int = 192) -> str:
    """Where a thumbnail of a data set's image is served."""
    return path("api", "v1", "data", ref, "images", str(index), "thumbnail", size=str(size))


def grid(thumbs: Sequence[Thumb], classes: str = "") -> None:
    """The images with their words below. Names come from people: all are escaped, and the markup is sanitised too."""
    ui.html("".join(_figure(one) for one in thumbs), sanitize=True).classes(f"thumbs {classes}")


def _figure(one: Thumb) -> str:
    src, title, under = markup(one.src), markup(one.title), markup(one.under)
    return (
        f'<figure><img src="{src}" alt="{title}" loading="lazy" width="104" height="104">'
        f'<figcaption title="{title} {under}">{title}<span>{under}</span></figcaption></figure>'
    )


def strip(ref: str, count: int, size: int = 128) -> None:
    """A few images in a row, for a tile."""
    images = "".join(
        f'<img src="{markup(address(ref, index, size))}" alt="" loading="lazy">' for index in range(min(count, 4))
    )
    ui.html(images, sanitize=True).classes("strip")
