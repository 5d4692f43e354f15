"""What the shell offers while a command is typed, asked as the shells ask."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seedbed.assets.store.bundle import Draft
from seedbed.base.settings import Settings
from seedbed.faces.client import Client
from seedbed.flows.platform import Platform
from tests.faces.cli.conftest import Asked
from tests.faces.servers import Server, environment

PROGRAM = Path(sys.executable).with_name("seedbed")


@pytest.fixture(scope="module")
def filled(home: Path, asked: Asked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two projects, a context, a bundle of files and a job."""
    note = tmp_path_factory.mktemp("files") / "note.txt"
    note.write_text("a note")
    asked("projects", "create", "bean leaves", "-c", "rust", "-c", "well")
    asked("projects", "create", "wheat", "-c", "rust", "-c", "well")
    asked("context", "create", "season-2025")
    asked("store", "add", str(note), "--name", "field-notes")
    with Platform.open(Settings(home=home)) as platform:
        platform.store.publish(Draft("leaves", "data-set"))
    asked("jobs", "submit", "sleep-and-count", "-p", "steps=1", "--name", "first", "--detach")
    return home


def ask(home: Path, line: str, shell: str = "bash", **more: str) -> list[str]:
    """The lines that a shell gets while `line` is typed, its last word perhaps unfinished."""
    given = {"_SEEDBED_COMPLETE": f"complete_{shell}", **more}
    if shell == "bash":
        given |= {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    else:
        given |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run([PROGRAM], env=environment(home, **given), capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("seedbed jobs submit slee", ["sleep-and-count"]),
        ("seedbed recipe d", ["demo"]),
        ("seedbed list re", ["recipes"]),
        ("seedbed store find --kind data", ["data-set"]),
        ("seedbed projects show w", ["wheat"]),
        ("seedbed projects show ", ["bean\\ leaves", "wheat"]),
        ("seedbed train --project whe", ["wheat"]),
        ("seedbed labels import w", ["wheat"]),
        ("seedbed data show ", ["leaves"]),
        ("seedbed train ", ["leaves"]),
        ("seedbed context use s", ["season-2025"]),
        ("seedbed store show f", ["field-notes"]),
        ("seedbed jobs show f", ["first"]),
        ("seedbed jobs show none", []),
    ],
)
def test_names_are_offered_where_an_argument_takes_them(filled: Path, line: str, offered: list[str]) -> None:
    assert ask(filled, line) == offered


def test_the_home_that_is_typed_is_the_one_that_is_looked_into(filled: Path, tmp_path: Path) -> None:
    assert ask(tmp_path / "none", f"seedbed --home {filled} projects show whe") == ["wheat"]


def test_zsh_and_fish_are_answered_in_their_own_way(filled: Path) -> None:
    assert ask(filled, "seedbed projects show be", "fish") == ["bean leaves"]
    assert ask(filled, "seedbed projects show be", "zsh") == ["_arguments '*: :((\"bean leaves\"))'"]


def test_nothing_is_offered_said_or_made_without_a_home_or_a_server(tmp_path: Path) -> None:
    home = tmp_path / "none"
    began = time.perf_counter()
    assert ask(home, "seedbed projects show ") == ask(home, "seedbed jobs show a") == []
    assert ask(home, "seedbed projects show ", SEEDBED_URL="http://127.0.0.1:9") == []
    assert time.perf_counter() - began < 6
    assert not home.exists()
    home.mkdir()
    (home / "seedbed.db").write_bytes(b"no database")
    assert ask(home, "seedbed context use ") == []
    assert [path.name for path in home.iterdir()] == ["seedbed.db"]


def test_a_server_is_asked_where_there_is_one(server: Server, tmp_path: Path) -> None:
    with Client(server.url, server.token) as client:
        client.projects.create("completed", classes=["rust", "well"])
        job = client.jobs.submit("sleep-and-count", params={"steps": 1}, name="completed-job")
    there = {"SEEDBED_URL": server.url, "SEEDBED_TOKEN": server.token}
    assert ask(tmp_path, "seedbed projects show compl", **there) == ["completed"]
    assert ask(tmp_path, "seedbed jobs show compl", **there) == ["completed-job"]
    assert ask(tmp_path, f"seedbed jobs show {job['id'][:-2]}", **there) == [job["id"]]
    assert ask(tmp_path, "seedbed context use lo", **there) == ["local"]
    assert ask(tmp_path, "seedbed projects show compl", **{**there, "SEEDBED_TOKEN": "wrong"}) == []


@pytest.mark.parametrize("line", ["seedbed jobs submit ", "seedbed projects show "])
def test_names_are_offered_in_under_half_a_second(filled: Path, line: str) -> None:
    def seconds() -> float:
        began = time.perf_counter()
        assert ask(filled, line)
        return time.perf_counter() - began

    assert any(seconds() < 0.5 for _ in range(5))


def test_bash_itself_completes_a_name(filled: Path, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    script = tmp_path / "complete.sh"
    made = subprocess.run(
        [PROGRAM], env=environment(filled, _SEEDBED_COMPLETE="source_bash"), capture_output=True, text=True, timeout=60
    )
    script.write_text(
        f"{made.stdout}\nCOMP_WORDS=(seedbed projects show be) COMP_CWORD=3\n"
        "eval \"$(complete -p seedbed | sed -E 's/.*-F ([^ ]+).*/\\1/')\" seedbed be show\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    path = f"{PROGRAM.parent}:/usr/bin:/bin"
    done = subprocess.run([bash, str(script)], env=environment(filled, PATH=path), capture_output=True, text=True)
    assert done.stdout.splitlines() == ["bean\\ leaves"], done.stderr
