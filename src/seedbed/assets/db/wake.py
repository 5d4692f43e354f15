"""Waking those who wait for a commit: in this process, by LISTEN/NOTIFY on PostgreSQL, by a cheap look on SQLite."""

import contextlib
import os
import select
import sqlite3
import threading
import time
from typing import Any

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

CHANNEL = "seedbed"
_LOOK_EVERY = 0.1  # seconds between looks at SQLite's change counter, for commits of other processes
_RECONNECT_AFTER = 0.5


class Bell:
    """Rings after commits; one per Database, shared by all threads.

    A waiter takes `mark()` first, then looks at the database, then calls `wait(mark)`: a commit between the two
    rings a newer mark, so that nothing is missed. A bell may ring without news; it never stays silent about a commit.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._rung = 0

    def ring(self) -> None:
        """Wake everybody in this process."""
        with self._condition:
            self._rung += 1
            self._condition.notify_all()

    def announce(self, connection: Connection) -> None:
        """Have other processes woken by the commit of this connection's transaction."""

    def mark(self) -> int:
        """Where the bell stands now."""
        with self._condition:
            return self._rung

    def wait(self, mark: int, timeout: float) -> None:
        """Return once the bell has rung since the mark, or when the time is over."""
        with self._condition:
            self._condition.wait_for(lambda: self._rung != mark, timeout)

    def close(self) -> None:
        """Let go of connections and threads."""


class SqliteBell(Bell):
    """Other processes' commits show in PRAGMA data_version, a read of shared memory that costs microseconds."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._version = -1

    def mark(self) -> int:
        self._look()
        return super().mark()

    def wait(self, mark: int, timeout: float) -> None:
        until = time.monotonic() + timeout
        while (left := until - time.monotonic()) > 0:
            super().wait(mark, min(left, _LOOK_EVERY))
            if super().mark() != mark:
                return
            self._look()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _look(self) -> None:
        with self._lock:
            if self._connection is None:
                self._connection = sqlite3.connect(
                    self._path, isolation_level=None, check_same_thread=False, timeout=30
                )
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            changed, self._version = version != self._version, version
        if changed:
            self.ring()


class PostgresBell(Bell):
    """One thread with one connection listens for all waiters of this process; it starts with the first of them."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._listening = threading.Event()
        self._stop = threading.Event()
        self._wake_read, self._wake_write = -1, -1

    def announce(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_notify(:channel, '')"), {"channel": CHANNEL})

    def mark(self) -> int:
        with self._lock:
            if self._thread is None:
                self._wake_read, self._wake_write = os.pipe()
                self._stop.clear()
                self._thread = threading.Thread(target=self._listen, name="seedbed-listener", daemon=True)
                self._thread.start()
        self._listening.wait(5)
        return super().mark()

    def wait(self, mark: int, timeout: float) -> None:
        # While the listener has no connection, look again every now and then rather than trust it.
        super().wait(mark, timeout if self._listening.is_set() else min(timeout, _RECONNECT_AFTER))

    def close(self) -> None:
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is None:
                return
            self._stop.set()
            os.write(self._wake_write, b"x")
            thread.join()
            os.close(self._wake_read)
            os.close(self._wake_write)
        self.ring()

    def _listen(self) -> None:
        driver: Any = self._engine.dialect.dbapi
        while not self._stop.is_set():
            with contextlib.suppress(DBAPIError, driver.Error), contextlib.closing(self._connect()) as connection:
                connection.execute(f"LISTEN {CHANNEL}")
                self._listening.set()
                self.ring()  # what was committed while nobody listened
                self._hear(connection)
            self._listening.clear()
            self._stop.wait(_RECONNECT_AFTER)

    def _connect(self) -> Any:
        pooled = self._engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()
        connection.autocommit = True
        return connection

    def _hear(self, connection: Any) -> None:
        while not self._stop.is_set():
            select.select([connection.fileno(), self._wake_read], [], [], 30)
            if any(True for _ in connection.notifies(timeout=0)):
                self.ring()
