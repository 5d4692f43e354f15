"""Making the index anew from the manifests, when the database was lost or is not to be trusted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sqlalchemy import Connection, delete, select

from seedbed.assets.db.dialects import insert_new
from seedbed.assets.db.tables import bundles, context_bundles, tombstones
from seedbed.assets.store.deletion import drop_stray_tombstones, finish_deletions
from seedbed.assets.store.leases import spared_since
from seedbed.assets.store.manifests import Written
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.rows import in_parts, insert_bundles
from seedbed.assets.store.store import DEFAULT_CONTEXT, Store
from seedbed.base.errors import SeedbedError


@dataclass(frozen=True)
class Rebuilt:
    """What the new index holds, and which manifests could not be read."""

    bundles: int
    tombstones: int
    problems: tuple[str, ...]


def rebuild(store: Store) -> Rebuilt:
    """Replace the rows of all bundles by what the manifests say, in one transaction; what was deleted stays deleted.

    Safe while the service goes on: what is being published now is left to its publisher, and a bundle that has its row
    is not taken for deleted because a deletion died before its commit.
    Contexts keep their members as far as the database still knows them; other bundles join the default context.
    """
    parts = store.parts
    drop_stray_tombstones(parts)
    problems: list[str] = []
    with parts.database.write() as conn:
        parts.events.lock(conn)
        alive = set(conn.execute(select(bundles.c.uuid)).scalars())
        buried = {uuid: stone for uuid, stone in parts.manifests.buried().items() if uuid not in alive}
        dead = set(conn.execute(select(tombstones.c.uuid)).scalars()) | buried.keys()
        members = conn.execute(select(context_bundles)).mappings().all()
        conn.execute(delete(bundles))
        count, created = _insert_all(conn, parts, dead | _coming_in(parts, alive), problems)
        _restore_members(
            conn, [dict(row) | {"created": created[row["uuid"]]} for row in members if row["uuid"] in created]
        )
        if buried:
            more = {"finished": False}  # whoever finishes deletions looks what is left of each
            rows = [{"uuid": uuid, "at": stone["at"], "by": stone["by"]} | more for uuid, stone in buried.items()]
            conn.execute(insert_new(conn, tombstones), rows)
    finish_deletions(parts)
    return Rebuilt(count, len(dead), tuple(problems))


def _coming_in(parts: Parts, alive: set[str]) -> set[str]:
    """Bundles whose publishers are still at work: their rows come with their own commit, or not at all."""
    since = spared_since(parts.leases)
    if since == float("inf"):
        return set()
    return {uuid for uuid in set(parts.manifests.uuids()) - alive if _written_since(parts, uuid, since)}


def _written_since(parts: Parts, uuid: str, since: float) -> bool:
    try:
        return parts.manifests.path_of(uuid).stat().st_mtime >= since
    except FileNotFoundError:
        return False


def _insert_all(conn: Connection, parts: Parts, dead: set[str], problems: list[str]) -> tuple[int, dict[str, float]]:
    keys: set[str] = set()
    created: dict[str, float] = {}
    for part in in_parts(sorted(set(parts.manifests.uuids()) - dead)):
        written = []
        for each in _read(parts, part, problems):
            if each.bundle.key in keys:  # the first published keeps the key
                each = replace(each, bundle=replace(each.bundle, key=""))
            keys.update({each.bundle.key} - {""})
            created[each.bundle.uuid] = each.bundle.created
            written.append(each)
        insert_bundles(conn, written, DEFAULT_CONTEXT)
    return len(created), created


def _read(parts: Parts, uuids: Iterable[str], problems: list[str]) -> Iterator[Written]:
    for uuid in uuids:
        try:
            written = parts.manifests.read(uuid)
        except SeedbedError as error:
            problems.append(error.message)
            continue
        if written.bundle.uuid == uuid:
            yield written
        else:
            problems.append(f"{parts.manifests.path_of(uuid)} holds the manifest of another bundle.")


def _restore_members(conn: Connection, rows: list[dict[str, object]]) -> None:
    others = [row for row in rows if row["context"] != DEFAULT_CONTEXT]
    if others:
        conn.execute(insert_new(conn, context_bundles), others)
        homeless = {row["uuid"] for row in others} - {row["uuid"] for row in rows if row["context"] == DEFAULT_CONTEXT}
        for part in in_parts(sorted(str(uuid) for uuid in homeless)):
            in_default = (context_bundles.c.context == DEFAULT_CONTEXT) & context_bundles.c.uuid.in_(part)
            conn.execute(delete(context_bundles).where(in_default))
