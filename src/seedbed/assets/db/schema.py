"""Bringing a database to the schema of this Seedbed, with a copy of the old state kept, and never backwards."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from seedbed.assets.db.engine import Database
from seedbed.assets.db.tables import metadata
from seedbed.base.errors import WrongVersion

MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 7_333_213  # any number; the same in every Seedbed that shares a PostgreSQL database


def head() -> str:
    """The newest revision that this Seedbed knows."""
    return _scripts().get_current_head() or ""


def revision(database: Database) -> str:
    """The revision that a database is at; empty for a new one."""
    with database.read() as conn:
        return MigrationContext.configure(conn).get_current_revision() or ""


def check_known(found: str) -> None:
    """Refuse a revision from the future."""
    if found and found not in {script.revision for script in _scripts().walk_revisions()}:
        raise WrongVersion(
            f"The database was written by a newer Seedbed (its schema is {found}; this one knows {head()}).",
            hint="Install that version or a later one: pip install --upgrade seedbed.",
        )


def upgrade(database: Database, target: str = "head") -> None:
    """Run what is missing, in one transaction."""
    with database.write() as conn, _alone(conn):
        _run(conn, lambda scripts, current: scripts._upgrade_revs(target, current))


def downgrade(database: Database, target: str) -> None:
    """Go back to an older revision: only for tests of migrations; what the newer one added is lost."""
    with database.write() as conn:
        _run(conn, lambda scripts, current: scripts._downgrade_revs(target, current))


def copy_sqlite(source: Path, target: Path) -> None:
    """A consistent copy of an SQLite database, also while it is used."""
    with contextlib.closing(sqlite3.connect(source)) as read, contextlib.closing(sqlite3.connect(target)) as write:
        read.backup(write)


def _run(conn: Connection, plan: Any) -> None:
    scripts = _scripts()
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with EnvironmentContext(config, scripts, fn=lambda current, _context: plan(scripts, current)) as environment:
        environment.configure(connection=conn, target_metadata=metadata, transactional_ddl=False)
        environment.run_migrations()


def _scripts() -> ScriptDirectory:
    return ScriptDirectory(str(MIGRATIONS))


@contextlib.contextmanager
def _alone(conn: Connection) -> Iterator[None]:
    """One migration at a time; SQLite's write transaction already sees to it."""
    if conn.dialect.name == "postgresql":
        conn.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    yield
