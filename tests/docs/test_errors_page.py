"""docs/errors.md says of every error what the code says: its code, its HTTP status, its exit code."""

import re
from pathlib import Path

import pytest

from seedbed.base.errors import SeedbedError, family

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text()
ROW = re.compile(r"^\| \[(?P<code>[a-z-]+)\]\(#(?P<anchor>[a-z-]+)\) \| (\d+) \| (\d+) \| `(\w+)` \|$", re.MULTILINE)


def section(code: str) -> str:
    found = re.search(rf"^## {code}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/errors.md has no section '## {code}'"
    return found[1]


def test_the_table_is_the_family_in_its_order() -> None:
    rows = [(row[1], int(row[3]), int(row[4]), row[5]) for row in ROW.finditer(PAGE)]
    assert rows == [(one.code, one.status, one.exit_code, one.__name__) for one in family()]
    assert all(row["code"] == row["anchor"] for row in ROW.finditer(PAGE))


def test_the_sections_are_the_family_in_its_order() -> None:
    assert re.findall(r"^## (.+)$", PAGE, re.MULTILINE) == [member.code for member in family()]


@pytest.mark.parametrize("member", family(), ids=lambda member: member.code)
def test_every_section_says_what_it_means_and_what_to_do(member: type[SeedbedError]) -> None:
    meaning, _, advice = section(member.code).partition("**What to do.**")
    assert len(meaning.split()) >= 10
    assert len(advice.split()) >= 10 or advice.strip().startswith("Wait.")


def test_no_two_errors_share_a_code_or_an_exit_code() -> None:
    members = [SeedbedError, *family()]
    assert len({member.code for member in members}) == len(members)
    assert len({member.exit_code for member in members}) == len(members)
    assert all(0 < member.exit_code < 64 for member in members)  # 0 is success; 64 and above mean things to shells
    assert all(400 <= member.status < 600 for member in members)


def test_every_error_of_the_code_answers_as_a_member_of_the_family_does() -> None:
    def descendants(of: type[SeedbedError]) -> set[type[SeedbedError]]:
        return {of}.union(*(descendants(child) for child in of.__subclasses__()))

    known = {(member.code, member.status, member.exit_code) for member in family()}
    answers = {(one.code, one.status, one.exit_code) for one in descendants(SeedbedError) - {SeedbedError}}
    assert answers == known


def test_every_link_of_the_page_leads_somewhere() -> None:
    docs = Path(__file__).parents[2] / "docs"
    for target in re.findall(r"\]\(([^)#\s]*)(?:#[^)]*)?\)", PAGE):
        assert not target or (docs / target).exists(), target
