"""CSV: a line per image, with the columns file (or image) and class (or label)."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from seedbed.assets.projects.formats.format import Entry, Given, Part, as_id, images_of, one_each, placed, refuse
from seedbed.base.errors import InvalidInput

_IMAGE = ("image", "file", "path", "filename", "file_name", "name")
_CLASS = ("class", "label", "category", "species")
_SEPARATORS = ",;\t"
_MOST_PROBLEMS = 50
FOLDERS_TABLE = "classes.csv"  # which class a folder stands for, where its name cannot be a folder's


class Table:
    """The columns file (or image) and class (or label), in any order, beside others; comma, semicolon or tab."""

    name: ClassVar[str] = "csv"
    about: ClassVar[str] = "a table with the columns file and class"
    with_images: ClassVar[bool] = False
    without_images: ClassVar[bool] = True

    def recognises(self, given: Given) -> bool:
        """One table, whatever else is there."""
        return len(_tables(given)) == 1

    def read(self, given: Given) -> list[Entry]:
        """Lines with a class; those without one are images that nobody has labelled."""
        tables = _tables(given)
        if len(tables) != 1:
            raise InvalidInput(f"There are {len(tables)} tables in '{given.name}'; labels are read from one.")
        entries, problems = read_table(text_of(given, tables[0]), tables[0])
        refuse(tables[0], problems)
        return one_each(entries, tables[0])

    def write(self, labels: Sequence[Entry], classes: Sequence[str], *, images: bool) -> Iterator[Part]:
        """One table; with its images it is a manifest, so that all of it can be brought in again as a data set."""
        rows = placed(labels, "images") if images else labels
        lines = [(one.file, one.label, one.image, one.by, _time(one.at)) for one in rows]
        table = csv_bytes([("file", "class", "image", "by", "at"), *lines])
        yield Part("manifest.csv" if images else "labels.csv", table)
        if images:
            yield from images_of(rows)


def text_of(given: Given, name: str) -> str:
    """A table as text: UTF-8, or what spreadsheets write."""
    data = given.read(name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def read_table(text: str, name: str) -> tuple[list[Entry], list[str]]:
    """The labels of a table, and what is wrong with it."""
    separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    entries: list[Entry] = []
    problems: list[str] = []
    try:
        columns = {column.strip().lower(): column for column in reader.fieldnames or () if column}
        files, klass = _column(name, columns, _IMAGE), _column(name, columns, _CLASS)
        for row in reader:
            if len(problems) >= _MOST_PROBLEMS:
                break
            entry = _entry(row, columns, files, klass)
            if entry is None:
                problems.append(f"line {reader.line_num} has no {files}.")
            elif entry.label:
                entries.append(entry)
    except csv.Error as error:
        problems.append(f"line {reader.line_num} cannot be read: {error}.")
    return entries, problems


def _entry(row: Mapping[str, str | None], columns: Mapping[str, str], files: str, klass: str) -> Entry | None:
    image, label = _cell(row, files), _cell(row, klass)
    known = _cell(row, columns.get("sha256", "")) or image
    file = _cell(row, columns.get("file", "")) or image
    if not file:
        return Entry("", "") if not any(isinstance(value, str) and value.strip() for value in row.values()) else None
    return Entry(file, label, as_id(known))


def _cell(row: Mapping[str, str | None], column: str) -> str:
    value = row.get(column)
    return value.strip() if isinstance(value, str) else ""


def _column(table: str, columns: Mapping[str, str], names: Sequence[str]) -> str:
    """The column of any of these names; where a table has several, the first."""
    for name in names:
        if name in columns:
            return columns[name]
    raise InvalidInput(
        f"{table} has no column {' or '.join(names[:2])}; it has {', '.join(list(columns)[:20]) or 'none'}.",
        hint="Begin it with the line: file,class",
    )


def csv_bytes(rows: Sequence[Sequence[object]]) -> bytes:
    """Rows as CSV in UTF-8."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def _tables(given: Given) -> list[str]:
    return [name for name in given.ending(".csv", ".tsv") if name != FOLDERS_TABLE]


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds") if at else ""


FORMAT = Table()
