"""docs/training.md has the defaults and the names that the code has."""

import re
import runpy
from pathlib import Path

from typer.main import get_command

from seedbed.faces.cli.main import app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "training.md").read_text()
MAKER = runpy.run_path(str(ROOT / "scripts" / "training_page.py"))


def test_the_table_of_defaults_is_what_the_code_makes_of_it() -> None:
    assert MAKER["defaults_table"]() in PAGE, "run: python scripts/training_page.py"


def test_the_table_of_algorithms_is_what_the_code_makes_of_it() -> None:
    assert MAKER["algorithms_table"]() in PAGE, "run: python scripts/training_page.py"


def test_the_table_of_backbones_is_what_the_code_makes_of_it() -> None:
    assert MAKER["backbones_table"]() in PAGE, "run: python scripts/training_page.py"


def test_every_option_of_the_table_can_be_typed() -> None:
    train = get_command(app).commands["train"]  # type: ignore[attr-defined]
    known = {flag for option in train.params for flag in option.opts}
    assert set(re.findall(r"`(--[a-z-]+)`", MAKER["defaults_table"]())) <= known
