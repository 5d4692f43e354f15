import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.base.text import decoded, is_plain, made_plain, problems_of_text


@pytest.mark.parametrize("text", ["a\x00", "a\nb", "\ud800", "\x7f"])
def test_control_characters_and_halves_of_characters_are_not_plain(text: str) -> None:
    assert not is_plain(text)
    assert problems_of_text("The name", text, longest=100)


@pytest.mark.parametrize("text", ["wheat", "Blé d'hiver", "小麦", "🌱 leaf", "a b"])
def test_what_people_write_is_plain(text: str) -> None:
    assert problems_of_text("The name", text, longest=100) == []


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_can_be_made_plain_and_then_has_bytes(text: str) -> None:
    made = made_plain(text, longest=20)
    assert is_plain(made)
    assert len(made) == min(len(text), 20)
    assert b"\x00" not in made.encode()


def test_everything_wrong_with_a_text_is_said() -> None:
    assert len(problems_of_text("The name", " a\x00" * 10, longest=5)) == 3
    assert problems_of_text("The name", "", longest=5) == ["The name is empty."]
    assert problems_of_text("The name", "", longest=5, may_be_empty=True) == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_a_text_file_is_read_whichever_way_a_spreadsheet_saved_it(encoding: str) -> None:
    assert decoded("Blätter, 20 €".encode(encoding)) == "Blätter, 20 €"


@given(st.binary())
def test_any_bytes_can_be_read_as_text(data: bytes) -> None:
    assert isinstance(decoded(data), str)
