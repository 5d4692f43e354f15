"""docs/settings.md is what the code's descriptions make of it."""

import runpy
import tomllib
from pathlib import Path

from seedbed.base.settings import Settings, load_settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "settings.md").read_text()


def test_the_page_is_what_the_code_makes_of_it() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "settings_page.py"))["render"]()
    assert made == PAGE, "run: python scripts/settings_page.py"


def test_every_setting_is_described_and_can_be_set_from_the_environment() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert f"| `{name}` | `SEEDBED_{name.upper()}` |" in PAGE


def test_the_example_file_is_accepted(tmp_path: Path) -> None:
    example = PAGE.split("```toml\n")[1].split("```")[0]
    (tmp_path / "seedbed.toml").write_text(example)
    settings = load_settings(environ={"SEEDBED_HOME": str(tmp_path)})
    given = tomllib.loads(example)
    assert {name: getattr(settings, name) for name in given} == given | {"import_roots": (Path("/data/images"),)}
