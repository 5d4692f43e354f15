"""A real platform behind the app, in this process; and real servers."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from seedbed.assets.access.roles import SOLO, Role
from seedbed.base.settings import Settings
from seedbed.faces.api.app import create_app
from seedbed.faces.client.inprocess import InProcessTransport
from seedbed.flows.platform import Platform
from tests.faces.servers import Server, serving

TOKEN = "the-token-of-this-test"
Calls = Callable[..., httpx.Client]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("home")
    return Settings(home=home, import_roots=(home / "importable",), upload_limit=100_000)


@pytest.fixture(scope="module")
def platform(settings: Settings) -> Iterator[Platform]:
    opened = Platform.open(settings)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def solo(platform: Platform, settings: Settings) -> FastAPI:
    """The app of one person with a token."""
    return create_app(platform, settings=settings, solo_token=TOKEN)


@pytest.fixture(scope="module")
def calls(solo: FastAPI) -> Iterator[Calls]:
    """Makes clients of the one-person app, with headers as given."""
    transport = InProcessTransport(solo)

    def client(**headers: str) -> httpx.Client:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.Client(base_url="http://localhost", transport=transport, headers=named)

    yield client
    transport.close()


@pytest.fixture(scope="module")
def me(calls: Calls) -> httpx.Client:
    """The one person."""
    return calls(authorization=f"Bearer {TOKEN}")


@pytest.fixture(scope="module")
def tokens(platform: Platform) -> dict[Role, str]:
    """An API token for a user of each role."""
    made = {}
    for role in Role:
        name = f"a-{role.value}"
        platform.users.create(name, role, by=SOLO)
        made[role] = platform.users.make_token(name, "test", by=SOLO)
    return made


@pytest.fixture(scope="module")
def team(platform: Platform, settings: Settings, tokens: dict[Role, str]) -> FastAPI:
    """The app of a team."""
    return create_app(platform, settings=settings, solo_token=None, set_up_code="the-code")


@pytest.fixture(scope="module")
def team_calls(team: FastAPI) -> Iterator[Callable[[str], httpx.Client]]:
    """Makes clients of the team's app, by token."""
    transport = InProcessTransport(team)
    yield lambda token: httpx.Client(
        base_url="http://localhost", transport=transport, headers={"Authorization": f"Bearer {token}"} if token else {}
    )
    transport.close()


@pytest.fixture(scope="module")
def team_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`seedbed up --team`."""
    with serving(Path(tmp_path_factory.mktemp("team")) / "home", "--team") as running:
        yield running
