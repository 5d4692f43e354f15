"""Contexts: named sets of bundles that can live here and at a remote store."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from seedbed.assets.db.dialects import insert_new, upsert
from seedbed.assets.db.tables import bundles, context_bundles, contexts, remote_copies, settings
from seedbed.assets.store.checks import address_problems
from seedbed.assets.store.rows import in_parts
from seedbed.assets.store.store import CURRENT_CONTEXT, DEFAULT_CONTEXT, Store
from seedbed.base.errors import Conflict, InvalidInput, NotFound
from seedbed.base.files import expanded
from seedbed.base.registry import near_matches


@dataclass(frozen=True)
class Context:
    """A named set of bundles: where its remote is (empty: none), how many it has, how many of them are there too."""

    name: str
    remote: str
    created: float
    bundles: int
    pushed: int
    current: bool


class Contexts:
    """The contexts of one home. Safe to use from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(self, name: str, remote: str = "") -> Context:
        """A new, empty context."""
        if problems := list(address_problems("the name", name)):
            raise InvalidInput("This context cannot be made.", problems=problems)
        address = normal_address(remote)
        with self._store.database.write() as conn:
            if conn.execute(select(contexts.c.name).where(contexts.c.name == name)).first():
                raise Conflict(f"There is already a context named '{name}'.", hint="Choose another name.")
            _check_free(conn, address, name)
            created = self._store.parts.clock.now()
            conn.execute(insert(contexts).values(name=name, remote=address, created=created))
        return self.get(name)

    def get(self, name: str) -> Context:
        """The context of that name."""
        known = {context.name: context for context in self.list()}
        if name not in known:
            raise NotFound(f"There is no context named '{name}'.", hint=near_matches(name, known))
        return known[name]

    def list(self) -> list[Context]:
        """Every context, by name."""
        at_remote = (
            (remote_copies.c.remote == contexts.c.remote)
            & (remote_copies.c.uuid == context_bundles.c.uuid)
            & remote_copies.c.complete
        )
        pushed = func.count(remote_copies.c.uuid)
        counted = select(contexts, func.count(context_bundles.c.uuid).label("n"), pushed.label("m"))
        joined = counted.outerjoin(context_bundles).outerjoin(remote_copies, at_remote)
        query = joined.group_by(contexts.c.name).order_by(contexts.c.name)
        current = self._store.current_context()
        with self._store.database.read() as conn:
            return [
                Context(row.name, row.remote, row.created, row.n, row.m, row.name == current)
                for row in conn.execute(query)
            ]

    def use(self, name: str) -> Context:
        """Make a context the one that bundles are published into when none is named."""
        self.get(name)
        with self._store.database.write() as conn:
            conn.execute(upsert(conn, settings, {"name": CURRENT_CONTEXT, "value": name.encode()}))
        return self.get(name)

    def set_remote(self, name: str, address: str) -> Context:
        """Say where copies live: a folder, or an fsspec address such as s3://bucket/place; empty: nowhere.

        Copies at the place before stay there and stay known: they go when their bundle is deleted.
        """
        self.get(name)
        remote = normal_address(address)
        with self._store.database.write() as conn:
            _check_free(conn, remote, name)
            conn.execute(update(contexts).where(contexts.c.name == name).values(remote=remote))
        return self.get(name)

    def add(self, name: str, uuids: Collection[str]) -> None:
        """Make bundles members of a context too."""
        self.get(name)
        with self._store.database.write() as conn:
            for part in in_parts(sorted(uuids)):
                found = conn.execute(select(bundles.c.uuid, bundles.c.created).where(bundles.c.uuid.in_(part)))
                rows = [{"context": name, "uuid": r.uuid, "created": r.created} for r in found]
                if rows:
                    conn.execute(insert_new(conn, context_bundles), rows)

    def delete(self, name: str) -> None:
        """Forget a context; its bundles stay, here and at the remote, until they are deleted."""
        if name == DEFAULT_CONTEXT or self.get(name).current:
            raise Conflict(
                f"The context '{name}' is needed: "
                + ("bundles go there by default." if name == DEFAULT_CONTEXT else "new bundles go into it."),
                hint="" if name == DEFAULT_CONTEXT else f"Use another one first: seedbed context use {DEFAULT_CONTEXT}",
            )
        with self._store.database.write() as conn:
            conn.execute(delete(contexts).where(contexts.c.name == name))


def normal_address(address: str) -> str:
    """One spelling per place, so that the same remote is recognised: folders become absolute."""
    address = address.strip()
    if not address or ("://" in address and not address.startswith("file://")):
        return address.rstrip("/")
    return str(expanded(address.removeprefix("file://")).resolve())


def _check_free(conn: Connection, address: str, name: str) -> None:
    taken = select(contexts.c.name).where(contexts.c.remote == address, contexts.c.name != name)
    if address and (other := conn.execute(taken).scalar()):
        raise Conflict(
            f"The context '{other}' already lives at {address}.",
            hint="Give each context its own place, such as a folder.",
        )
