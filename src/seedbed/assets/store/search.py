"""The queries behind find: each walks one index in the order of the answer, so that they cost the same at any size."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Connection, FromClause, RowMapping, Select, exists, select

from seedbed.assets.db.tables import bundle_tags, bundles, context_bundles


@dataclass(frozen=True)
class Query:
    """What is looked for; what is empty is not asked."""

    name: str = ""
    kind: str = ""
    key: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    project: str | Collection[str] | None = None
    all_versions: bool = False
    context: str = ""
    limit: int = 100
    offset: int = 0


def statement(query: Query) -> Select[tuple[object, ...]]:
    """The SQL of a query: newest first; without `all_versions` only the newest of each name.

    A name is nearly always the rarest thing asked for, so its index leads; else a tag's, else a context's, whose rows
    carry the bundle's time of creation for that; else the bundles' own.
    """
    if query.name or query.key or not (query.tags or query.context):
        source: FromClause = bundles
        created, uuid, where = bundles.c.created, bundles.c.uuid, _tag_filters(query.tags)
        where += [_member(query.context)] if query.context else []
    elif query.tags:
        (tag, value), *others = sorted(query.tags.items())
        source = bundle_tags.join(bundles, bundles.c.uuid == bundle_tags.c.uuid)
        created, uuid = bundle_tags.c.created, bundle_tags.c.uuid
        where = [bundle_tags.c.tag == tag, bundle_tags.c.value == value, *_tag_filters(dict(others))]
        where += [_member(query.context)] if query.context else []
    else:
        source = context_bundles.join(bundles, bundles.c.uuid == context_bundles.c.uuid)
        created, uuid = context_bundles.c.created, context_bundles.c.uuid
        where = [context_bundles.c.context == query.context]
    limit = 1 if query.name and not query.all_versions else query.limit
    return (
        select(bundles)
        .select_from(source)
        .where(*where, *_plain_filters(query))
        .order_by(created.desc(), uuid.desc())
        .limit(limit)
        .offset(query.offset)
    )


def search(conn: Connection, query: Query) -> list[RowMapping]:
    """The rows of bundles that a query finds."""
    return list(conn.execute(statement(query)).mappings())


def _plain_filters(query: Query) -> list[ColumnElement[bool]]:
    where: list[ColumnElement[bool]] = []
    for column in ("name", "kind", "key"):
        if value := getattr(query, column):
            where.append(bundles.c[column] == value)
    if isinstance(query.project, str):
        where.append(bundles.c.project == query.project)
    elif query.project is not None:
        where.append(bundles.c.project.in_(sorted(query.project)))
    if not (query.all_versions or query.name or query.key):
        where.append(bundles.c.latest)
    return where


def _tag_filters(tags: Mapping[str, str]) -> list[ColumnElement[bool]]:
    return [_tagged(tag, value) for tag, value in sorted(tags.items())]


def _tagged(tag: str, value: str) -> ColumnElement[bool]:
    other = bundle_tags.alias()
    return exists().where(other.c.uuid == bundles.c.uuid, other.c.tag == tag, other.c.value == value)


def _member(context: str) -> ColumnElement[bool]:
    member = context_bundles.alias()
    return exists().where(member.c.context == context, member.c.uuid == bundles.c.uuid)
