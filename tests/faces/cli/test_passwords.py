"""Passwords at the command line of a team's server: one's own by who knows the present one."""

import subprocess
from collections.abc import Iterator

import pytest

from tests.faces.servers import Server, command, environment, run, serving

FIRST, SECOND, THIRD = "seven grey geese fly", "eight grey geese fly", "nine grey geese fly"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A team's server with somebody who trains."""
    home = tmp_path_factory.mktemp("team") / "home"
    with serving(home, "--team") as server:
        made = run(home, "users", "add", "ada", "--role", "trainer", SEEDBED_NEW_PASSWORD=FIRST)
        assert made.returncode == 0, made.stderr
        yield server


@pytest.fixture(scope="module")
def away(team: Server) -> dict[str, str]:
    """What ada's own machine has set."""
    made = run(team.home, "users", "token", "ada")
    assert made.returncode == 0, made.stderr
    return {"SEEDBED_URL": team.url, "SEEDBED_TOKEN": made.stdout.strip()}


def opens(team: Server, password: str) -> bool:
    asked = {"name": "ada", "password": password}
    return team.http(token="").post("/api/v1/session", json=asked).status_code == 201


def test_ones_own_password_is_changed_with_the_present_one(team: Server, away: dict[str, str]) -> None:
    given = {"SEEDBED_NEW_PASSWORD": SECOND, **away}
    wrong = run(team.home, "users", "password", "ada", SEEDBED_PRESENT_PASSWORD="a guess", **given)
    assert wrong.returncode == 2 and "That is not your present password." in wrong.stderr
    assert opens(team, FIRST)
    done = run(team.home, "users", "password", "ada", SEEDBED_PRESENT_PASSWORD=FIRST, **given)
    assert done.returncode == 0, done.stderr
    assert opens(team, SECOND)
    # whoever runs the service on its machine needs none: that is how a forgotten one is replaced
    done = run(team.home, "users", "password", "ada", SEEDBED_NEW_PASSWORD=FIRST)
    assert done.returncode == 0, done.stderr
    assert opens(team, FIRST)


def test_what_is_left_out_is_asked_for_the_present_password_first(team: Server, away: dict[str, str]) -> None:
    done = subprocess.run(
        command("users", "password", "ada"),
        env=environment(team.home, **away),
        input=f"{FIRST}\n{THIRD}\n{THIRD}\n",
        capture_output=True,
        text=True,
        timeout=120,
        start_new_session=True,  # without a terminal passwords are read from what is given
    )
    assert done.returncode == 0, done.stderr
    assert "Your present password" in done.stdout + done.stderr
    assert opens(team, THIRD)
