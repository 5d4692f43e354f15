"""Kinds around labels, and those for any files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.tables import CLASS_COLUMNS, IMAGE_COLUMNS, TABLE_HINT, Sheet, csv_text
from seedbed.flows.kinds.kind import Kind, put


class Files(Kind):
    """Any files, as they are, in the array `files`."""

    kind = "files"
    about = "any files, as they are"


class Count(Kind):
    """What `sleep-and-count` counted."""

    kind = "count"
    about = "what the demonstration step counted"

    @classmethod
    def write(cls, folder: Path, count: int, *, line: str = "") -> Self:
        """Into a fresh folder."""
        put(folder / "count" / "count.txt", f"{count} {line}\n")
        return cls(folder, {"total": (count,)})


class Labels(Kind):
    """What people said of images: image (its id, or a file's name) and class, one line each."""

    kind = "labels"
    about = "images and the classes that people gave them"

    @classmethod
    def write(cls, folder: Path, rows: Mapping[str, str], files: Mapping[str, str] | None = None) -> Self:
        """Image to class, into a fresh folder; `files` names the images for people."""
        names = files or {}
        lines = [(image, klass, names.get(image, "")) for image, klass in sorted(rows.items())]
        put(folder / "labels" / "labels.csv", csv_text([("image", "class", "file"), *lines]))
        return cls(folder, {"classes": tuple(sorted(set(rows.values()))), "count": (len(rows),)})

    def rows(self) -> dict[str, str]:
        """Image to class."""
        return read_labels(self.file("labels", "labels.csv"))

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that occur, in order."""
        return tuple(str(item) for item in self.values["classes"])


def read_labels(path: Path) -> dict[str, str]:
    """Image to class from a table with the columns image (or file) and class (or label); every mistake at once.

    Commas, semicolons or tabs part the columns, as spreadsheets of all countries write them.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"There is no file {path.name}.", hint="Name a CSV with the columns file and class.") from None
    except OSError as error:
        raise InvalidInput(f"The labels in {path.name} cannot be read: {error.strerror or error}.") from None
    sheet = Sheet(data, path.name)
    image, klass = sheet.need(IMAGE_COLUMNS, CLASS_COLUMNS, hint=TABLE_HINT)
    rows: dict[str, str] = {}
    problems = []
    for row in sheet.rows():
        key, said = row[image], row[klass]
        if not key or not said:
            problems.append(f"line {row.line} has no {klass if key else image}.")
        elif rows.setdefault(key, said) != said:
            problems.append(f"line {row.line} calls '{key}' {said}, but it was {rows[key]} before.")
    if problems:
        raise InvalidInput(f"The labels in {path.name} cannot be used.", problems=problems[:20])
    return rows
