"""What the README and the pages point at exists, and what can be made is what the README says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
README = (ROOT / "README.md").read_text()
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text())


def links(page: Path) -> list[str]:
    found = ["".join(groups) for groups in LINK.findall(prose(page))]
    return [link for link in found if not link.startswith(("http://", "https://", "mailto:"))]


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def targets(makefile: str) -> set[str]:
    """What the Makefile offers to people: the targets that say what they are for."""
    return set(re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_relative_link_and_picture_exists(page: Path) -> None:
    missing = []
    for link in links(page):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            missing.append(link)
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_link_nothing_outside_the_repository(page: Path) -> None:
    assert all((page.parent / link.partition("#")[0]).resolve().is_relative_to(ROOT) for link in links(page))


def test_the_readme_names_exactly_the_targets_that_make_offers() -> None:
    named = re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE)
    assert set(named) == targets((ROOT / "Makefile").read_text()) - {"help"}


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    assert {link for link in links(index) if link.endswith(".md") and "/" not in link} == {
        page.name for page in (ROOT / "docs").glob("*.md") if page != index
    }


def test_every_picture_of_the_readme_has_words_for_those_who_cannot_see_it() -> None:
    pictures = re.findall(r"!\[([^\]]*)\]", README)
    assert pictures and all(len(words.split()) >= 4 for words in pictures)


def test_every_picture_of_the_docs_is_shown_on_a_page() -> None:
    shown = {(page.parent / link).resolve() for page in PAGES for link in links(page)}
    assert [path.name for path in (ROOT / "docs" / "pictures").iterdir() if path.resolve() not in shown] == []
