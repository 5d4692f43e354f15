"""Which Host and Origin headers are ours: against DNS rebinding and against other sites' pages."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from seedbed.base.settings import Settings


@dataclass(frozen=True)
class Hosts:
    """The names that this server answers to.

    A page of another site can make a browser reach us under a name that it controls (DNS rebinding); it cannot do so
    under an address, nor under a name that we listed. So addresses, localhost and the configured names pass.
    """

    names: frozenset[str]
    public_origin: str = ""

    @classmethod
    def of(cls, settings: Settings) -> "Hosts":
        """The names that the settings give."""
        public = urlsplit(settings.public_url)
        names = {"localhost", settings.host.lower(), (public.hostname or "").lower()} - {""}
        return cls(frozenset(names), f"{public.scheme}://{public.netloc}".lower() if public.netloc else "")

    @property
    def secure(self) -> bool:
        """Whether people reach us by TLS only."""
        return self.public_origin.startswith("https://")

    def knows(self, host: str) -> bool:
        """Whether a Host header is one of ours."""
        name = _name_of(host)
        return name in self.names or _is_address(name)

    def same_origin(self, origin: str, host: str) -> bool:
        """Whether a request's Origin is the site that it goes to, or the public address of it."""
        if self.public_origin and origin.lower() == self.public_origin:
            return True
        parts = _split(origin)
        return parts is not None and parts == host.lower()


def _name_of(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _split(origin: str) -> str | None:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") else None
