"""Making the index anew from the manifests, when the database was lost or is not to be trusted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sqlalchemy import Connection, delete, select

from seedbed.assets.db.dialects import insert_new
from seedbed.assets.db.tables import bundles, context_bundles, tombstones
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

    Contexts keep their members as far as the database still knows them; other bundles join the default context.
    """
    parts = store.parts
    buried = parts.manifests.buried()
    problems: list[str] = []
    with parts.database.write() as conn:
        parts.events.lock(conn)
        dead = set(conn.execute(select(tombstones.c.uuid)).scalars()) | buried.keys()
        members = conn.execute(select(context_bundles)).mappings().all()
        conn.execute(delete(bundles))
        count, created = _insert_all(conn, parts, dead, problems)
        _restore_members(
            conn, [dict(row) | {"created": created[row["uuid"]]} for row in members if row["uuid"] in created]
        )
        if buried:
            rows = [{"uuid": uuid, "at": stone["at"], "by": stone["by"]} for uuid, stone in buried.items()]
            conn.execute(insert_new(conn, tombstones), rows)
    return Rebuilt(count, len(dead), tuple(problems))


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
