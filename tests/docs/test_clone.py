"""A clone of the repository gives a complete wheel: installed somewhere else, it works by itself."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone of a repository")]


def ran(*command: str | Path, cwd: Path, environ: dict[str, str] | None = None) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SEEDBED_", "PYTHON"))}
    done = subprocess.run(command, cwd=cwd, env=kept | (environ or {}), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What somebody gets who clones the last commit."""
    place = tmp_path_factory.mktemp("clone") / "seedbed"
    ran("git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(place), cwd=place.parent)
    return place


@pytest.fixture(scope="module")
def wheel(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the clone, as `pip install .` builds it, with the hatchling that is installed here."""
    dist = tmp_path_factory.mktemp("dist")
    ran(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", dist, cwd=clone)
    (built,) = dist.glob("seedbed-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of a new environment that has this wheel, and everything else from ours."""
    place = tmp_path_factory.mktemp("installed") / "venv"
    ran(sys.executable, "-m", "venv", place, cwd=place.parent)
    ran(place / "bin" / "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=place.parent)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(place), "platbase": str(place)}))
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")  # as a path only: its own .pth are not read
    return place / "bin"


def test_the_wheel_has_the_migrations_the_page_assets_and_nothing_else(clone: Path, wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    source = clone / "src"
    kept = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    assert {name for name in names if not name.startswith("seedbed-")} == kept
    assert any(name.startswith("seedbed/assets/db/migrations/versions/") for name in names)
    assert any(name.startswith("seedbed/faces/ui/assets/") and not name.endswith(".py") for name in names)


def test_the_installed_program_is_the_one_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    where = ran(installed / "python", "-c", "import seedbed; print(seedbed.__file__)", cwd=tmp_path).strip()
    assert Path(where).is_relative_to(installed.parent)


def test_it_answers_and_finds_nothing_bad(installed: Path, tmp_path: Path) -> None:
    home = {"SEEDBED_HOME": str(tmp_path / "home"), "SEEDBED_PORT": "0"}
    assert "demo" in ran(installed / "seedbed", "--help", cwd=tmp_path, environ=home)
    checks = json.loads(ran(installed / "seedbed", "doctor", "--json", cwd=tmp_path, environ=home))
    assert {check["name"] for check in checks if check["ok"] == "bad"} == set()


def test_it_runs_a_job_in_a_home_that_it_makes_itself(installed: Path, tmp_path: Path) -> None:
    home = {"SEEDBED_HOME": str(tmp_path / "home")}
    asked = ("jobs", "submit", "sleep-and-count", "-p", "steps=1", "--json")
    assert json.loads(ran(installed / "seedbed", *asked, cwd=tmp_path, environ=home))["state"] == "done"
