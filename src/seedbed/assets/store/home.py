"""Opening a home: its folders, its version, its database brought up to date with a copy of the old state kept."""

import contextlib
import fcntl
import time
from collections.abc import Iterator
from pathlib import Path

from seedbed.assets.db import schema
from seedbed.assets.db.engine import Database
from seedbed.assets.store.deletion import TROUBLE, tidy
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.tables_file import dump_tables
from seedbed.base.clock import SystemClock
from seedbed.base.errors import Unavailable, WrongVersion
from seedbed.base.files import write_atomically

VERSION = 1  # of the folder's layout; the database has its own, the revision of its schema
FOLDERS = ("files", "manifests", "manifests/tombstones", "leases", "jobs", "uploads", "backups")


def open_home(home: Path, url: str = "") -> Database:
    """The database of a home, made if it is new, brought up to date if it is old, refused if it is newer."""
    make_folders(home)
    with _alone(home):
        check_version(home)
        database = Database(url or f"sqlite:///{home / 'seedbed.db'}")
        try:
            migrate(database, home)
        except BaseException:
            database.dispose()
            raise
        write_atomically(home / "version", f"{VERSION}\n".encode())
    with contextlib.suppress(*TROUBLE):  # a full disk, say, is no reason not to open
        tidy(Parts.of(database, home, SystemClock()))
    return database


def make_folders(home: Path) -> None:
    """Make the folders of a home where they are missing; only its owner can look inside."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in FOLDERS:
            (home / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{home} cannot be used as a home: {error.strerror}.", hint="Set SEEDBED_HOME.") from error


def migrate(database: Database, home: Path) -> None:
    """Bring the database to this Seedbed's schema; the old state is kept in backups/."""
    found = schema.revision(database)
    schema.check_known(found)
    if found == schema.head():
        return
    if found:
        _keep_copy(database, home)
    schema.upgrade(database)


def _keep_copy(database: Database, home: Path) -> None:
    stem = home / "backups" / f"before-{schema.head()}-{time.strftime('%Y%m%d-%H%M%S')}"
    (home / "backups").mkdir(parents=True, exist_ok=True)
    if database.dialect == "sqlite":
        schema.copy_sqlite(Path(database.engine.url.database or ""), stem.with_suffix(".db"))
    else:
        dump_tables(database, stem.with_suffix(".jsonl"))


def check_version(home: Path) -> None:
    """Refuse a home whose folders a newer Seedbed has written."""
    path = home / "version"
    text = path.read_text().strip() if path.exists() else str(VERSION)
    if not text.isdigit() or int(text) > VERSION:
        raise WrongVersion(
            f"{home} was written by a newer Seedbed (its layout is {text}; this one knows {VERSION}).",
            hint="Install that version or a later one: pip install --upgrade seedbed.",
        )


@contextlib.contextmanager
def _alone(home: Path) -> Iterator[None]:
    """One process opens a home at a time; the lock goes with the process."""
    with (home / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
