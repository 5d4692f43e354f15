"""The feed of events as people see it."""

from collections.abc import Sequence

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.store.events import Event, Events
from seedbed.flows.usecases.pages import may_see

_OF_OPERATORS = "user."


class Feed:
    """Events of what a person may see."""

    def __init__(self, events: Events) -> None:
        self._events = events

    def last(self) -> int:
        """The number of the newest event: a cursor for those who only want what comes."""
        return self._events.last()

    def after(
        self, cursor: int, *, limit: int = 1000, kinds: Sequence[str] = (), by: Identity
    ) -> tuple[list[Event], int]:
        """Events after a cursor, and the cursor to go on from (it also passes what `by` may not see)."""
        return _seen(self._events.after(cursor, limit=limit, kinds=kinds), cursor, by)

    def wait(self, cursor: int, timeout: float, *, kinds: Sequence[str] = (), by: Identity) -> tuple[list[Event], int]:
        """The same, but blocks until something comes or the time is over."""
        return _seen(self._events.wait(cursor, timeout, kinds=kinds), cursor, by)


def _seen(events: list[Event], cursor: int, by: Identity) -> tuple[list[Event], int]:
    visible = [
        event
        for event in events
        if may_see(by, event.project) and (by.may(Role.OPERATOR) or not event.kind.startswith(_OF_OPERATORS))
    ]
    return visible, events[-1].number if events else cursor
