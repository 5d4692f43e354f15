"""Tables in and out: CSV with a line of names, as spreadsheets of all countries write it."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from seedbed.base.errors import InvalidInput
from seedbed.base.text import decoded

FILE_COLUMNS = ("file", "path", "filename", "file_name", "image", "name")  # the names of files in a list of images
IMAGE_COLUMNS = ("image", "file", "path", "filename", "file_name", "name")  # what labels are of: an id comes first
CLASS_COLUMNS = ("class", "label", "category", "species")
FILES_HINT = "Call the column that names the files 'file'."
TABLE_HINT = "Begin it with the line: file,class"
_SEPARATORS = ",;\t"


@dataclass(frozen=True)
class Row:
    """One line: its number in the file, and its cells by the name of their column, without the space around them."""

    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        """The text of a cell; '' where there is none."""
        return self.cells.get(column, "")


class Sheet:
    """A table that is read once, from top to bottom; columns are found under any of their usual names."""

    def __init__(self, data: bytes, name: str) -> None:
        if b"\0" in data:
            raise InvalidInput(f"{name} is no text.", hint="Save it as CSV in UTF-8.")
        text = decoded(data)
        separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
        self.name = name
        self._reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
        try:
            names = self._reader.fieldnames or ()
        except csv.Error as error:
            raise self._broken(error) from None
        self.columns: Mapping[str, str] = {column.strip().lower(): column for column in names if column}

    def find(self, names: Sequence[str]) -> str:
        """The column of any of these names, the first of them before the others; '': there is none."""
        return next((self.columns[name] for name in names if name in self.columns), "")

    def need(self, *choices: Sequence[str], hint: str) -> list[str]:
        """A column for each of several choices of names; those that are missing are told together."""
        if lacking := [" or ".join(names[:2]) for names in choices if not self.find(names)]:
            raise InvalidInput(
                f"{self.name} has no column {' and none '.join(lacking)}; "
                f"it has {', '.join(list(self.columns)[:20]) or 'none'}.",
                hint=hint,
            )
        return [self.find(names) for names in choices]

    def rows(self) -> Iterator[Row]:
        """The lines that are not blank; what cannot be parted into cells is told with its line."""
        try:
            for row in self._reader:
                cells = {name: value.strip() for name, value in row.items() if isinstance(value, str)}
                if any(cells.values()):
                    yield Row(self._reader.line_num, cells)
        except csv.Error as error:
            raise self._broken(error) from None

    def _broken(self, error: csv.Error) -> InvalidInput:
        problem = f"line {self._reader.reader.line_num} cannot be read: {error}."
        return InvalidInput(f"{self.name} cannot be used.", problems=[problem])


def csv_text(rows: Sequence[Sequence[object]]) -> str:
    """Rows as CSV."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
