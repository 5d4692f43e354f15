"""The store: bundles go in once and whole, are found again, and really go when they are deleted."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection, RowMapping, delete, insert, select

from seedbed.assets.db.engine import Database
from seedbed.assets.db.tables import bundle_tags, bundles, settings
from seedbed.assets.store.bundle import SHEET, Bundle, Draft
from seedbed.assets.store.checks import is_uuid, tag_problems
from seedbed.assets.store.deletion import Deletion, delete_bundles
from seedbed.assets.store.events import Events
from seedbed.assets.store.lineage import Direction, Graph, lineage_of
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.publish import After, Guard, Publication
from seedbed.assets.store.remote import flush_deletions
from seedbed.assets.store.rows import has_file, tag_rows, to_bundles
from seedbed.assets.store.search import Query, search
from seedbed.base.clock import Clock, SystemClock
from seedbed.base.errors import Conflict, InvalidInput, NotFound
from seedbed.base.registry import near_matches

DEFAULT_CONTEXT = "local"
CURRENT_CONTEXT = "context"
_SHORTEST_PREFIX = 4


class Store:
    """Bundles of one home. Safe to use from any thread and from several processes at once.

    The database decides what exists. What a method has returned from is on disk; what it raised from left nothing
    that anybody sees. Bundles that `find` and `get` answer read their arrays from the manifest when they are looked at.
    """

    def __init__(self, database: Database, home: Path, *, clock: Clock | None = None) -> None:
        self.parts = Parts.of(database, home, clock or SystemClock())

    @property
    def events(self) -> Events:
        """The feed."""
        return self.parts.events

    @property
    def database(self) -> Database:
        """The database that decides what exists."""
        return self.parts.database

    @property
    def home(self) -> Path:
        """The folder that holds everything."""
        return self.parts.home

    # --- in -------------------------------------------------------------------------------------------------------

    def publish(self, draft: Draft, *, context: str = "", consume: bool = False) -> Bundle:
        """Publish one bundle, into the current context unless another is named."""
        return self.publish_many([draft], context=context, consume=consume)[0]

    def publish_many(
        self,
        drafts: Sequence[Draft],
        *,
        guard: Guard | None = None,
        after: After | None = None,
        consume: bool = False,
        context: str = "",
    ) -> list[Bundle]:
        """Publish all or nothing, in one commit; the answer has a bundle per draft, in their order.

        A draft whose key is known is answered with the bundle that has it. `guard` runs first in the transaction and
        may raise to refuse; `after` runs last in it. With `consume` the files are taken away from where they lie
        (without copying on the same file system), once everything is on disk.
        """
        return Publication(self.parts, list(drafts), context or self.current_context(), consume).run(guard, after)

    # --- found ----------------------------------------------------------------------------------------------------

    def get(self, ref: str) -> Bundle:
        """The bundle of a uuid, the newest of a name, or the one whose uuid begins so."""
        with self.database.read() as conn:
            return self._one(conn, ref)

    def find(
        self,
        name: str = "",
        *,
        kind: str = "",
        key: str = "",
        tags: Mapping[str, str] | None = None,
        project: str | Collection[str] | None = None,
        all_versions: bool = False,
        context: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> list[Bundle]:
        """Bundles, newest first: of each name only the newest that matches, unless every version is asked for."""
        query = Query(name, kind, key, tags or {}, project, all_versions, context, limit, offset)
        with self.database.read() as conn:
            return to_bundles(conn, self.parts.manifests, search(conn, query))

    def by_key(self, key: str) -> Bundle | None:
        """The bundle that answers to a key: what a step with these inputs made before."""
        found = self.find(key=key, all_versions=True, limit=1) if key else []
        return found[0] if found else None

    def lineage(self, uuid: str, *, depth: int = 50, direction: Direction = "up") -> Graph:
        """What a bundle was made from (up), or what was made of it (down), so many generations far."""
        if direction not in ("up", "down") or depth < 0:
            raise InvalidInput(f"direction is up or down and depth is 0 or more (given: {direction}, {depth}).")
        with self.database.read() as conn:
            return lineage_of(conn, _row_of(conn, uuid)["uuid"], depth=depth, direction=direction)

    # --- changed and gone -----------------------------------------------------------------------------------------

    def tag(self, ref: str, changes: Mapping[str, str | None]) -> Bundle:
        """Set tags; None takes one away."""
        if problems := list(tag_problems(changes)):
            raise InvalidInput("These tags cannot be set.", problems=problems)
        with self.database.write() as conn:
            self.events.lock(conn)
            bundle = self._one(conn, ref)
            tags = {tag: value for tag, value in {**bundle.tags, **changes}.items() if value is not None}
            conn.execute(delete(bundle_tags).where(bundle_tags.c.uuid == bundle.uuid))
            if tags:
                conn.execute(insert(bundle_tags), tag_rows(bundle, tags))
            self.events.append(conn, "bundle.tagged", bundle.uuid, {"tags": tags}, bundle.project)
            self.parts.manifests.write_tags(bundle.uuid, tags)
            return self._one(conn, bundle.uuid)

    def delete(self, uuids: Collection[str], *, cascade: bool = True, by: str = "") -> Deletion:
        """Delete bundles, what was derived from them, and every byte that nothing else refers to, at remotes too.

        A remote that cannot be reached now is cleaned by the next push, pull or gc that can; files that a writer has
        just touched go when that writer has ended. What waits is said in the answer, and what stays for others.
        """
        with self.database.read() as conn:
            wanted = {_row_of(conn, ref)["uuid"] for ref in uuids}
        deletion = delete_bundles(self.parts, wanted, cascade=cascade, by=by)
        if deletion.remotes:
            waiting = flush_deletions(self.parts, deletion.remotes)
            return replace(deletion, waiting=(*deletion.waiting, *waiting))
        return deletion

    # --- out ------------------------------------------------------------------------------------------------------

    def path_of(self, digest: str) -> Path:
        """Where the bytes of a digest lie; only to be read."""
        return self.parts.content.path_of(digest)

    def has_file(self, uuid: str, digest: str) -> bool:
        """Whether a bundle has a file of that digest; quick, however many files it has."""
        with self.database.read() as conn:
            return has_file(conn, uuid, digest)

    def checked_path_of(self, digest: str) -> Path:
        """The same for what leaves the store: every byte is read and compared first; raises Damaged."""
        return self.parts.content.check(digest)

    def checkout(self, bundle: Bundle, folder: Path, *, links: bool = False) -> Path:
        """Lay a bundle out as <folder>/<array>/<name> with its description beside.

        The files are the taker's own copies, each compared with its digest, unless `links` asks for read-only hard
        links: for run folders, where nobody writes into inputs. Of those only the sizes are looked at.
        """
        folder.mkdir(parents=True, exist_ok=True)
        made: set[Path] = set()
        for name, array in bundle.arrays.items():
            for link in array.files:
                target = folder / name / link.name
                if target.parent not in made:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    made.add(target.parent)
                self.parts.content.copy_out(link, target, link=links)
        (folder / SHEET).write_text(json.dumps(bundle.to_json()))
        return folder

    # --- contexts -------------------------------------------------------------------------------------------------

    def current_context(self) -> str:
        """The context that bundles are published into when none is named."""
        with self.database.read() as conn:
            chosen = conn.execute(select(settings.c.value).where(settings.c.name == CURRENT_CONTEXT)).scalar()
        return chosen.decode() if chosen else DEFAULT_CONTEXT

    # --- looking up -----------------------------------------------------------------------------------------------

    def _one(self, conn: Connection, ref: str) -> Bundle:
        return to_bundles(conn, self.parts.manifests, [_row_of(conn, ref)])[0]


def _row_of(conn: Connection, ref: str) -> RowMapping:
    rows = search(conn, Query(name=ref, limit=1)) if ref else []
    if is_uuid(ref):
        rows = list(conn.execute(select(bundles).where(bundles.c.uuid == ref)).mappings()) or rows
    elif not rows and len(ref) >= _SHORTEST_PREFIX:
        begins = (bundles.c.uuid >= ref, bundles.c.uuid < ref + "g")
        rows = list(conn.execute(select(bundles).where(*begins).limit(2)).mappings())
    if not rows:
        raise NotFound(f"There is no bundle '{ref}'.", hint=_near(conn, ref))
    if len(rows) > 1:
        raise Conflict(f"Several bundles begin with '{ref}'.", hint="Give more of the uuid.")
    return rows[0]


def _near(conn: Connection, ref: str) -> str:
    stem = ref[:2]
    query = select(bundles.c.name).where(bundles.c.name >= stem, bundles.c.name < stem + "\uffff").limit(500)
    others = conn.execute(select(bundles.c.uuid).limit(1)).first() is not None
    return near_matches(ref, sorted(set(conn.execute(query).scalars())), others=others)
