import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.base.errors import InvalidInput
from seedbed.base.tables import CLASS_COLUMNS, FILE_COLUMNS, IMAGE_COLUMNS, TABLE_HINT, Sheet, csv_text


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_are_found_by_their_usual_names_whatever_parts_them(separator: str, end: str) -> None:
    lines = [separator.join(cells) for cells in (("Image", " File ", "Label"), ("7", " a.jpg ", "rust"))]
    sheet = Sheet(end.join(lines).encode("utf-8-sig"), "t.csv")
    assert (sheet.find(IMAGE_COLUMNS), sheet.find(FILE_COLUMNS), sheet.find(["split"])) == ("Image", " File ", "")
    [row] = sheet.rows()
    assert (row.line, row["Image"], row[" File "], row["Label"], row["nothing"]) == (2, "7", "a.jpg", "rust", "")


def test_blank_lines_are_passed_over_and_the_others_keep_their_numbers() -> None:
    rows = list(Sheet(b"file,class\n,\n\na,x,more\n ,\nb\n", "t.csv").rows())
    assert [(row.line, row["file"], row["class"]) for row in rows] == [(4, "a", "x"), (6, "b", "")]


def test_every_column_that_is_missing_is_told_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        Sheet(b"plot\n1\n", "t.csv").need(IMAGE_COLUMNS, CLASS_COLUMNS, hint=TABLE_HINT)
    assert caught.value.message == "t.csv has no column image or file and none class or label; it has plot."
    with pytest.raises(InvalidInput, match="it has none"):
        Sheet(b"", "t.csv").need(CLASS_COLUMNS, hint=TABLE_HINT)


def test_what_is_no_table_is_told_with_its_line() -> None:
    with pytest.raises(InvalidInput, match=r"t\.csv is no text"):
        Sheet(b"\xff\xfea\x00", "t.csv")
    long = b"x" * 200_000  # more than a cell may hold
    with pytest.raises(InvalidInput) as caught:
        list(Sheet(b"file,class\na,b\n" + long + b",c\n", "t.csv").rows())
    assert caught.value.problems[0].startswith("line 3 cannot be read")
    with pytest.raises(InvalidInput):
        Sheet(long, "t.csv")


@given(st.lists(st.tuples(st.text("ab ,;\"'é€", min_size=1), st.text('xy,;"', min_size=1)), max_size=5))
def test_what_is_written_is_read_again(rows: list[tuple[str, str]]) -> None:
    kept = [(one.strip(), other.strip()) for one, other in rows if one.strip() or other.strip()]
    sheet = Sheet(csv_text([("file", "class"), *rows]).encode(), "t.csv")
    assert [(row["file"], row["class"]) for row in sheet.rows()] == kept
