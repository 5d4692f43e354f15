"""docs/commands.md is what the commands make of it."""

import runpy
from pathlib import Path
from typing import Any

from typer.main import get_command

from seedbed.faces.cli.main import app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "commands.md").read_text()
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "commands_page.py"))


def test_the_page_is_what_the_code_makes_of_it() -> None:
    assert SCRIPT["render"]() == PAGE, "run: python scripts/commands_page.py"


def test_every_command_and_every_option_is_on_the_page_with_its_help() -> None:
    sections = {part.partition("\n")[0]: part for part in PAGE.replace("\n### ", "\n## ").split("\n## ")[1:]}
    found: list[tuple[tuple[str, ...], Any]] = list(SCRIPT["commands"](get_command(app)))
    assert len(found) > 50
    for words, command in found:
        section = sections[" ".join(["seedbed", *words])]
        assert command.help and command.help.strip().partition("\n")[0] in section
        for one in command.params:
            assert one.help, f"{words}: {one.name} says nothing of itself"
            assert all(f"`{name}`" in section for name in one.opts if name.startswith("-")), (words, one.opts)
