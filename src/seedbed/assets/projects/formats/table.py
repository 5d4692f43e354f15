"""CSV: a line per image, with the columns file (or image) and class (or label)."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from seedbed.assets.projects.formats.format import Entry, Given, Part, as_id, images_of, one_each, placed, refuse
from seedbed.base.errors import InvalidInput
from seedbed.base.tables import CLASS_COLUMNS, IMAGE_COLUMNS, TABLE_HINT, Sheet, csv_text

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
        entries, problems = read_table(given.read(tables[0]), tables[0])
        refuse(tables[0], problems)
        return one_each(entries, tables[0])

    def write(self, labels: Sequence[Entry], classes: Sequence[str], *, images: bool) -> Iterator[Part]:
        """One table; with its images it is a manifest, so that all of it can be brought in again as a data set."""
        rows = placed(labels, "images") if images else labels
        lines = [(one.file, one.label, one.image, one.by, _time(one.at)) for one in rows]
        table = csv_text([("file", "class", "image", "by", "at"), *lines]).encode()
        yield Part("manifest.csv" if images else "labels.csv", table)
        if images:
            yield from images_of(rows)


def read_table(data: bytes, name: str) -> tuple[list[Entry], list[str]]:
    """The labels of a table, and what is wrong with it."""
    sheet = Sheet(data, name)
    image, klass = sheet.need(IMAGE_COLUMNS, CLASS_COLUMNS, hint=TABLE_HINT)
    file, digest = sheet.find(["file"]), sheet.find(["sha256"])
    entries: list[Entry] = []
    problems: list[str] = []
    for row in sheet.rows():
        if len(problems) >= _MOST_PROBLEMS:
            break
        if not (named := row[file] or row[image]):
            problems.append(f"line {row.line} has no {image}.")
        elif row[klass]:
            entries.append(Entry(named, row[klass], as_id(row[digest] or row[image])))
    return entries, problems


def _tables(given: Given) -> list[str]:
    return [name for name in given.ending(".csv", ".tsv") if name != FOLDERS_TABLE]


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds") if at else ""


FORMAT = Table()
