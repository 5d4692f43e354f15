"""What is missing or unsafe on this machine, in sentences."""

import importlib.util
import os
import shutil
import socket
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from seedbed.assets.db.engine import Database
from seedbed.assets.store.home import check_version
from seedbed.base.errors import SeedbedError, WrongVersion
from seedbed.base.files import write_atomically
from seedbed.base.ids import new_id
from seedbed.base.resources import show_size
from seedbed.base.settings import Settings

Verdict = Literal["ok", "warn", "bad"]

NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "fuse.glusterfs"}
    | {"fuse.sshfs", "fuse.s3fs", "afs", "9p", "pvfs2", "orangefs"}
)
_NEARLY_FULL, _FULL = 0.05, 200 << 20  # share of the disk; bytes
_EARLIEST = 1_767_225_600.0  # 2026-01-01: a clock before Seedbed was written is wrong
_LEAST_SQLITE = (3, 35, 0)  # RETURNING


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: how it is, in a sentence, and what to do."""

    name: str
    ok: Verdict
    sentence: str
    hint: str = ""


def examine(settings: Settings, *, mounts: Path = Path("/proc/mounts")) -> list[Check]:
    """Every check; opens no platform, so that it also works where one cannot be opened."""
    return [
        _python(),
        _sqlite(),
        _libraries(),
        *_home(settings.home),
        _disk(settings.home),
        _database(settings, mounts),
        _clock(settings.home),
        _port(settings),
        _exposure(settings),
    ]


def _python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.maxsize < 1 << 32:
        return Check(
            "python", "bad", f"Python {version} is a 32-bit build.", "Install a 64-bit Python: torch needs it."
        )
    return Check("python", "ok", f"Python is {version}.")


def _sqlite() -> Check:
    if sqlite3.sqlite_version_info < _LEAST_SQLITE:
        sentence = f"SQLite is {sqlite3.sqlite_version}; Seedbed needs 3.35 or newer."
        return Check("sqlite", "bad", sentence, "Use a newer Python build, or PostgreSQL (SEEDBED_DATABASE).")
    return Check("sqlite", "ok", f"SQLite is {sqlite3.sqlite_version}.")


def _libraries() -> Check:
    missing = [
        name for name in ("torch", "torchvision", "timm", "onnxruntime") if importlib.util.find_spec(name) is None
    ]
    if missing:
        sentence = f"Not installed: {', '.join(missing)}; training and prediction need them."
        return Check("libraries", "bad", sentence, "Install Seedbed again: pip install seedbed.")
    return Check("libraries", "ok", "torch, torchvision, timm and onnxruntime are installed.")


def _home(home: Path) -> Iterator[Check]:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = home / f".doctor-{new_id()}"
        write_atomically(probe, b"")
        probe.unlink()
    except (OSError, SeedbedError) as error:
        yield Check("home", "bad", f"{home} cannot be written: {error}.", "Set SEEDBED_HOME to a folder of your own.")
        return
    try:
        check_version(home)
    except WrongVersion as error:
        yield Check("home", "bad", error.message, error.hint)
        return
    yield Check("home", "ok", f"{home} can be written.")
    if home.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        sentence = f"{home} is open to other users of this machine ({stat.filemode(home.stat().st_mode)})."
        yield Check("privacy", "warn", sentence, f"Close it, unless they shall read it: chmod 700 {home}")
    else:
        yield Check("privacy", "ok", f"Only you can read {home}.")


def _disk(home: Path) -> Check:
    place = next(parent for parent in (home, *home.parents) if parent.exists())
    usage = shutil.disk_usage(place)
    free = f"{show_size(usage.free)} of {show_size(usage.total)} are free on the disk of {home}"
    hint = "Make room: seedbed store gc, or move SEEDBED_HOME to a larger disk."
    if usage.free < _FULL:
        return Check("disk", "bad", f"Only {free}: new work will be refused.", hint)
    if usage.free < usage.total * _NEARLY_FULL:
        return Check("disk", "warn", f"Only {free}.", hint)
    return Check("disk", "ok", f"{free}.")


def file_system_of(path: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """The type of the file system that holds a path ('' where that cannot be told)."""
    if not mounts.exists():
        return ""
    path = path.resolve()
    rows = (line.split() for line in mounts.read_text().splitlines())
    places = [(Path(row[1].encode().decode("unicode_escape")), row[2]) for row in rows if len(row) > 2]
    holding = [(len(place.parts), kind) for place, kind in places if path.is_relative_to(place)]
    # of mounts over one another the last counts
    return max(enumerate(holding), key=lambda row: (row[1][0], row[0]))[1][1] if holding else ""


def _database(settings: Settings, mounts: Path) -> Check:
    if settings.database:
        return _postgresql(settings)
    kind = file_system_of(settings.home, mounts)
    if kind in NETWORK_FILE_SYSTEMS:
        sentence = f"The SQLite database lies on a network file system ({kind}), where its locks cannot be trusted."
        return Check(
            "database", "bad", sentence, "Put SEEDBED_HOME on a local disk, or use PostgreSQL (SEEDBED_DATABASE)."
        )
    return Check("database", "ok", f"SQLite on a local disk ({kind or 'unknown file system'}).")


def _postgresql(settings: Settings) -> Check:
    hint = "Check SEEDBED_DATABASE (postgresql://user:password@host/name) and that the server runs."
    if importlib.util.find_spec("psycopg") is None:
        return Check(
            "database", "bad", "PostgreSQL is set, but psycopg is not installed.", "pip install 'seedbed[postgres]'"
        )
    database = Database(settings.database_url)
    try:
        with database.read() as connection:
            version = connection.exec_driver_sql("show server_version").scalar()
    except Exception as error:  # drivers raise many types for one fact: it does not answer
        first = (str(error).splitlines() or [type(error).__name__])[0]
        return Check("database", "bad", f"PostgreSQL does not answer: {first}", hint)
    finally:
        database.dispose()
    return Check("database", "ok", f"PostgreSQL {version} answers.")


def _clock(home: Path) -> Check:
    now = time.time()
    if now < _EARLIEST:
        return Check(
            "clock", "bad", f"The clock says {time.strftime('%Y-%m-%d', time.gmtime(now))}.", "Set the clock (NTP)."
        )
    database = home / "seedbed.db"
    if database.exists() and database.stat().st_mtime > now + 60:
        sentence = "The clock is behind: the database was last written in what it calls the future."
        return Check("clock", "warn", sentence, "Set the clock (NTP); new things would sort before old ones.")
    return Check("clock", "ok", "The clock is plausible.")


def _port(settings: Settings) -> Check:
    if settings.port == 0:
        return Check("port", "ok", "A free port will be taken.")
    try:
        with socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((settings.host, settings.port))
    except OSError as error:
        sentence = f"Port {settings.port} on {settings.host} cannot be served on now: {os.strerror(error.errno or 0)}."
        return Check(
            "port", "warn", sentence, "Seedbed may be running there already; else choose another: SEEDBED_PORT."
        )
    return Check("port", "ok", f"Port {settings.port} on {settings.host} is free.")


def _exposure(settings: Settings) -> Check:
    if settings.host in ("127.0.0.1", "::1", "localhost"):
        return Check("exposure", "ok", "Served on this machine only, and only with the token or a password.")
    if not settings.team:
        sentence = f"Served on {settings.host} with one token for everybody."
        return Check("exposure", "warn", sentence, "Set SEEDBED_TEAM=true, and put it behind TLS.")
    return Check(
        "exposure", "warn", f"Served on {settings.host}: put it behind TLS.", "See the page on a shared machine."
    )
