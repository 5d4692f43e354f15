"""How near images are, in words that mean something at both ends."""

import pytest

from seedbed.methods.similarity.words import how_near


@pytest.mark.parametrize(
    ("ratio", "told"),
    [
        (0.0, "almost the same as yours"),
        (0.049, "almost the same as yours"),
        (0.05, "95 % nearer than theirs"),
        (0.62, "38 % nearer than theirs"),
        (1.0, "as near as theirs"),
        (1.25, "25 % further away than theirs"),
        (2.0, "2 times as far away as theirs"),
        (13.37, "13.4 times as far away as theirs"),
        (100.0, "at least 100 times as far away as theirs"),
        (1e6, "at least 100 times as far away as theirs"),
    ],
)
def test_what_is_almost_there_or_far_off_is_no_percentage(ratio: float, told: str) -> None:
    assert how_near(ratio, "theirs") == told
