"""Starts that come with Seedbed."""

from pathlib import Path

import pytest

from seedbed.assets.zoo.measured import measured_starts
from seedbed.base.errors import Damaged


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    assert measured_starts(tmp_path / "none.json") == []


def test_what_comes_along_speaks_of_more_than_one_data_set_and_is_finite() -> None:
    known = measured_starts()
    targets = {one["evidence"]["target"] for one in known}
    assert len(targets) != 1 and all(one["epoch_ratio"] > 0 and one["evidence"]["ratio"] >= 0 for one in known)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"starts": '])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "starts.json").write_text(text)
    with pytest.raises(Damaged, match="cannot be read"):
        measured_starts(tmp_path / "starts.json")
