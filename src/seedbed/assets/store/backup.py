"""Backups: one tar file with every row, manifest and file, and what jobs left; it restores into either database."""

import io
import json
import os
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select

from seedbed.assets.db import schema
from seedbed.assets.db.tables import bundle_files, bundles
from seedbed.assets.store.store import Store
from seedbed.assets.store.tables_file import dump_tables
from seedbed.base.errors import Conflict
from seedbed.base.files import fsync_folder, says_when_full
from seedbed.base.ids import new_id

FORMAT = 1
SHEET, TABLES, GONE = "backup.json", "tables.jsonl", "gone.json"


@dataclass(frozen=True)
class BackupReport:
    """What a backup holds, and where it lies."""

    path: Path
    rows: int
    files: int
    bytes: int


def backup(store: Store, target: Path) -> BackupReport:
    """Write everything to one tar file, while the service goes on; the file appears whole or not at all.

    The rows are those of one moment. A bundle that is deleted before its files are copied is listed as gone, and a
    restore leaves it out.
    """
    if target.exists():
        raise Conflict(f"{target} is already there.", hint="Name a file that does not exist yet.")
    target.parent.mkdir(parents=True, exist_ok=True)
    draft, rows = target.with_name(f".{target.name}.{new_id()}"), target.with_name(f".rows.{new_id()}")
    try:
        with says_when_full(target.parent):
            count = dump_tables(store.database, rows)
            files, size = _write_tar(store, draft, rows)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
        rows.unlink(missing_ok=True)
    fsync_folder(target.parent)
    return BackupReport(target, count, files, size)


def _write_tar(store: Store, draft: Path, rows: Path) -> tuple[int, int]:
    files = size = 0
    home = store.home
    with draft.open("xb") as file:
        os.fchmod(file.fileno(), 0o600)  # it holds password hashes
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            sheet = {"format": FORMAT, "revision": schema.revision(store.database), "made": store.parts.clock.now()}
            _add_bytes(tar, SHEET, json.dumps(sheet).encode())
            tar.add(rows, TABLES)
            for path in _paths(store):
                added = _add_file(tar, path, path.relative_to(home).as_posix())
                files, size = files + (added >= 0), size + max(added, 0)
            _add_bytes(tar, GONE, json.dumps(_gone(store, rows)).encode())
        file.flush()
        os.fsync(file.fileno())
    return files, size


def _paths(store: Store) -> Iterator[Path]:
    """Everything of a home that is not in the database, without what can be made again."""
    home = store.home
    yield from (path for path in [home / "seedbed.toml"] if path.exists())
    yield from _files_under(home / "manifests")
    with store.database.read() as conn:
        digests = list(conn.execute(select(bundle_files.c.digest).distinct()).scalars())
    yield from (store.path_of(digest) for digest in digests)
    yield from _files_under(home / "uploads")
    for job in sorted(path for path in (home / "jobs").glob("*") if path.is_dir()):
        yield from _files_under(job / "checkpoint")
        yield from sorted(path for path in job.glob("*/*") if path.is_file() and not path.is_symlink())


def _files_under(folder: Path) -> Iterable[Path]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path for path in found if not path.name.startswith("."))


def _add_file(tar: tarfile.TarFile, path: Path, name: str) -> int:
    """The size of the file that was added; -1 when it went before it could be."""
    try:
        with path.open("rb") as file:
            info = tar.gettarinfo(arcname=name, fileobj=file)
            # A hard link to an earlier member would break when that one is left out at restore.
            info.type, info.linkname = tarfile.REGTYPE, ""
            info.size = os.fstat(file.fileno()).st_size
            tar.addfile(info, file)
    except FileNotFoundError:
        return -1
    return info.size


def _add_bytes(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def _gone(store: Store, rows: Path) -> list[str]:
    """Bundles of the dump that have been deleted since."""
    with store.database.read() as conn:
        there = _all_uuids(conn)
    found = []
    with rows.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith('["bundles",'):
                uuid = json.loads(line)[1]["uuid"]
                found += [uuid] if uuid not in there else []
    return found


def _all_uuids(conn: Connection) -> set[str]:
    return set(conn.execute(select(bundles.c.uuid)).scalars())
