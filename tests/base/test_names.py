"""Names that can stand in an address."""

import pytest

from seedbed.base.names import in_a_name, problems_of_name


@pytest.mark.parametrize(
    ("text", "name"),
    [("leaves", "leaves"), ("plot #3/a?", "plot -3-a-"), ("..", "-"), (" \n", "-"), ("a\tb", "a-b"), ("a\\b", "a-b")],
)
def test_any_text_can_be_made_a_name(text: str, name: str) -> None:
    assert in_a_name(text) == name and problems_of_name("it", name) == []


def test_a_name_that_leads_elsewhere_is_refused_with_what_is_not_allowed() -> None:
    (problem,) = problems_of_name("the name", "../x")
    assert problem == "the name cannot be '.' or '..', nor have one of / \\ ? # in it (given: '../x')"
