"""One scheduler at a time: a lease in the database, checked again inside every transaction that relies on it."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select, update

from seedbed.assets.db.dialects import insert_new
from seedbed.assets.db.engine import Database
from seedbed.assets.db.tables import leases
from seedbed.base.clock import Clock, SystemClock
from seedbed.base.errors import Conflict
from seedbed.base.ids import new_id
from seedbed.runtime.executors.processes import is_alive
from seedbed.runtime.executors.supervisor import identity


class LeaseLost(Conflict):
    """Somebody else holds the lease now; what this holder was about to write was not written."""


class Lease:
    """The right to be the scheduler. It ends when it is not renewed for `seconds`.

    The holder is named by its process, so that the next one on the same machine need not wait for the end of the lease
    of a process that was killed. A holder that was asleep too long finds out at its next `write`, which then refuses.
    """

    def __init__(
        self, database: Database, clock: Clock | None = None, *, name: str = "scheduler", seconds: float = 15.0
    ) -> None:
        self._database = database
        self._clock = clock or SystemClock()
        self.name = name
        self.seconds = seconds
        self.holder = ""
        self._fresh_until = 0.0  # until then it need not be renewed; that it is still held is checked in every write

    def hold(self) -> bool:
        """Take or renew the lease; whether it is held now."""
        self.holder = self.holder or _who_i_am()
        now = self._clock.now()
        if now < self._fresh_until:
            return True
        with self._database.write() as conn:
            conn.execute(insert_new(conn, leases).values(name=self.name, holder="", expires=0.0))
            row = conn.execute(select(leases).where(leases.c.name == self.name).with_for_update()).one()
            if row.holder != self.holder and row.expires > now and not _is_dead(row.holder):
                return False
            changes = {"holder": self.holder, "expires": now + self.seconds}
            conn.execute(update(leases).where(leases.c.name == self.name).values(changes))
        self._fresh_until = now + self.seconds / 3
        return True

    def renew(self) -> bool:
        """Prolong it if it is held, and never take it; whether it is held."""
        mine = (leases.c.name == self.name, leases.c.holder == self.holder, leases.c.expires > 0)
        later = self._clock.now() + self.seconds
        with self._database.write() as conn:
            return bool(conn.execute(update(leases).where(*mine).values(expires=later)).rowcount)

    def release(self) -> None:
        """Give it back, if it is held."""
        mine = (leases.c.name == self.name) & (leases.c.holder == self.holder)
        self._fresh_until = 0.0
        with self._database.write() as conn:
            conn.execute(update(leases).where(mine).values(expires=0.0))

    def check(self, conn: Connection) -> None:
        """Refuse to go on in this transaction unless the lease is held, and keep it until the commit."""
        mine = (leases.c.name == self.name, leases.c.holder == self.holder, leases.c.expires > 0)
        if not conn.execute(update(leases).where(*mine).values(holder=self.holder)).rowcount:
            self._fresh_until = 0.0
            raise LeaseLost(f"This {self.name} was replaced by another one.")

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """A write transaction that only the holder can make."""
        with self._database.write() as conn:
            self.check(conn)
            yield conn


def _who_i_am() -> str:
    return json.dumps({"id": new_id(), "space": _process_space(), **identity(os.getpid())})


def _process_space() -> str:
    """Pids mean something only inside one of these (containers on one machine have their own)."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _is_dead(holder: str) -> bool:
    """Whether the holder is a process of this machine that is gone; False where that cannot be told."""
    try:
        process: dict[str, Any] = json.loads(holder)
    except ValueError:
        return True
    mine = identity(os.getpid())
    same_place = process["boot"] and process["boot"] == mine["boot"] and process["space"] == _process_space()
    return bool(same_place and process["started"] is not None and not is_alive(process))
