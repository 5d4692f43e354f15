"""Restoring a backup into an empty home, on either database."""

import contextlib
import json
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import delete, select

from seedbed.assets.db import schema
from seedbed.assets.db.engine import Database
from seedbed.assets.db.tables import bundle_files, bundles, jobs, projects, users
from seedbed.assets.store.backup import FORMAT, GONE, SHEET, TABLES
from seedbed.assets.store.checks import is_digest, safe_name
from seedbed.assets.store.content import Content, sync_files
from seedbed.assets.store.home import FOLDERS, open_home
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.rows import bundles_with, in_parts
from seedbed.assets.store.tables_file import load_tables
from seedbed.assets.store.verify import verify_manifests
from seedbed.base.clock import SystemClock
from seedbed.base.errors import Conflict, Damaged, NotFound, Unsafe, WrongVersion
from seedbed.base.files import inside, says_when_full
from seedbed.base.ids import digest_of_file

_PLACES = ("manifests", "uploads", "jobs")
_MARK = ".restoring"  # lies in a home until everything is back
_OWN = {"seedbed.db", "seedbed.db-wal", "seedbed.db-shm", "version", ".lock", "server.json", "server.lock", _MARK}


@dataclass(frozen=True)
class RestoreReport:
    """What came back; and, in sentences, what of the backup itself was damaged."""

    bundles: int
    files: int
    problems: tuple[str, ...]


def restore(source: Path, home: Path, url: str = "") -> RestoreReport:
    """Bring back everything that a backup holds. The home and the database must be empty.

    The rows come last and in one transaction: a restore that was cut short can simply be started again.
    """
    with _open(source) as tar:
        sheet = _sheet(tar)
        _check_no_files(home, source)
        database = open_home(home, url)
        try:
            _check_no_rows(database, home)
            (home / _MARK).touch()
            files, problems = _extract(tar, home)
            count = _load_rows(tar, database, sheet["revision"])
            (home / _MARK).unlink()
            problems += _missing(database, home)
        finally:
            database.dispose()
    return RestoreReport(count, files, tuple(problems))


@contextlib.contextmanager
def _open(source: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(source, "r:") as tar:
            yield tar
    except FileNotFoundError:
        if source.exists():
            raise
        raise NotFound(f"There is no backup {source}.") from None
    except tarfile.TarError as error:
        raise Damaged(f"{source} is not a backup, or it was cut short: {error}.") from error


def _sheet(tar: tarfile.TarFile) -> dict[str, Any]:
    names = set(tar.getnames())
    if not {SHEET, TABLES, GONE} <= names:
        raise Damaged("This tar file is not a complete backup of Seedbed.")
    sheet: dict[str, Any] = json.loads(_read(tar, SHEET))
    if sheet["format"] > FORMAT:
        raise WrongVersion("The backup was made by a newer Seedbed.", hint="Install that version, then restore.")
    schema.check_known(sheet["revision"])
    return sheet


def _check_no_files(home: Path, source: Path) -> None:
    """Refuse a folder that holds anything, unless it is from a restore that was cut short; before it is touched."""
    if (home / _MARK).exists() or not home.is_dir():
        return
    ours = {path.partition("/")[0] for path in FOLDERS}
    foreign = [path for path in home.iterdir() if path.name not in _OWN | ours]
    inner = (path for name in ours for path in (home / name).rglob("*") if path.is_file())
    found = [*foreign, *inner]
    if names := sorted(path.relative_to(home).as_posix() for path in found if path.resolve() != source.resolve()):
        raise Conflict(
            f"{home} is not empty: it has {', '.join(names[:3])}{' and more' if len(names) > 3 else ''}.",
            hint="Restore into a home that does not exist yet (SEEDBED_HOME); nothing was written.",
        )


def _check_no_rows(database: Database, home: Path) -> None:
    with database.read() as conn:
        used = [
            table.name for table in (bundles, jobs, projects, users) if conn.execute(select(table).limit(1)).first()
        ]
    if used:
        raise Conflict(
            f"{home} is not empty: it has {' and '.join(used)}.",
            hint="Restore into a new home (SEEDBED_HOME) and, with PostgreSQL, into a new database.",
        )


def _extract(tar: tarfile.TarFile, home: Path) -> tuple[int, list[str]]:
    content = Content(home / "files")
    problems: list[str] = []
    written: list[Path] = []
    with says_when_full(home):
        for member in tar:
            if member.name in (SHEET, TABLES, GONE) or not member.isfile():
                continue
            file, path = tar.extractfile(member), PurePosixPath(member.name)
            if not safe_name(member.name) or file is None:
                raise Unsafe(f"The backup has a file that leads out of the home: {member.name!r}.")
            if path.parts[0] == "files":
                _admit(content, path.name, file)
            elif path.parts[0] in _PLACES or member.name == "seedbed.toml":
                written.append(_put(inside(home, member.name), file))
            else:
                problems.append(f"{member.name} has no place in a home and was left out.")
        sync_files(written, home)
        content.root.mkdir(parents=True, exist_ok=True)
        digests = [path.name for path in content.root.glob("??/*")]
        content.sync(digests)
    return len(written) + len(digests), problems


def _admit(content: Content, digest: str, file: Any) -> None:
    """Bring a file in; one that is damaged is left out, and then missing, which is said with its bundles."""
    with content.receive() as draft:
        with draft.open("xb") as target:
            shutil.copyfileobj(file, target)
        if is_digest(digest) and digest_of_file(draft) == digest:
            content.admit(draft, digest)


def _put(path: Path, file: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        shutil.copyfileobj(file, target)
    return path


def _load_rows(tar: tarfile.TarFile, database: Database, revision: str) -> int:
    """Into the schema that the rows were written with, which is then brought up to date."""
    if schema.revision(database) != revision:
        schema.downgrade(database, revision)
    file = tar.extractfile(TABLES)
    gone = json.loads(_read(tar, GONE))
    with database.write() as conn:
        load_tables(conn, (line.decode() for line in file or ()))
        for part in in_parts(gone):
            conn.execute(delete(bundles).where(bundles.c.uuid.in_(part)))
    schema.upgrade(database)
    with database.read() as conn:
        return len(conn.execute(select(bundles.c.uuid)).all())


def _missing(database: Database, home: Path) -> list[str]:
    """What the bundles lack, in sentences."""
    parts = Parts.of(database, home, SystemClock())
    problems = [str(finding) for finding in verify_manifests(parts)[1]]
    with database.read() as conn:
        digests = conn.execute(select(bundle_files.c.digest).distinct()).scalars().all()
        for digest in parts.content.missing(digests):
            names = ", ".join(f"'{name}' ({uuid})" for uuid, name in bundles_with(conn, digest))
            problems.append(f"{names}: the file {digest[:12]}… is damaged or missing in the backup.")
    return problems


def _read(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    return file.read() if file else b""
