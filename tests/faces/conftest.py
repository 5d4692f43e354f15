"""One real server that all tests of the faces share; those that end or change it start their own."""

from collections.abc import Iterator

import pytest

from tests.faces.servers import Server, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`seedbed up`."""
    with serving(tmp_path_factory.mktemp("server") / "home") as running:
        yield running
