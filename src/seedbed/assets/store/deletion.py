"""How bundles go: rows and tombstones in one commit, then the bytes that nothing else refers to."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, select

from seedbed.assets.db.dialects import insert_new
from seedbed.assets.db.tables import bundle_files, bundle_inputs, bundles, context_bundles, contexts, remote_deletions
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.events import News
from seedbed.assets.store.leases import spared_since
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.rows import in_parts, referenced, remove_bundles, to_bundles
from seedbed.base.errors import Conflict


@dataclass(frozen=True)
class Deletion:
    """What went: the bundles (first those asked for, then what was derived from them), and the room that they took."""

    bundles: tuple[Bundle, ...]
    files: int
    bytes: int
    remotes: tuple[str, ...] = ()  # addresses that held copies
    waiting: tuple[str, ...] = ()  # sentences: where copies go only once the remote can be reached again


def delete_bundles(parts: Parts, uuids: Collection[str], *, cascade: bool, by: str) -> Deletion:
    """Delete bundles and everything derived from them; without `cascade`, refuse if something was derived."""
    at = parts.clock.now()
    buried: list[str] = []
    try:
        with parts.database.write() as conn:
            parts.events.lock(conn)
            doomed = _doomed(conn, parts, uuids)
            _check_cascade(doomed, uuids, cascade=cascade)
            digests = _digests(conn, doomed)
            remotes = _queue_remote_deletions(conn, doomed, at)
            remove_bundles(conn, doomed, at=at, by=by)
            parts.events.append_all(conn, [_deleted(bundle) for bundle in doomed])
            # Before the commit: an index that is rebuilt later must not bring back what was acknowledged as deleted.
            buried += [bundle.uuid for bundle in doomed]
            parts.manifests.bury(buried, at=at, by=by)
    except BaseException:
        parts.manifests.unbury(buried)
        raise
    files, freed = sweep(parts, digests)
    parts.manifests.remove(bundle.uuid for bundle in doomed)  # last: while it lies there, gc knows what is left to do
    return Deletion(tuple(doomed), files, freed, tuple(remotes))


def _check_cascade(doomed: Collection[Bundle], uuids: Collection[str], *, cascade: bool) -> None:
    extra = [bundle for bundle in doomed if bundle.uuid not in uuids]
    if extra and not cascade:
        names = ", ".join(sorted({bundle.name for bundle in extra})[:5])
        raise Conflict(f"{len(extra)} bundles are derived from this: {names}.", hint="Delete them with it: cascade.")


def sweep(parts: Parts, digests: Iterable[str]) -> tuple[int, int]:
    """Remove those files that no bundle refers to and no writer has just touched; how many, and their bytes.

    Inside a write transaction, which publishers also hold when they check that their files are still there.
    """
    count = freed = 0
    for part in in_parts(sorted(digests)):
        with parts.database.write() as conn:
            parts.events.lock(conn)
            spared = spared_since(parts.leases)
            for digest in set(part) - referenced(conn, part):
                if not _touched_since(parts, digest, spared):
                    size = parts.content.remove(digest)
                    count, freed = count + 1, freed + size
    return count, freed


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


def _digests(conn: Connection, doomed: Collection[Bundle]) -> set[str]:
    found: set[str] = set()
    for part in in_parts(sorted(bundle.uuid for bundle in doomed)):
        found.update(conn.execute(select(bundle_files.c.digest).where(bundle_files.c.uuid.in_(part))).scalars())
    return found


def _queue_remote_deletions(conn: Connection, doomed: Collection[Bundle], at: float) -> list[str]:
    remotes: set[str] = set()
    for part in in_parts(sorted(bundle.uuid for bundle in doomed)):
        copies = (
            select(contexts.c.remote, context_bundles.c.uuid)
            .join(contexts)
            .where(context_bundles.c.uuid.in_(part), context_bundles.c.pushed, contexts.c.remote != "")
        )
        rows = [{"remote": row.remote, "uuid": row.uuid, "at": at} for row in conn.execute(copies)]
        if rows:
            conn.execute(insert_new(conn, remote_deletions), rows)
        remotes.update(row["remote"] for row in rows)
    return sorted(remotes)


def _deleted(bundle: Bundle) -> News:
    return News("bundle.deleted", bundle.uuid, {"name": bundle.name, "kind": bundle.kind}, bundle.project)
