"""Every command that a page, an error's hint or an empty screen names can be typed."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from seedbed.faces.cli.main import app

ROOT = Path(__file__).parents[2]
TEXTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "src").rglob("*.py")])
NAMED = re.compile(r"(?<!name=)(?:[`\"'(>=&|$:,] ?|^\s*)seedbed ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)?)", re.MULTILINE)
LANGUAGES = {"bash", "python", "console", "text", "toml", "json", "yaml", "nginx", "caddy", "ini"}
COMMANDS = {
    name: set(getattr(command, "commands", ()))  # a command that is no group has none
    for name, command in get_command(app).commands.items()  # type: ignore[attr-defined]
}


def problem(named: str) -> str:
    """What is wrong with a command, or nothing."""
    first, _, second = named.partition(" ")
    if first not in COMMANDS:
        return f"seedbed {first}"
    return f"seedbed {named}" if COMMANDS[first] and second and second not in COMMANDS[first] else ""


@pytest.mark.parametrize("text", [text for text in TEXTS if NAMED.search(text.read_text())], ids=lambda text: text.stem)
def test_every_command_that_is_named_exists(text: Path) -> None:
    assert sorted({found for named in NAMED.findall(text.read_text()) if (found := problem(named))}) == []


@pytest.mark.parametrize("page", [text for text in TEXTS if text.suffix == ".md"], ids=lambda page: page.stem)
def test_every_block_says_what_it_is_so_that_none_is_left_out_by_mistake(page: Path) -> None:
    openings = re.findall(r"^```(.*)$", page.read_text(), re.MULTILINE)[::2]
    assert set(openings) <= LANGUAGES
