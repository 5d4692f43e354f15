"""push and pull: copy what is missing by uuid, check every digest, go on after an interruption."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, select, update

from seedbed.assets.db.dialects import insert_new
from seedbed.assets.db.tables import bundles, context_bundles, contexts, remote_copies, remote_deletions, tombstones
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.deletion import delete_bundles, writing
from seedbed.assets.store.heal import Fetched, fetch_files, heal, mend, send_files, send_manifest
from seedbed.assets.store.manifests import Written
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.publish import published, uuids_by_key
from seedbed.assets.store.remote import Remote, flush_deletions, pushing
from seedbed.assets.store.room import keep_reserve
from seedbed.assets.store.rows import in_parts, insert_bundles
from seedbed.assets.store.store import Store
from seedbed.base.errors import Conflict, Damaged, NotFound, SeedbedError

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Transfer:
    """What was moved: bundles, files, bytes; and how many bundles went because they were deleted elsewhere.

    `healed` counts the files and manifests of bundles on both sides that were not whole where they went.
    """

    bundles: int
    files: int
    bytes: int
    deleted: int
    healed: int = 0


def push(store: Store, context: str = "", *, check: bool = False, on_progress: Progress | None = None) -> Transfer:
    """Copy a context's bundles to its remote; `on_progress` hears bundles done and bundles in all.

    A bundle that is deleted meanwhile is left out, and what was sent of it goes again. With `check` everything that
    the context has at the remote is read back, and what is missing or damaged there goes again.
    """
    parts, name = store.parts, context or store.current_context()
    remote = _remote_of(parts, name)
    there, deleted = _exchange_tombstones(parts, name, remote)
    try:
        with pushing(parts, remote.address):
            waiting = _to_send(parts, name, remote, there)
            count, files, size = _send_all(parts, remote, waiting, on_progress)
            mended = mend(parts, remote, _on_both_sides(parts, name, there)) if check else Fetched()
    finally:
        flush_deletions(parts, {remote.address})  # of what was deleted while it was sent
    size += sum(mended.files.values())
    return Transfer(count, files + len(mended.files), size, deleted, len(mended.files) + mended.manifests)


def pull(store: Store, context: str = "", *, check: bool = False, on_progress: Progress | None = None) -> Transfer:
    """Copy to here what a context's remote has; `on_progress` hears bundles done and bundles in all.

    Files of bundles that are here already, but are missing, cut short or known to be damaged, come again; with `check`
    every byte of them is read first, and what does not match its digest comes again too.
    """
    parts, name = store.parts, context or store.current_context()
    remote = _remote_of(parts, name)
    there, deleted = _exchange_tombstones(parts, name, remote)
    missing = _not_here(parts, name, remote.address, there)
    files = size = done = 0
    problems: list[str] = []
    for part in in_parts(missing):
        found, wrong = remote.read_bundles(part)
        problems += wrong
        for uuid in part:
            if uuid in found:
                count, got = _receive(parts, remote, name, found[uuid], problems)
                files, size = files + count, size + got
            done += 1
            if on_progress:
                on_progress(done, len(missing))
    healed = heal(parts, remote, sorted(there - set(missing)), check=check)
    problems += healed.problems.values()
    if problems:
        raise Damaged(
            f"{len(problems)} things at {remote.address} are damaged; the rest was pulled.",
            hint=f"Where they are whole: seedbed store push {name} --check",
            problems=problems[:20],
        )
    size += sum(healed.files.values())
    return Transfer(len(missing), files + len(healed.files), size, deleted, len(healed.files) + healed.manifests)


def _remote_of(parts: Parts, context: str) -> Remote:
    with parts.database.read() as conn:
        address = conn.execute(select(contexts.c.remote).where(contexts.c.name == context)).scalar()
    if address is None:
        raise NotFound(f"There is no context named '{context}'.", hint="See: seedbed context list")
    if not address:
        raise Conflict(
            f"The context '{context}' has no remote.", hint=f"Set one: seedbed context remote {context} ADDRESS"
        )
    return Remote(address)


def _exchange_tombstones(parts: Parts, context: str, remote: Remote) -> tuple[set[str], int]:
    """What was deleted here goes there too, and back; the answer is what is there, and how many went here."""
    buried, there = remote.tombstones(), remote.manifests()
    with parts.database.write() as conn:
        dead = _buried_here(conn, there)
        same = {"remote": remote.address, "at": parts.clock.now(), "digests": [], "arriving": False}
        rows = [{"uuid": uuid} | same for uuid in sorted(dead)]
        if rows:
            conn.execute(insert_new(conn, remote_deletions), rows)
        members = select(context_bundles.c.uuid).where(context_bundles.c.context == context)
        doomed = set(conn.execute(members).scalars()) & buried
    if doomed:
        delete_bundles(parts, doomed, cascade=True, by=remote.address)
    flush_deletions(parts, {remote.address})
    return there - dead - buried, len(doomed)


def _buried_here(conn: Connection, uuids: Collection[str]) -> set[str]:
    found: set[str] = set()
    for part in in_parts(sorted(uuids)):
        found.update(conn.execute(select(tombstones.c.uuid).where(tombstones.c.uuid.in_(part))).scalars())
    return found


def _to_send(parts: Parts, context: str, remote: Remote, there: Collection[str]) -> list[str]:
    """The context's bundles that are not there, noted as copies before the first byte leaves, so that rm knows them."""
    query = select(context_bundles.c.uuid).where(context_bundles.c.context == context)
    with parts.database.write() as conn:
        parts.events.lock(conn)  # a deletion comes wholly before or wholly after
        ordered = query.order_by(context_bundles.c.created, context_bundles.c.uuid)
        members = list(conn.execute(ordered).scalars())
        noted = set(conn.execute(select(remote_copies.c.uuid).where(_whole_at(remote.address))).scalars())
        _note_copies(conn, remote.address, [u for u in members if u in there and u not in noted], complete=True)
        missing = [uuid for uuid in members if uuid not in there]
        _note_copies(conn, remote.address, missing, complete=False)
    return missing


def _on_both_sides(parts: Parts, context: str, there: Collection[str]) -> list[str]:
    query = select(context_bundles.c.uuid).where(context_bundles.c.context == context)
    with parts.database.read() as conn:
        return sorted(set(conn.execute(query).scalars()) & set(there))


def _whole_at(address: str) -> ColumnElement[bool]:
    return (remote_copies.c.remote == address) & remote_copies.c.complete


def _note_copies(conn: Connection, address: str, uuids: Sequence[str], *, complete: bool) -> None:
    for part in in_parts(uuids):
        rows = [{"remote": address, "uuid": uuid, "complete": complete} for uuid in part]
        conn.execute(insert_new(conn, remote_copies), rows)
        same = (remote_copies.c.remote == address) & remote_copies.c.uuid.in_(part)
        changed = same & (remote_copies.c.complete != complete)
        conn.execute(update(remote_copies).where(changed).values(complete=complete))


def _send_all(
    parts: Parts, remote: Remote, waiting: Sequence[str], on_progress: Progress | None
) -> tuple[int, int, int]:
    stored = remote.files() if waiting else {}
    count = files = size = 0
    for number, uuid in enumerate(waiting, 1):
        sent = _send_unless_deleted(parts, remote, uuid, stored)
        if sent is not None:
            stored.update(sent)
            count, files, size = count + 1, files + len(sent), size + sum(sent.values())
        if on_progress:
            on_progress(number, len(waiting))
    return count, files, size


def _send_unless_deleted(parts: Parts, remote: Remote, uuid: str, stored: dict[str, int]) -> dict[str, int] | None:
    """The files that were sent; None when the bundle was deleted before it was there."""
    if not _is_here(parts, uuid):
        return None
    try:
        sent = _send(parts, remote, uuid, stored)
    except (SeedbedError, OSError):
        if _is_here(parts, uuid):
            raise
        return None
    return sent if _mark_complete(parts, remote.address, uuid) else None


def _is_here(parts: Parts, uuid: str) -> bool:
    with parts.database.read() as conn:
        return conn.execute(select(bundles.c.uuid).where(bundles.c.uuid == uuid)).first() is not None


def _send(parts: Parts, remote: Remote, uuid: str, stored: dict[str, int]) -> dict[str, int]:
    """Upload a bundle's missing files and then its manifest; the answer is the files that were sent."""
    sizes = {link.digest: link.size for link in parts.manifests.read(uuid).bundle.files}
    missing = {digest: size for digest, size in sizes.items() if stored.get(digest) != size}
    send_files(parts, remote, list(missing))
    send_manifest(parts, remote, uuid)
    return missing


def _mark_complete(parts: Parts, address: str, uuid: str) -> bool:
    """Whether the copy still counts: a deletion takes its note away."""
    copy = (remote_copies.c.remote == address) & (remote_copies.c.uuid == uuid)
    with parts.database.write() as conn:
        return conn.execute(update(remote_copies).where(copy).values(complete=True)).rowcount > 0


def _not_here(parts: Parts, context: str, address: str, there: Collection[str]) -> list[str]:
    """What has to be fetched; what is here already only joins the context."""
    missing: list[str] = []
    with parts.database.write() as conn:
        parts.events.lock(conn)
        for part in in_parts(sorted(there)):
            known = {
                row.uuid: row.created
                for row in conn.execute(select(bundles.c.uuid, bundles.c.created).where(bundles.c.uuid.in_(part)))
            }
            rows = [{"context": context, "uuid": u, "created": at} for u, at in known.items()]
            if rows:
                conn.execute(insert_new(conn, context_bundles), rows)
                _note_copies(conn, address, list(known), complete=True)
            missing += [uuid for uuid in part if uuid not in known]
    return missing


def _receive(parts: Parts, remote: Remote, context: str, bundle: Bundle, problems: list[str]) -> tuple[int, int]:
    """Fetch a bundle's missing files, check them, and publish it here under its own uuid."""
    sizes = {link.digest: link.size for link in bundle.files}
    with writing(parts):
        missing = {digest: size for digest, size in sizes.items() if not _whole_here(parts, digest, size)}
        keep_reserve(parts.home, sum(missing.values()))
        fetched = fetch_files(parts, remote, missing)
        if fetched.problems:
            problems += [f"'{bundle.name}' ({bundle.uuid}): {what}" for what in fetched.problems.values()]
            return 0, 0
        parts.content.sync(sizes)
        parts.manifests.remove([bundle.uuid])  # left by a pull that was cut short
        (written,) = parts.manifests.write_all([bundle])
        _admit(parts, context, remote.address, written)
    return len(missing), sum(missing.values())


def _whole_here(parts: Parts, digest: str, size: int) -> bool:
    return parts.content.touch(digest) and parts.content.holds(digest, size)


def _admit(parts: Parts, context: str, address: str, written: Written) -> None:
    bundle = written.bundle
    with parts.database.write() as conn:
        parts.events.lock(conn)
        if conn.execute(select(bundles.c.uuid).where(bundles.c.uuid == bundle.uuid)).first():
            return
        if bundle.key and uuids_by_key(conn, [bundle.key]):  # the first published here keeps the key
            written = replace(written, bundle=replace(bundle, key=""))
        insert_bundles(conn, [written], context)
        _note_copies(conn, address, [bundle.uuid], complete=True)
        parts.events.append_all(conn, [published(bundle)])
