"""What `--help` says fits the terminal, and says all of it."""

import pytest
from typer.main import get_command

from seedbed.faces.cli.main import app
from tests.faces.cli.conftest import Seedbed

ROOT = get_command(app)
GROUPS = {"": ROOT, **{name: one for name, one in ROOT.commands.items() if hasattr(one, "commands")}}  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("name", GROUPS)
def test_what_each_command_does_is_told_to_the_end_of_the_sentence(seedbed: Seedbed, name: str, width: int) -> None:
    said = seedbed(*name.split(), "--help", COLUMNS=str(width), TERMINAL_WIDTH=str(width)).stdout
    lines = said.partition("Commands:\n")[2].splitlines()
    assert all(len(line) < width for line in lines)
    whole = " ".join(said.split())
    shown = [one for one in GROUPS[name].commands.items() if not one[1].hidden]  # type: ignore[attr-defined]
    for called, command in shown:
        sentence = " ".join(command.help.partition("\n\n")[0].split()).partition(". ")[0].removesuffix(".")
        assert f" {called} {sentence}." in whole
