"""How bundles go: rows and tombstones in one commit, then the bytes that nothing else refers to."""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, delete, select, update
from sqlalchemy.exc import SQLAlchemyError

from seedbed.assets.db.dialects import insert_new
from seedbed.assets.db.tables import bundle_files, bundle_inputs, bundles, remote_copies, remote_deletions, tombstones
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.events import News
from seedbed.assets.store.leases import spared_since, write_lease
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.rows import in_parts, referenced, remove_bundles, to_bundles
from seedbed.base.errors import Conflict, Damaged, NotFound, SeedbedError
from seedbed.base.resources import show_size

TROUBLE = (SeedbedError, OSError, SQLAlchemyError)  # after which the next who tidies goes on


@dataclass(frozen=True, order=True)
class Keeper:
    """A bundle that has bytes of one that was deleted: they stay for it."""

    name: str
    uuid: str
    project: str


@dataclass(frozen=True)
class Deletion:
    """What went: the bundles (first those asked for, then what was derived from them), and the room that they took.

    `shared` counts the files of theirs that stay, because `keepers` have the same bytes.
    """

    bundles: tuple[Bundle, ...]
    files: int
    bytes: int
    remotes: tuple[str, ...] = ()  # addresses that held copies
    waiting: tuple[str, ...] = ()  # sentences: which bytes, here or at remotes, could not go yet, and when they do
    shared: int = 0
    keepers: tuple[Keeper, ...] = ()


@dataclass(frozen=True)
class Swept:
    """Which files are gone, the room that was freed now, and which nobody refers to but a writer may need."""

    gone: frozenset[str]
    bytes: int
    left: frozenset[str]


def delete_bundles(parts: Parts, uuids: Collection[str], *, cascade: bool, by: str) -> Deletion:
    """Delete bundles and everything derived from them; without `cascade`, refuse if something was derived."""
    at = parts.clock.now()
    buried: list[str] = []
    try:
        with parts.database.write() as conn:
            parts.events.lock(conn)
            doomed = _doomed(conn, parts, uuids)
            _check_cascade(doomed, uuids, cascade=cascade)
            sizes = _sizes(conn, doomed)
            remotes = _queue_remote_deletions(conn, sizes, at)
            remove_bundles(conn, doomed, at=at, by=by)
            parts.events.append_all(conn, [_deleted(bundle) for bundle in doomed])
            # Before the commit: an index that is rebuilt later must not bring back what was acknowledged as deleted.
            buried += [bundle.uuid for bundle in doomed]
            parts.manifests.bury(buried, at=at, by=by)
    except BaseException:
        parts.manifests.unbury(buried)
        raise
    swept = _finish(parts, sizes)
    finish_deletions(parts)  # others, which had to wait
    size_of = {digest: size for files in sizes.values() for digest, size in files.items()}
    freed = sum(size_of[digest] for digest in swept.gone)
    shared = size_of.keys() - swept.gone - swept.left
    waiting, keepers = _spared(swept, size_of), _keepers(parts, shared)
    return Deletion(tuple(doomed), len(swept.gone), freed, tuple(remotes), waiting, len(shared), keepers)


def tidy(parts: Parts) -> None:
    """Set right what deletions left that were cut short or had to wait."""
    drop_stray_tombstones(parts)
    finish_deletions(parts)


def drop_stray_tombstones(parts: Parts) -> None:
    """A tombstone on disk whose bundle has its row is of a deletion that died before its commit: it is taken back."""
    buried = parts.manifests.buried_uuids()
    with parts.database.read() as conn:
        strays = _with_rows(conn, buried)
    if strays:
        with parts.database.write() as conn:
            parts.events.lock(conn)  # whoever is deleting now holds it until the commit
            parts.manifests.unbury(_with_rows(conn, strays))


def finish_deletions(parts: Parts) -> None:
    """Remove the bytes of deleted bundles that had to stay; their manifests say which, and go last."""
    with parts.database.read() as conn:
        left = unfinished(conn)
    if left:
        _finish(parts, {uuid: _digests_in_manifest(parts, uuid) for uuid in left})


def unfinished(conn: Connection) -> set[str]:
    """Deleted bundles of which bytes may be left."""
    return set(conn.execute(select(tombstones.c.uuid).where(~tombstones.c.finished)).scalars())


@contextlib.contextmanager
def writing(parts: Parts) -> Iterator[None]:
    """Hold a write lease; when it ends, deletions that waited for it are finished.

    What was written is committed by then, so that trouble with somebody's deletion is not the writer's.
    """
    try:
        with write_lease(parts.leases):
            yield
    finally:
        with contextlib.suppress(*TROUBLE):
            finish_deletions(parts)


def _finish(parts: Parts, files: Mapping[str, Collection[str]]) -> Swept:
    swept = sweep(parts, {digest for digests in files.values() for digest in digests})
    done = sorted(uuid for uuid, digests in files.items() if swept.left.isdisjoint(digests))
    parts.manifests.remove(done)
    for part in in_parts(done):
        with parts.database.write() as conn:
            conn.execute(update(tombstones).where(tombstones.c.uuid.in_(part)).values(finished=True))
    return swept


def _digests_in_manifest(parts: Parts, uuid: str) -> set[str]:
    try:
        return {link.digest for link in parts.manifests.read(uuid).bundle.files}
    except (NotFound, Damaged):  # then the orphans' grace period applies
        return set()


def _spared(swept: Swept, size_of: Mapping[str, int]) -> tuple[str, ...]:
    if not swept.left:
        return ()
    size, count = show_size(sum(size_of[digest] for digest in swept.left)), len(swept.left)
    they = f"1 file ({size}) is" if count == 1 else f"{count:,} files ({size}) are"
    return (
        f"{they} still on disk, because somebody is writing just now and may need {'it' if count == 1 else 'them'}; "
        "what is left goes when that has ended, at the latest with: seedbed store gc",
    )


def _keepers(parts: Parts, digests: Collection[str]) -> tuple[Keeper, ...]:
    found: set[Keeper] = set()
    columns = select(bundles.c.name, bundles.c.uuid, bundles.c.project)
    for part in in_parts(sorted(digests)):
        having = select(bundle_files.c.uuid).where(bundle_files.c.digest.in_(part))
        with parts.database.read() as conn:
            found.update(Keeper(*row) for row in conn.execute(columns.where(bundles.c.uuid.in_(having))))
    return tuple(sorted(found))


def _check_cascade(doomed: Collection[Bundle], uuids: Collection[str], *, cascade: bool) -> None:
    extra = [bundle for bundle in doomed if bundle.uuid not in uuids]
    if extra and not cascade:
        names = ", ".join(sorted({bundle.name for bundle in extra})[:5])
        raise Conflict(f"{len(extra)} bundles are derived from this: {names}.", hint="Delete them with it: cascade.")


def sweep(parts: Parts, digests: Iterable[str]) -> Swept:
    """Remove those files that no bundle refers to and no writer has just touched.

    Inside a write transaction, which publishers also hold when they check that their files are still there.
    """
    freed, gone, left = 0, set(), set()
    for part in in_parts(sorted(digests)):
        with parts.database.write() as conn:
            parts.events.lock(conn)
            spared = spared_since(parts.leases)
            for digest in set(part) - referenced(conn, part):
                if _touched_since(parts, digest, spared):
                    left.add(digest)
                else:
                    freed += parts.content.remove(digest)
                    gone.add(digest)
    return Swept(frozenset(gone), freed, frozenset(left))


def _touched_since(parts: Parts, digest: str, since: float) -> bool:
    try:
        return parts.content.path_of(digest).stat().st_mtime >= since
    except FileNotFoundError:
        return False


def _doomed(conn: Connection, parts: Parts, uuids: Collection[str]) -> list[Bundle]:
    rows: dict[str, RowMapping] = {}
    wave = sorted(uuids)
    while wave:
        for part in in_parts(wave):
            found = conn.execute(select(bundles).where(bundles.c.uuid.in_(part))).mappings()
            rows.update({row["uuid"]: row for row in found})
        wave = sorted(_derived_from(conn, wave) - rows.keys())
    return to_bundles(conn, parts.manifests, list(rows.values()))


def _derived_from(conn: Connection, uuids: Collection[str]) -> set[str]:
    found: set[str] = set()
    for part in in_parts(sorted(uuids)):
        made = select(bundle_inputs.c.uuid).join(bundles, bundles.c.uuid == bundle_inputs.c.uuid)
        found.update(conn.execute(made.where(bundle_inputs.c.input.in_(part), bundles.c.derived)).scalars())
    return found


def _with_rows(conn: Connection, uuids: Collection[str]) -> set[str]:
    found: set[str] = set()
    for part in in_parts(sorted(uuids)):
        found.update(conn.execute(select(bundles.c.uuid).where(bundles.c.uuid.in_(part))).scalars())
    return found


def _sizes(conn: Connection, doomed: Collection[Bundle]) -> dict[str, dict[str, int]]:
    """The files of each bundle: digest and size."""
    found: dict[str, dict[str, int]] = {bundle.uuid: {} for bundle in doomed}
    for part in in_parts(sorted(found)):
        for row in conn.execute(select(bundle_files).where(bundle_files.c.uuid.in_(part))):
            found[row.uuid][row.digest] = row.size
    return found


def _queue_remote_deletions(conn: Connection, files: Mapping[str, Collection[str]], at: float) -> list[str]:
    """Every place that a copy was ever sent to, whole or not, has to let it go; the answer is these places."""
    remotes: set[str] = set()
    for part in in_parts(sorted(files)):
        copies = conn.execute(select(remote_copies).where(remote_copies.c.uuid.in_(part))).all()
        rows = [
            {"remote": c.remote, "uuid": c.uuid, "at": at, "digests": sorted(files[c.uuid]), "arriving": not c.complete}
            for c in copies
        ]
        if rows:
            conn.execute(insert_new(conn, remote_deletions), rows)
            conn.execute(delete(remote_copies).where(remote_copies.c.uuid.in_(part)))
        remotes.update(copy.remote for copy in copies)
    return sorted(remotes)


def _deleted(bundle: Bundle) -> News:
    return News("bundle.deleted", bundle.uuid, {"name": bundle.name, "kind": bundle.kind}, bundle.project)
