"""Hugging Face image folders: images beside a metadata.csv or metadata.jsonl that names their labels."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, ClassVar

from seedbed.assets.projects.formats.format import Entry, Given, Part, as_id, images_of, one_each, placed, refuse
from seedbed.assets.projects.formats.table import read_table
from seedbed.base.errors import InvalidInput
from seedbed.base.tables import csv_text

_TABLES = ("metadata.csv", "metadata.jsonl")
_LABELS = ("label", "class", "category", "labels")
_MOST_PROBLEMS = 50


class HuggingFace:
    """Each metadata file names files beside or below it (file_name) and their label."""

    name: ClassVar[str] = "huggingface"
    about: ClassVar[str] = "a Hugging Face image folder: metadata.csv or metadata.jsonl beside the images"
    with_images: ClassVar[bool] = True
    without_images: ClassVar[bool] = True

    def recognises(self, given: Given) -> bool:
        """A metadata file."""
        return bool(_tables(given))

    def read(self, given: Given) -> list[Entry]:
        """The labels of the metadata, and of the images themselves where they came along."""
        tables = _tables(given)
        if not tables:
            raise InvalidInput(
                f"There is no metadata.csv or metadata.jsonl in '{given.name}'.",
                hint="Where the folders say the classes, the format is 'folders'.",
            )
        here = set(given.files)
        entries = []
        for table in tables:
            found, problems = _read(given, table)
            refuse(table, problems)
            entries += [_found(entry, PurePosixPath(table).parent, here, given) for entry in found]
        return one_each(entries, given.name)

    def write(self, labels: Sequence[Entry], classes: Sequence[str], *, images: bool) -> Iterator[Part]:
        """One metadata.csv, and the images below it."""
        rows = placed(labels, "images") if images else labels
        lines = [(entry.file, entry.label, entry.image) for entry in rows]
        yield Part("metadata.csv", csv_text([("file_name", "label", "sha256"), *lines]).encode())
        if images:
            yield from images_of(rows)


def _tables(given: Given) -> list[str]:
    return [name for name in given.files if PurePosixPath(name).name.lower() in _TABLES]


def _read(given: Given, table: str) -> tuple[list[Entry], list[str]]:
    if table.lower().endswith(".csv"):
        return read_table(given.read(table), table)
    entries: list[Entry] = []
    problems: list[str] = []
    for number, line in enumerate(given.text(table).split("\n"), 1):
        if len(problems) >= _MOST_PROBLEMS:
            break
        if line.strip():
            entry = _entry(line)
            if entry is None:
                problems.append(f"line {number} is no JSON object with a file_name.")
            elif entry.label:
                entries.append(entry)
    return entries, problems


def _entry(line: str) -> Entry | None:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or not isinstance(row.get("file_name"), str) or not row["file_name"].strip():
        return None
    label = next((row[name] for name in _LABELS if isinstance(row.get(name), str | int)), "")
    return Entry(row["file_name"].strip(), str(label).strip(), as_id(row.get("sha256")))


def _found(entry: Entry, folder: PurePosixPath, here: set[str], given: Given) -> Entry:
    """With the id of its image, where that came along."""
    name = str(folder / entry.file)
    if entry.image or name not in here:
        return replace(entry, file=entry.file)
    return replace(entry, image=given.digest(name))


FORMAT = HuggingFace()
