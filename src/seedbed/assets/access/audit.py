"""The audit log: who did what. Lines are added and read; there is no way to change or remove one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, select

from seedbed.assets.db import tables
from seedbed.assets.db.engine import Database
from seedbed.base.clock import Clock, Instant
from seedbed.base.text import made_plain

_LONGEST = 1000  # characters of one field: subjects come from outside
_MOST_LINES = 1000
_LAST_OFFSET = 1 << 40
_SECRET = ("password", "token", "secret", "authorization", "cookie")


@dataclass(frozen=True)
class AuditLine:
    """One line: at that time, somebody did something to something, and how it ended."""

    number: int
    at: Instant
    who: str
    action: str
    subject: str
    outcome: str
    data: Mapping[str, Any] = field(default_factory=dict)


class Audit:
    """The log in the database. Safe to use from any thread."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def record(
        self,
        who: str,
        action: str,
        subject: str,
        outcome: str = "ok",
        data: Mapping[str, Any] | None = None,
        *,
        connection: Connection | None = None,
    ) -> None:
        """Add a line; with a connection, in its transaction. Values that are named like secrets are left out."""
        values = {
            "at": self._clock.now(),
            "who": made_plain(who, longest=_LONGEST),
            "action": made_plain(action, longest=_LONGEST),
            "subject": made_plain(subject, longest=_LONGEST),
            "outcome": made_plain(outcome, longest=_LONGEST),
            "data": _without_secrets(dict(data or {})),
        }
        if connection is not None:
            connection.execute(insert(tables.audit).values(values))
            return
        with self._database.write() as own:
            own.execute(insert(tables.audit).values(values))

    def list(self, limit: int = 100, offset: int = 0, who: str = "", action: str = "") -> list[AuditLine]:
        """Lines, the newest first; of one person or one action where that is given."""
        query = select(tables.audit).order_by(tables.audit.c.number.desc())
        if who:
            query = query.where(tables.audit.c.who == made_plain(who, longest=_LONGEST))
        if action:
            query = query.where(tables.audit.c.action == made_plain(action, longest=_LONGEST))
        query = query.limit(min(max(limit, 0), _MOST_LINES)).offset(min(max(offset, 0), _LAST_OFFSET))
        with self._database.read() as connection:
            return [AuditLine(**row) for row in connection.execute(query).mappings()]


def _without_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            str(name): "(not kept)" if any(word in str(name).lower() for word in _SECRET) else _without_secrets(item)
            for name, item in value.items()
        }
    return [_without_secrets(item) for item in value] if isinstance(value, list | tuple) else value
