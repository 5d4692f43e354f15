"""Backups: one tar file with every row, manifest and file, and what jobs left; it restores into either database."""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from sqlalchemy import Connection, select

from seedbed.assets.db import schema
from seedbed.assets.db.tables import bundle_files, bundles
from seedbed.assets.store.rows import bundles_with
from seedbed.assets.store.store import Store
from seedbed.assets.store.tables_file import dump_tables
from seedbed.base.errors import Conflict
from seedbed.base.files import fsync_folder, says_when_full
from seedbed.base.ids import new_id

FORMAT = 1
SHEET, TABLES, GONE = "backup.json", "tables.jsonl", "gone.json"


@dataclass(frozen=True)
class BackupReport:
    """What a backup holds, and where it lies; and, in sentences, what was damaged or missing when it was copied."""

    path: Path
    rows: int
    files: int
    bytes: int
    problems: tuple[str, ...] = ()


def backup(store: Store, target: Path) -> BackupReport:
    """Write everything to one tar file, while the service goes on; the file appears whole or not at all.

    The rows are those of one moment. A bundle that is deleted before its files are copied is listed as gone, and a
    restore leaves it out. Every byte is compared with its digest while it is copied; what is damaged or missing here
    is said, and all the rest is kept.
    """
    if target.exists():
        raise Conflict(f"{target} is already there.", hint="Name a file that does not exist yet.")
    target.parent.mkdir(parents=True, exist_ok=True)
    draft, rows = target.with_name(f".{target.name}.{new_id()}"), target.with_name(f".rows.{new_id()}")
    try:
        with says_when_full(target.parent):
            count = dump_tables(store.database, rows)
            copied = _write_tar(store, draft, rows)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
        rows.unlink(missing_ok=True)
    fsync_folder(target.parent)
    return BackupReport(target, count, copied.files, copied.bytes, tuple(_sentences(store, copied)))


@dataclass
class _Copied:
    """What went into the tar file; and of what did not, or not whole: its path, and what is wrong."""

    files: int = 0
    bytes: int = 0
    problems: dict[Path, str] = field(default_factory=dict)


def _write_tar(store: Store, draft: Path, rows: Path) -> _Copied:
    copied = _Copied()
    with draft.open("xb") as file:
        os.fchmod(file.fileno(), 0o600)  # it holds password hashes
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            sheet = {"format": FORMAT, "revision": schema.revision(store.database), "made": store.parts.clock.now()}
            _add_bytes(tar, SHEET, json.dumps(sheet).encode())
            tar.add(rows, TABLES)
            for path, digest in _paths(store):
                _add_file(tar, path, path.relative_to(store.home).as_posix(), digest, copied)
            _add_bytes(tar, GONE, json.dumps(_gone(store, rows)).encode())
        file.flush()
        os.fsync(file.fileno())
    return copied


def _sentences(store: Store, copied: _Copied) -> Iterator[str]:
    """What is wrong, with the bundles that it is wrong with; of those that were deleted meanwhile, nothing."""
    names: dict[str, str] = {}
    with store.database.read() as conn:
        names.update((row.uuid, row.name) for row in conn.execute(select(bundles.c.uuid, bundles.c.name)))
    for path, what in copied.problems.items():
        if path.is_relative_to(store.parts.manifests.root):
            if path.stem in names:
                yield f"'{names[path.stem]}' ({path.stem}): its manifest {what}."
        elif path.is_relative_to(store.parts.content.root):
            with store.database.read() as conn:
                users = bundles_with(conn, path.name)
            if users:
                yield f"{_listed(users)}: the file {path.name[:12]}… {what}."
        else:
            yield f"{path.relative_to(store.home)} {what}."


def _listed(users: list[tuple[str, str]]) -> str:
    told = ", ".join(f"'{name}' ({uuid})" for uuid, name in users[:3])
    return told if len(users) <= 3 else f"{told} and {len(users) - 3} more"


def _paths(store: Store) -> Iterator[tuple[Path, str]]:
    """Everything of a home that is not in the database, without what can be made again; and its digest, if known."""
    home = store.home
    yield from ((path, "") for path in [home / "seedbed.toml"] if path.exists())
    with store.database.read() as conn:
        digests = list(conn.execute(select(bundle_files.c.digest).distinct()).scalars())
        written = {row.uuid: row.manifest for row in conn.execute(select(bundles.c.uuid, bundles.c.manifest))}
    expected = {store.parts.manifests.path_of(uuid): digest for uuid, digest in written.items()}
    yield from expected.items()
    yield from ((path, "") for path in _files_under(home / "manifests") if path not in expected)
    yield from ((store.path_of(digest), digest) for digest in digests)
    yield from ((path, "") for path in _files_under(home / "uploads"))
    for job in sorted(path for path in (home / "jobs").glob("*") if path.is_dir()):
        yield from ((path, "") for path in _files_under(job / "checkpoint"))
        found = (path for path in job.glob("*/*") if path.is_file() and not path.is_symlink())
        yield from ((path, "") for path in sorted(found))


def _files_under(folder: Path) -> Iterable[Path]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path for path in found if not path.name.startswith("."))


def _add_file(tar: tarfile.TarFile, path: Path, name: str, digest: str, copied: _Copied) -> None:
    """Add a file, and note what is wrong with it; one that nothing refers to may have gone meanwhile."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        copied.problems |= {path: "is missing"} if digest else {}
        return
    except OSError as error:
        copied.problems[path] = f"cannot be read: {error.strerror}"
        return
    with file:
        info = tar.gettarinfo(arcname=name, fileobj=file)
        # A hard link to an earlier member would break when that one is left out at restore.
        info.type, info.linkname = tarfile.REGTYPE, ""
        info.size = os.fstat(file.fileno()).st_size
        reading = _Reading(file, info.size)
        tar.addfile(info, cast(BinaryIO, reading))
    copied.files, copied.bytes = copied.files + 1, copied.bytes + info.size
    if what := reading.wrong or ("is damaged" if digest and reading.digest != digest else ""):
        copied.problems[path] = what


class _Reading:
    """A file as tarfile reads it, hashed on the way. What cannot be read becomes zeros: one bad sector, which the
    digest shows, must not cost the backup of all the rest."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size
        self._hasher = hashlib.sha256()
        self.wrong = ""

    def read(self, count: int = -1) -> bytes:
        """The next bytes."""
        wanted = self._left if count < 0 else min(count, self._left)
        got = b"" if self.wrong else self._next(wanted)
        got += bytes(wanted - len(got))
        self._left -= wanted
        self._hasher.update(got)
        return got

    def _next(self, wanted: int) -> bytes:
        try:
            got = self._file.read(wanted)
        except OSError as error:
            self.wrong = f"cannot be read: {error.strerror}"
            return b""
        if len(got) < wanted:
            self.wrong = "became shorter while it was copied"
        return got

    @property
    def digest(self) -> str:
        """Of what was read."""
        return self._hasher.hexdigest()


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
