"""The database as the rest of Seedbed sees it: read and write transactions, and what runs after a commit."""

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError

from seedbed.assets.db.wake import Bell, PostgresBell, SqliteBell
from seedbed.base.errors import Damaged, DiskFull, SeedbedError, Unavailable

_AFTER_COMMIT = "seedbed.after_commit"
_TIGHT = 1 << 20  # bytes; less than this is a full disk

Transaction = Connection
"""An open transaction, as those hand it on who do not speak SQL themselves."""
Along = Callable[[Transaction], None]
"""What is written along with something else, in one commit; if it raises, neither is."""


def nothing_along(_: Transaction) -> None:
    """Where nothing else is to be written."""


class Database:
    """One SQLite file or one PostgreSQL database. Safe to use from any thread; each transaction has its own connection.

    SQLite's own way of opening transactions loses concurrent updates (a read that later writes is not protected), so
    every write transaction begins with BEGIN IMMEDIATE and every commit is on disk before it returns.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.dialect = "sqlite" if url.startswith("sqlite") else "postgresql"
        self._engine = _sqlite(url) if self.dialect == "sqlite" else _postgresql(url)
        self.bell = _bell(self)

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine, for migrations and the listener."""
        return self._engine

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database and changes nothing."""
        with _in_words(self._engine), self._engine.connect() as connection:
            if self.dialect == "sqlite":
                connection.exec_driver_sql("BEGIN")
            else:
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            try:
                yield connection
            finally:
                connection.rollback()

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is on disk when the block has ended, or has left nothing when it raised."""
        with _in_words(self._engine), self._engine.connect() as connection:
            callbacks: list[Callable[[], None]] = []
            connection.info[_AFTER_COMMIT] = callbacks
            if self.dialect == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.commit()
            except BaseException:
                connection.rollback()
                raise
            finally:
                connection.info.pop(_AFTER_COMMIT, None)
        for callback in callbacks:
            callback()

    def on_commit(self, connection: Connection, callback: Callable[[], None]) -> None:
        """Have something done once the write transaction of this connection is on disk; not if it is rolled back."""
        connection.info[_AFTER_COMMIT].append(callback)

    def dispose(self) -> None:
        """Close every connection."""
        self.bell.close()
        self._engine.dispose()


def _bell(database: Database) -> Bell:
    if database.dialect == "sqlite":
        return SqliteBell(database.engine.url.database or "")
    return PostgresBell(database.engine)


def _sqlite(url: str) -> Engine:
    engine = create_engine(url, connect_args={"timeout": 30, "check_same_thread": False}, pool_size=10, max_overflow=40)

    @event.listens_for(engine, "connect")
    def _set_up(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None  # Seedbed opens transactions itself
        cursor = connection.cursor()
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def _postgresql(url: str) -> Engine:
    return create_engine(url, pool_size=10, max_overflow=40, pool_pre_ping=True)


@contextlib.contextmanager
def _in_words(engine: Engine) -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        if sentence := _sentence(str(error.orig), engine):
            raise sentence from error
        raise


def _sentence(text: str, engine: Engine) -> SeedbedError | None:
    first, low = text.strip().partition("\n")[0], text.lower()
    if "disk is full" in low or "no space left" in low or ("disk i/o error" in low and _no_room(engine)):
        return DiskFull(
            "The disk that holds the database is full; nothing was kept of this write.",
            hint="Make room on it; what was kept before is safe.",
        )
    if "malformed" in low or "not a database" in low:
        return Damaged(f"The database is damaged: {first}.", hint="Restore a backup, or rebuild it from the manifests.")
    if any(sign in low for sign in ("unable to open", "readonly database", "is locked", "connection", "starting up")):
        return Unavailable(
            f"The database cannot be used now: {first}.", hint="Check that it runs and that its folder can be written."
        )
    return None


def _no_room(engine: Engine) -> bool:
    """SQLite cannot always tell a full disk from a broken one."""
    folder = Path(engine.url.database or ".").parent
    return folder.exists() and shutil.disk_usage(folder).free < _TIGHT
