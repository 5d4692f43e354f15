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
from seedbed.assets.store.home import open_home
from seedbed.assets.store.rows import in_parts
from seedbed.assets.store.tables_file import load_tables
from seedbed.base.errors import Conflict, Damaged, NotFound, Unsafe, WrongVersion
from seedbed.base.files import inside, says_when_full
from seedbed.base.ids import digest_of_file

_PLACES = ("manifests", "uploads", "jobs")


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
    database = open_home(home, url)
    try:
        with _open(source) as tar:
            sheet = _sheet(tar)
            _check_empty(database, home)
            files, problems = _extract(tar, home)
            count = _load_rows(tar, database, sheet["revision"])
            missing = _missing(database, home)
    finally:
        database.dispose()
    return RestoreReport(count, files, (*problems, *missing))


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


def _check_empty(database: Database, home: Path) -> None:
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
    content, problems, written = Content(home / "files"), [], []
    with says_when_full(home):
        for member in tar:
            if member.name in (SHEET, TABLES, GONE) or not member.isfile():
                continue
            file, path = tar.extractfile(member), PurePosixPath(member.name)
            if not safe_name(member.name) or file is None:
                raise Unsafe(f"The backup has a file that leads out of the home: {member.name!r}.")
            if path.parts[0] == "files":
                problems += _admit(content, path.name, file)
            elif path.parts[0] in _PLACES or member.name == "seedbed.toml":
                written.append(_put(inside(home, member.name), file))
            else:
                problems.append(f"{member.name} has no place in a home and was left out.")
        sync_files(written, home)
        content.root.mkdir(parents=True, exist_ok=True)
        digests = [path.name for path in content.root.glob("??/*")]
        content.sync(digests)
    return len(written) + len(digests), problems


def _admit(content: Content, digest: str, file: Any) -> list[str]:
    with content.receive() as draft:
        with draft.open("xb") as target:
            shutil.copyfileobj(file, target)
        if not is_digest(digest) or digest_of_file(draft) != digest:
            return [f"The file {digest[:12]}… is damaged in the backup and was left out."]
        content.admit(draft, digest)
    return []


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
    content = Content(home / "files")
    with database.read() as conn:
        digests = conn.execute(select(bundle_files.c.digest).distinct()).scalars().all()
    return [f"The file {digest[:12]}… is missing in the backup." for digest in content.missing(digests)]


def _read(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    return file.read() if file else b""
