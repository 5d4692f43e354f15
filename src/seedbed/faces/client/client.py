"""The client: one object, a noun per attribute."""

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self, cast

import httpx

from seedbed.faces.client import results
from seedbed.faces.client.connection import Connection, part
from seedbed.faces.client.labelling import Labelling
from seedbed.faces.client.nouns import Bundles, Contexts, Data, Jobs, Models, Users, follow
from seedbed.faces.client.projects import Projects
from seedbed.faces.client.zoo import Zoo


class Client:
    """Seedbed over REST.

    >>> client = Client("http://127.0.0.1:8321", token)          # doctest: +SKIP
    >>> job = client.data.add(name="leaves", path="/data/leaves")   # doctest: +SKIP
    >>> for job in client.follow(job["id"]): print(job["doing"])    # doctest: +SKIP

    Refusals are raised as the errors of `seedbed.base.errors`; a server that cannot be reached is Unavailable.
    """

    def __init__(
        self, url: str, token: str = "", *, transport: httpx.BaseTransport | None = None, timeout: float = 60.0
    ) -> None:
        self._to = Connection(url, token, transport=transport, timeout=timeout)
        self.jobs = Jobs(self._to)
        self.bundles = Bundles(self._to)
        self.contexts = Contexts(self._to)
        self.data = Data(self._to)
        self.projects = Projects(self._to)
        self.labelling = Labelling(self._to)
        self.models = Models(self._to)
        self.users = Users(self._to)
        self.zoo = Zoo(self._to)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._to.close()

    def follow(self, *jobs: str, every: float = 1.0) -> Iterator[results.Job]:
        """Each of these jobs (by full id) whenever it changed, until all have ended."""
        return follow(self._to, jobs, every=every)

    def events(self, after: int = 0, *, wait: float = 0.0) -> results.EventPage:
        """Events after a cursor; waits up to that many seconds for news."""
        return cast(results.EventPage, self._to.wait("/events", wait, after=after, wait=wait))

    def list(self, kind: str) -> dict[str, str]:
        """What there is of one kind: name and one line each."""
        return cast(dict[str, str], self._to.get(f"/list/{part(kind)}"))

    def kinds(self) -> Sequence[str]:
        """The kinds that `list` knows."""
        return cast(Sequence[str], self._to.get("/list"))

    def who(self) -> results.Identity:
        """Who is signed in."""
        return cast(results.Identity, self._to.get("/session"))

    def health(self) -> results.Health:
        """Whether the service answers."""
        return cast(results.Health, self._to.get("/health"))

    def doctor(self) -> Sequence[results.Check]:
        """What is missing or unsafe on the server's machine."""
        return cast(Sequence[results.Check], self._to.get("/doctor"))

    def backup(self, target: str = "") -> dict[str, Any]:
        """Write everything into one tar file of the server."""
        return cast(dict[str, Any], self._to.send("/backup", json={"target": target}))
