"""The ordered feed: what happened, numbered without gaps in the order of the commits, for consumers with cursors."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, or_, select, update

from seedbed.assets.db.dialects import upsert
from seedbed.assets.db.engine import Database
from seedbed.assets.db.tables import counters, cursors, events
from seedbed.base.clock import Clock, Instant, SystemClock

_COUNTER = "events"


@dataclass(frozen=True)
class Event:
    """One line of the feed: what kind of thing happened to what."""

    number: int
    at: Instant
    kind: str
    subject: str
    project: str
    data: dict[str, Any]


@dataclass(frozen=True)
class News:
    """An event before it has its number."""

    kind: str
    subject: str
    data: dict[str, Any]
    project: str = ""


class Events:
    """Appends to the feed inside the transaction that makes the event true, and reads it back in order.

    The numbers come from a counter row that stays locked until the commit: who has seen number n will never see a
    smaller one appear later, so that a cursor skips nothing. Safe to use from any thread.
    """

    def __init__(self, database: Database, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()

    def append(self, conn: Connection, kind: str, subject: str, data: dict[str, Any], project: str = "") -> int:
        """Add one event to this write transaction; the answer is its number."""
        return self.append_all(conn, [News(kind, subject, data, project)])

    def append_all(self, conn: Connection, news: Sequence[News]) -> int:
        """Add events to this write transaction, in their order; the answer is the last one's number."""
        last = self.lock(conn, len(news))
        at = self._clock.now()
        rows = [
            {"number": n, "at": at, "kind": e.kind, "subject": e.subject, "project": e.project, "data": e.data}
            for n, e in enumerate(news, last - len(news) + 1)
        ]
        if rows:
            conn.execute(insert(events), rows)
            self._database.bell.announce(conn)
            self._database.on_commit(conn, self._database.bell.ring)
        return last

    def lock(self, conn: Connection, count: int = 0) -> int:
        """Take the next numbers and hold the feed until the commit; with no numbers, only hold it."""
        taken = update(counters).where(counters.c.name == _COUNTER).values(value=counters.c.value + count)
        return int(conn.execute(taken.returning(counters.c.value)).scalar_one())

    def last(self) -> int:
        """The number of the newest event; 0 when there is none."""
        with self._database.read() as conn:
            return int(conn.execute(select(counters.c.value).where(counters.c.name == _COUNTER)).scalar_one())

    def after(self, cursor: int, limit: int = 1000, kinds: Collection[str] = ()) -> list[Event]:
        """The events that follow a cursor, in order. A kind that ends in a dot stands for all that begin with it."""
        query = select(events).where(events.c.number > cursor).order_by(events.c.number).limit(limit)
        if kinds:
            exact = [kind for kind in kinds if not kind.endswith(".")]
            wide = [events.c.kind.startswith(kind, autoescape=True) for kind in kinds if kind.endswith(".")]
            query = query.where(or_(events.c.kind.in_(exact), *wide))
        with self._database.read() as conn:
            return [Event(**row) for row in conn.execute(query).mappings()]

    def wait(self, cursor: int, timeout: float, kinds: Collection[str] = ()) -> list[Event]:
        """The events that follow a cursor, as soon as there are any; none when the time is over."""
        until = time.monotonic() + timeout
        while True:
            mark = self._database.bell.mark()
            found = self.after(cursor, kinds=kinds)
            left = until - time.monotonic()
            if found or left <= 0:
                return found
            self._database.bell.wait(mark, left)

    def cursor(self, consumer: str) -> int:
        """How far a consumer has come; 0 for a new one."""
        with self._database.read() as conn:
            return conn.execute(select(cursors.c.number).where(cursors.c.consumer == consumer)).scalar() or 0

    def advance(self, consumer: str, number: int) -> None:
        """Note that a consumer has dealt with everything up to a number; it never goes back."""
        with self._database.write() as conn:
            self.advance_in(conn, consumer, number)

    def advance_in(self, conn: Connection, consumer: str, number: int) -> None:
        """The same inside a write transaction, so that what the consumer did and its cursor are kept together."""
        ahead = cursors.c.number < number
        conn.execute(upsert(conn, cursors, {"consumer": consumer, "number": number}, only_where=ahead))
