"""Which names and which pages are ours."""

import pytest

from seedbed.base.settings import Settings
from seedbed.faces.api.hosts import Hosts

ALONE = Hosts.of(Settings())
BEHIND_A_PROXY = Hosts.of(Settings(public_url="https://seedbed.example.org"))


@pytest.mark.parametrize("host", ["127.0.0.1:8321", "localhost", "LOCALHOST:80", "[::1]:8321", "10.0.0.7:8321"])
def test_addresses_and_localhost_are_ours(host: str) -> None:
    assert ALONE.knows(host)


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8321", "", "[", "a:b:c"]
)
def test_a_name_that_somebody_else_could_own_is_not_ours(host: str) -> None:
    assert not ALONE.knows(host)


def test_the_public_address_is_ours_once_it_is_set() -> None:
    assert not ALONE.knows("seedbed.example.org")
    assert BEHIND_A_PROXY.knows("seedbed.example.org")
    assert BEHIND_A_PROXY.secure
    assert not ALONE.secure


def test_the_origin_must_be_the_site_that_is_asked() -> None:
    assert ALONE.same_origin("http://127.0.0.1:8321", "127.0.0.1:8321")
    assert BEHIND_A_PROXY.same_origin("https://seedbed.example.org", "127.0.0.1:8321")


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://127.0.0.1:9999", "https://evil.example", "file://127.0.0.1:8321", "http://[", "data:x"],
)
def test_other_origins_are_not_ours_even_on_another_port_of_the_same_host(origin: str) -> None:
    assert not ALONE.same_origin(origin, "127.0.0.1:8321")
