"""A client of the shared server."""

from collections.abc import Iterator

import pytest

from seedbed.faces.client import Client
from tests.faces.servers import Server


@pytest.fixture(scope="package")
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, server.token) as made:
        yield made
