"""The feed of events as people see it."""

from collections.abc import Sequence

from seedbed.assets.access.roles import Identity
from seedbed.assets.store.events import Event, Events
from seedbed.flows.usecases.pages import may_see


class Feed:
    """Events of what a person may see."""

    def __init__(self, events: Events) -> None:
        self._events = events

    def last(self) -> int:
        """The number of the newest event: a cursor for those who only want what comes."""
        raise NotImplementedError

    def after(
        self, cursor: int, *, limit: int = 1000, kinds: Sequence[str] = (), by: Identity
    ) -> tuple[list[Event], int]:
        """Events after a cursor, and the cursor to go on from (it also passes what `by` may not see)."""
        raise NotImplementedError

    def wait(self, cursor: int, timeout: float, *, by: Identity) -> tuple[list[Event], int]:
        """The same, but blocks until something comes or the time is over."""
        raise NotImplementedError
