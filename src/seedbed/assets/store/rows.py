"""Bundles as rows: how they are inserted, and how they are read back."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, delete, false, insert, select, true, update

from seedbed.assets.db.tables import bundle_files, bundle_inputs, bundle_tags, bundles, context_bundles, tombstones
from seedbed.assets.store.bundle import Bundle, Lineage
from seedbed.assets.store.manifests import LazyArrays, Manifests, Written

_AT_ONCE = 500  # values in one IN (...)


def insert_bundles(conn: Connection, written: Sequence[Written], context: str) -> None:
    """Insert bundles with their files, inputs and tags, as members of a context. The feed must be locked."""
    if not written:
        return
    made = [each.bundle for each in written]
    _insert(conn, bundles, [_row(each) for each in written])
    _insert(conn, bundle_files, [row for bundle in made for row in _file_rows(bundle)])
    _insert(conn, bundle_inputs, [row for bundle in made for row in _input_rows(bundle)])
    _insert(conn, bundle_tags, [row for bundle in made for row in tag_rows(bundle, bundle.tags)])
    members = [{"context": context, "uuid": b.uuid, "created": b.created} for b in made]
    _insert(conn, context_bundles, members)
    mark_latest(conn, {(bundle.project, bundle.name) for bundle in made})


def mark_latest(conn: Connection, names: Iterable[tuple[str, str]]) -> None:
    """Mark the newest version of each (project, name) and no other."""
    pairs = [{"in_project": project, "of_name": name} for project, name in sorted(names)]
    if not pairs:
        return
    same = (bundles.c.project == bindparam("in_project")) & (bundles.c.name == bindparam("of_name"))
    newest = bundles.alias("newest")
    first = (
        select(newest.c.uuid)
        .where(newest.c.project == bindparam("in_project"), newest.c.name == bindparam("of_name"))
        .order_by(newest.c.created.desc(), newest.c.uuid.desc())
        .limit(1)
        .scalar_subquery()
    )
    conn.execute(update(bundles).where(same, bundles.c.latest).values(latest=false()), pairs)
    conn.execute(update(bundles).where(bundles.c.uuid == first).values(latest=true()), pairs)


def tag_rows(bundle: Bundle, tags: Mapping[str, str]) -> list[dict[str, Any]]:
    """Rows of bundle_tags."""
    return [{"uuid": bundle.uuid, "tag": tag, "value": value, "created": bundle.created} for tag, value in tags.items()]


def remove_bundles(conn: Connection, doomed: Collection[Bundle], *, at: float, by: str) -> None:
    """Remove rows and leave tombstones; files, inputs, tags and memberships go with them."""
    for part in in_parts(sorted(bundle.uuid for bundle in doomed)):
        conn.execute(delete(bundles).where(bundles.c.uuid.in_(part)))
    _insert(conn, tombstones, [{"uuid": bundle.uuid, "at": at, "by": by, "finished": False} for bundle in doomed])
    mark_latest(conn, {(bundle.project, bundle.name) for bundle in doomed})


def bundles_with(conn: Connection, digest: str) -> list[tuple[str, str]]:
    """The bundles that have a file: uuid and name of each."""
    query = select(bundles.c.uuid, bundles.c.name).join(bundle_files).where(bundle_files.c.digest == digest)
    return [(row.uuid, row.name) for row in conn.execute(query)]


def has_file(conn: Connection, uuid: str, digest: str) -> bool:
    """Whether a bundle has a file of that digest, without its manifest being read."""
    query = select(bundle_files.c.uuid).where(bundle_files.c.uuid == uuid, bundle_files.c.digest == digest)
    return conn.execute(query).first() is not None


def to_bundles(conn: Connection, manifests: Manifests, rows: Sequence[RowMapping]) -> list[Bundle]:
    """Bundles from rows of the table, in their order; their arrays are read when they are looked at."""
    uuids = [row["uuid"] for row in rows]
    tags: dict[str, dict[str, str]] = {uuid: {} for uuid in uuids}
    inputs: dict[str, list[tuple[str, str]]] = {uuid: [] for uuid in uuids}
    for part in in_parts(uuids):
        for tag in conn.execute(select(bundle_tags).where(bundle_tags.c.uuid.in_(part)).order_by(bundle_tags.c.tag)):
            tags[tag.uuid][tag.tag] = tag.value
        of_part = select(bundle_inputs).where(bundle_inputs.c.uuid.in_(part))
        for link in conn.execute(of_part.order_by(bundle_inputs.c.uuid, bundle_inputs.c.position)):
            inputs[link.uuid].append((link.name, link.input))
    return [_bundle(row, tags[row["uuid"]], inputs[row["uuid"]], manifests) for row in rows]


def referenced(conn: Connection, digests: Collection[str]) -> set[str]:
    """Those of the digests that some bundle has."""
    found: set[str] = set()
    for part in in_parts(sorted(digests)):
        found.update(conn.execute(select(bundle_files.c.digest).where(bundle_files.c.digest.in_(part))).scalars())
    return found


def in_parts(values: Sequence[str]) -> Iterable[Sequence[str]]:
    """The values in parts that a statement can carry."""
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))


def _insert(conn: Connection, table: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        conn.execute(insert(table), rows)


def _row(written: Written) -> dict[str, Any]:
    bundle = written.bundle
    return {
        "uuid": bundle.uuid,
        "name": bundle.name,
        "kind": bundle.kind,
        "key": bundle.key or None,
        "digest": bundle.digest,
        "created": bundle.created,
        "project": bundle.project,
        "derived": bundle.derived,
        "latest": False,
        "step": bundle.lineage.step,
        "params": dict(bundle.lineage.params),
        "code": bundle.lineage.code,
        "job": bundle.lineage.job,
        "size": bundle.size,
        "manifest": written.manifest,
    }


def _file_rows(bundle: Bundle) -> list[dict[str, Any]]:
    sizes = {link.digest: link.size for link in bundle.files}
    return [{"uuid": bundle.uuid, "digest": digest, "size": size} for digest, size in sizes.items()]


def _input_rows(bundle: Bundle) -> list[dict[str, Any]]:
    return [
        {"uuid": bundle.uuid, "position": position, "name": name, "input": uuid}
        for position, (name, uuid) in enumerate(bundle.lineage.inputs)
    ]


def _bundle(row: RowMapping, tags: dict[str, str], inputs: list[tuple[str, str]], manifests: Manifests) -> Bundle:
    return Bundle(
        uuid=row["uuid"],
        name=row["name"],
        kind=row["kind"],
        key=row["key"] or "",
        created=row["created"],
        tags=tags,
        arrays=LazyArrays(manifests, row["uuid"]),
        lineage=Lineage(row["step"], row["params"], tuple(inputs), row["code"], row["job"]),
        derived=row["derived"],
        project=row["project"],
        digest=row["digest"],
        size=row["size"],
    )
