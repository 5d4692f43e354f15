"""Kinds around labels, and those for any files."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from seedbed.base.errors import InvalidInput, NotFound
from seedbed.flows.kinds.kind import Kind, csv_text, put


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


def _text(data: bytes, name: str) -> str:
    """UTF-8, or what spreadsheets on Windows write."""
    if b"\0" in data:
        raise InvalidInput(f"The labels in {name} are no text.", hint="Save it as CSV in UTF-8.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


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
    text = _text(data, path.name)
    separator = max(",;\t", key=text.partition("\n")[0].count)
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    columns = {name.strip().lower(): name for name in table.fieldnames or () if name}
    key = columns.get("image") or columns.get("file")
    value = columns.get("class") or columns.get("label")
    if not key or not value:
        raise InvalidInput(
            f"{path.name} has the columns {', '.join(columns) or '(none)'}; a labels file needs file and class.",
            hint="Begin it with the line: file,class",
        )
    rows: dict[str, str] = {}
    problems = []
    for number, row in enumerate(table, 2):
        image, klass = (row[key] or "").strip(), (row[value] or "").strip()
        if not image or not klass:
            problems.append(f"line {number} has no {value if image else key}.")
        elif rows.setdefault(image, klass) != klass:
            problems.append(f"line {number} calls '{image}' {klass}, but it was {rows[image]} before.")
    if problems:
        raise InvalidInput(f"The labels in {path.name} cannot be used.", problems=problems[:20])
    return rows
