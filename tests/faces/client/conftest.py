"""One real server for the client's tests."""

from collections.abc import Iterator

import pytest

from seedbed.faces.client import Client
from tests.faces.servers import Server, serving


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("client") / "home") as running:
        yield running


@pytest.fixture(scope="package")
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, server.token) as made:
        yield made
