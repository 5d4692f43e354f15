"""Looking whether what is kept is still what was written."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from seedbed.assets.db.tables import bundle_files, bundles
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.rows import bundles_with
from seedbed.assets.store.store import Store
from seedbed.base.errors import SeedbedError
from seedbed.base.ids import digest_of_file

_PAGE = 500
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Finding:
    """Something that is not as it was written, in words."""

    bundle: str
    name: str
    what: str

    def __str__(self) -> str:
        return f"'{self.name}' ({self.bundle}): {self.what}"


@dataclass(frozen=True)
class Verification:
    """How much was looked at, and what is wrong with it."""

    bundles: int
    files: int
    bytes: int
    findings: tuple[Finding, ...]


def verify(store: Store, *, on_progress: Progress | None = None) -> Verification:
    """Read every manifest and hash every file; `on_progress` hears bytes done and bytes in all.

    What is damaged is noted, so that no job works with it and the next pull brings it back.
    """
    parts = store.parts
    count, findings = verify_manifests(parts)
    files, size, damaged = _verify_files(parts, on_progress)
    return Verification(count, files, size, (*findings, *damaged))


def verify_manifests(parts: Parts) -> tuple[int, list[Finding]]:
    """Read every manifest: how many there were, and what is wrong with them."""
    findings: list[Finding] = []
    count = 0
    for row in _pages(parts, select(bundles.c.uuid, bundles.c.name, bundles.c.manifest), bundles.c.uuid):
        count += 1
        if (what := manifest_problem(parts, row)) and _still_there(parts, row.uuid):
            findings.append(Finding(row.uuid, row.name, what))
    return count, findings


def manifest_problem(parts: Parts, row: Any) -> str:
    """What is wrong with the manifest of a bundle's row; '': nothing."""
    try:
        written = parts.manifests.read(row.uuid)
    except SeedbedError as error:
        return error.message
    if written.manifest != row.manifest or written.bundle.uuid != row.uuid:
        return "Its manifest was changed after it was written."
    return ""


def _verify_files(parts: Parts, on_progress: Progress | None) -> tuple[int, int, list[Finding]]:
    with parts.database.read() as conn:
        total = int(conn.execute(select(func.sum(bundle_files.c.size))).scalar() or 0)
    files = done = 0
    findings: list[Finding] = []
    query = select(bundle_files.c.digest, func.max(bundle_files.c.size).label("size")).group_by(bundle_files.c.digest)
    for row in _pages(parts, query, bundle_files.c.digest):
        files, done = files + 1, done + row.size
        if what := _file_problem(parts, row.digest, row.size):
            with parts.database.read() as conn:
                findings += [Finding(uuid, name, what) for uuid, name in bundles_with(conn, row.digest)]
        if on_progress:
            on_progress(done, max(total, done))
    return files, done, findings


def _file_problem(parts: Parts, digest: str, size: int) -> str:
    path = parts.content.path_of(digest)
    try:
        found = path.stat().st_size
        if found == size and digest_of_file(path) == digest:
            parts.content.trust(digest)
            return ""
    except FileNotFoundError:
        return f"The file {digest[:12]}… is missing."
    except OSError as error:
        parts.content.suspect(digest)
        return f"The file {digest[:12]}… cannot be read: {error.strerror}."
    parts.content.suspect(digest)
    if found != size:
        return f"The file {digest[:12]}… has {found} bytes instead of {size}."
    return f"The bytes of file {digest[:12]}… have changed."


def _still_there(parts: Parts, uuid: str) -> bool:
    with parts.database.read() as conn:
        return conn.execute(select(bundles.c.uuid).where(bundles.c.uuid == uuid)).first() is not None


def _pages(parts: Parts, query: Any, key: Any) -> Iterator[Any]:
    """Rows in the order of a key, page by page, so that no transaction stays open while files are read."""
    last = ""
    while True:
        with parts.database.read() as conn:
            page = conn.execute(query.where(key > last).order_by(key).limit(_PAGE)).all()
        yield from page
        if len(page) < _PAGE:
            return
        last = getattr(page[-1], key.name)
