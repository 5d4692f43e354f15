"""Example images of two data sets side by side, so that everybody sees whether they are alike."""

from seedbed.base.errors import NotFound
from seedbed.faces.ui.elements import box, link, path, words
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.results import images_of
from seedbed.faces.ui.site import Visit

_SHOWN = 6


async def examples(visit: Visit, data: str) -> list[thumbs.Thumb]:
    """A few images of a data set, evenly taken, with their classes; none: it is gone, or not theirs to see."""
    try:
        images = images_of(await visit.ask(visit.platform.bundles.show, data)) if data else 0
    except NotFound:
        return []
    numbers = sorted({number * images // _SHOWN for number in range(min(images, _SHOWN))})
    found = []
    for number in numbers:
        (record,) = await visit.ask(visit.platform.data.records, data, offset=number, limit=1)
        found.append(thumbs.Thumb(thumbs.address(data, number, 128), record.get("class") or record["file"]))
    return found


def beside(title: str, data: str, shown: list[thumbs.Thumb]) -> None:
    """One half of the pair: whose images they are, and the images."""
    with box("section", "stack tight"):
        with box("h3", "wrap"):
            link(title, path("data", data)) if data and shown else words(title, "span")
        if shown:
            thumbs.grid(shown, "six")
        else:
            words("Its images are not here.", "p", "soft small")
