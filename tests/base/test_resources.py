"""Amounts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources, parse_size, show_size, written_size

amounts = st.builds(Resources, st.integers(0, 99).map(float), st.integers(0, 1 << 40), st.integers(0, 16))


@pytest.mark.parametrize(
    ("text", "size"),
    [("512M", 512 << 20), ("2 GiB", 2 << 30), ("1.5g", 3 << 29), ("10", 10), (7, 7), ("1kb", 1024), ("1TiB", 1 << 40)],
)
def test_sizes_are_read_as_people_write_them(text: str | int, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "-1G", "1 X", "G", "1.2.3M", "two", f"{'0' * 50}1G"])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not an amount of memory") as caught:
        parse_size(text)
    assert "512M" in caught.value.hint


@pytest.mark.parametrize("amount", ["9" * 400, 10**400], ids=["a text", "a number"])
def test_more_than_a_number_holds_is_refused_and_not_told_in_full(amount: str | int) -> None:
    with pytest.raises(InvalidInput, match="is not an amount of memory") as caught:
        parse_size(amount)
    assert len(caught.value.message) < 120


def test_sizes_are_shown_for_people() -> None:
    assert [show_size(n) for n in (0, 1023, 1536, 3 << 29, 1 << 42)] == [
        "0 B",
        "1023 B",
        "1.5 KiB",
        "1.5 GiB",
        "4.0 TiB",
    ]


def test_sizes_are_written_as_they_are_read_and_never_too_small() -> None:
    assert [written_size(n) for n in (1, 512 << 20, (512 << 20) + 1, 1 << 30, 3 << 29)] == [
        "1M",
        "512M",
        "513M",
        "1G",
        "1536M",
    ]


@given(st.integers(0, 1 << 44))
def test_a_written_size_is_read_as_the_next_whole_mebibyte(size: int) -> None:
    assert 0 <= parse_size(written_size(size)) - size < 1 << 20


@given(amounts, amounts)
def test_what_is_added_can_be_taken_away_and_fits_in_the_sum(one: Resources, other: Resources) -> None:
    assert (one + other) - other == one
    assert one.fits_in(one + other)


def test_one_amount_too_large_is_enough_not_to_fit() -> None:
    room = Resources(4, 8, 1)
    assert Resources(4, 8, 1).fits_in(room)
    assert not any(more.fits_in(room) for more in (Resources(4.1, 8, 1), Resources(4, 9, 1), Resources(4, 8, 2)))


def test_a_share_of_nothing_is_nothing() -> None:
    assert Resources(2, 4, 1).relative_to(Resources(4, 8, 0)) == (0.5, 0.5, 0.0)
