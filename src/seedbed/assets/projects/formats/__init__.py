"""Formats that labels come in and go out by: a table of names; adding one is adding a row and a module."""

from seedbed.assets.projects.formats.format import Format, Given
from seedbed.base.errors import InvalidInput
from seedbed.base.registry import Registry

_HERE = "seedbed.assets.projects.formats"
# in this order they are tried where nobody says which it is: the last ones take almost any folder
IN_ORDER = ("label-studio", "coco", "huggingface", "csv", "yolo", "folders")
FORMATS: Registry[Format] = Registry(
    "format of labels",
    {
        "csv": f"{_HERE}.table:FORMAT",
        "label-studio": f"{_HERE}.label_studio:FORMAT",
        "coco": f"{_HERE}.coco:FORMAT",
        "yolo": f"{_HERE}.yolo:FORMAT",
        "huggingface": f"{_HERE}.huggingface:FORMAT",
        "folders": f"{_HERE}.folders:FORMAT",
    },
)


def format_of(given: Given, name: str = "auto") -> Format:
    """The format of that name, or the one that recognises what was given."""
    if name != "auto":
        return FORMATS.get(name)
    for candidate in (*IN_ORDER, *(own for own in FORMATS if own not in IN_ORDER)):
        if FORMATS.get(candidate).recognises(given):
            return FORMATS.get(candidate)
    raise InvalidInput(
        f"'{given.name}' is no file or folder of labels that can be told by its looks.",
        hint=f"Say which of these it is: {', '.join(FORMATS)}.",
    )
