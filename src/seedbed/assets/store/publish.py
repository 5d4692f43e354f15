"""How bundles come in: files, fsync, manifests, fsync, then one commit of rows and events.

A crash before the commit leaves files and manifests that nothing refers to, which gc removes; after it, everything.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from seedbed.assets.db.tables import bundles, contexts, tombstones
from seedbed.assets.store.bundle import Array, Bundle, Draft, DraftArray, DraftFile, FileLink, content_digest
from seedbed.assets.store.checks import check_drafts
from seedbed.assets.store.deletion import sweep, writing
from seedbed.assets.store.events import News
from seedbed.assets.store.leases import spared_since
from seedbed.assets.store.manifests import Written
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.room import keep_reserve
from seedbed.assets.store.rows import in_parts, insert_bundles, to_bundles
from seedbed.base.errors import Conflict, NotFound
from seedbed.base.ids import new_id

Guard = Callable[[Connection], None]
_TRIES = 3

After = Callable[[Connection, list[Bundle]], None]


class _Vanished(Conflict):
    """A stored file that this publication counted on was deleted by somebody else before the commit."""


@dataclass(frozen=True)
class Publication:
    """One batch of drafts on its way in."""

    parts: Parts
    drafts: Sequence[Draft]
    context: str
    consume: bool

    def run(self, guard: Guard | None, after: After | None) -> list[Bundle]:
        """Publish all or nothing; the answer has a bundle per draft, in their order."""
        check_drafts(self.drafts)
        for _ in range(_TRIES):
            with contextlib.suppress(_Vanished):
                return self._run_once(guard, after)
        return self._run_once(guard, after)

    def _run_once(self, guard: Guard | None, after: After | None) -> list[Bundle]:
        known = self._known()
        fresh = [draft for draft in self.drafts if draft.key not in known]
        self._check_uuids(fresh)
        keep_reserve(self.parts.home, 0 if self.consume else _size(fresh))
        made: list[Bundle] = []
        written: list[Written] = []
        try:
            with writing(self.parts):
                made += self._bring_in(fresh)
                written += self.parts.manifests.write_all(made)
                answer, used = self._admit(written, guard, after)
        except BaseException:  # after the lease has ended, which would spare the files
            sweep(self.parts, _digests(made))
            raise
        sweep(self.parts, _digests(each.bundle for each in written if each.bundle.uuid not in used))
        if self.consume:
            self._remove_sources()
        return answer

    def _check_uuids(self, drafts: Sequence[Draft]) -> None:
        """Before anything is written: the manifest of a bundle that exists must not be touched."""
        given = [draft.uuid for draft in drafts if draft.uuid]
        if len(set(given)) < len(given):
            raise Conflict("Two drafts of this batch have the same uuid.", hint="Leave the uuids out; they are made.")
        with self.parts.database.read() as conn:
            _refuse_used(conn, given)
        abandoned = [uuid for uuid in given if self.parts.manifests.path_of(uuid).exists()]
        if abandoned and spared_since(self.parts.leases) == float("inf"):
            self.parts.manifests.remove(abandoned)  # by a publisher that died before its commit

    def _known(self) -> dict[str, str]:
        keys = {draft.key for draft in self.drafts} - {""}
        with self.parts.database.read() as conn:
            return uuids_by_key(conn, keys)

    def _bring_in(self, drafts: Sequence[Draft]) -> list[Bundle]:
        files = [item for draft in drafts for array in draft.arrays.values() for item in _files(array)]
        links = iter(self.parts.content.take_all(files, consume=self.consume))
        made = [self._bundle(draft, links) for draft in drafts]
        self.parts.content.sync(_digests(made))
        return made

    def _bundle(self, draft: Draft, links: Iterable[FileLink]) -> Bundle:
        feed = iter(links)
        arrays = {name: _array(array, feed) for name, array in draft.arrays.items()}
        sizes = {link.digest: link.size for array in arrays.values() for link in array.files}
        return Bundle(
            uuid=draft.uuid or new_id(),
            name=draft.name,
            kind=draft.kind,
            key=draft.key,
            created=self.parts.clock.now(),
            tags=dict(draft.tags),
            arrays=arrays,
            lineage=draft.lineage,
            derived=draft.derived,
            project=draft.project,
            digest=content_digest(draft.kind, arrays),
            size=sum(sizes.values()),
        )

    def _admit(
        self, written: Sequence[Written], guard: Guard | None, after: After | None
    ) -> tuple[list[Bundle], set[str]]:
        """Commit; manifests that got no row go while the lease still keeps a rebuild from believing them."""
        used: set[str] = set()
        try:
            answer, used = self._commit(written, guard, after)
        finally:
            self.parts.manifests.remove(each.bundle.uuid for each in written if each.bundle.uuid not in used)
        return answer, used

    def _commit(
        self, written: Sequence[Written], guard: Guard | None, after: After | None
    ) -> tuple[list[Bundle], set[str]]:
        with self.parts.database.write() as conn:
            if guard:
                guard(conn)
            self.parts.events.lock(conn)
            by_key = uuids_by_key(conn, {draft.key for draft in self.drafts} - {""})
            new = _first_of_each_key(written, by_key)
            self._check_still_there(conn, new)
            insert_bundles(conn, new, self.context)
            self.parts.events.append_all(conn, [published(each.bundle) for each in new])
            answer = self._answer(conn, written, by_key | {e.bundle.key: e.bundle.uuid for e in new if e.bundle.key})
            if after:
                after(conn, answer)
        return answer, {each.bundle.uuid for each in new}

    def _check_still_there(self, conn: Connection, new: Sequence[Written]) -> None:
        """Files are removed only under the lock that this transaction holds, so what is here now stays."""
        _refuse_used(conn, [each.bundle.uuid for each in new])
        if conn.execute(select(contexts.c.name).where(contexts.c.name == self.context)).first() is None:
            raise NotFound(f"There is no context named '{self.context}'.", hint="See: seedbed context list")
        if gone := self.parts.content.missing(_digests(each.bundle for each in new)):
            raise _Vanished(f"{len(gone)} files of this bundle are not in the store any more.", hint="Try again.")

    def _answer(self, conn: Connection, written: Sequence[Written], by_key: Mapping[str, str]) -> list[Bundle]:
        made = {each.bundle.uuid: each.bundle for each in written}
        unkeyed = iter([each.bundle.uuid for each in written if not each.bundle.key])
        uuids = [by_key[draft.key] if draft.key else next(unkeyed) for draft in self.drafts]
        missing = sorted({uuid for uuid in uuids if uuid not in made})
        for part in in_parts(missing):
            rows = conn.execute(select(bundles).where(bundles.c.uuid.in_(part))).mappings().all()
            made.update({bundle.uuid: bundle for bundle in to_bundles(conn, self.parts.manifests, rows)})
        return [made[uuid] for uuid in uuids]

    def _remove_sources(self) -> None:
        for draft in self.drafts:
            for array in draft.arrays.values():
                for item in array.items:
                    if isinstance(item, DraftFile):
                        item.path.unlink(missing_ok=True)


def published(bundle: Bundle) -> News:
    """What the feed says when a bundle has come in."""
    data = {"name": bundle.name, "kind": bundle.kind, "derived": bundle.derived}
    return News("bundle.published", bundle.uuid, data, bundle.project)


def uuids_by_key(conn: Connection, keys: Iterable[str]) -> dict[str, str]:
    """The bundles that answer to keys."""
    found: dict[str, str] = {}
    for part in in_parts(sorted(keys)):
        found.update(
            (row.key, row.uuid)
            for row in conn.execute(select(bundles.c.key, bundles.c.uuid).where(bundles.c.key.in_(part)))
        )
    return found


def _refuse_used(conn: Connection, uuids: Sequence[str]) -> None:
    for part in in_parts(uuids):
        for table in (bundles, tombstones):
            if taken := conn.execute(select(table.c.uuid).where(table.c.uuid.in_(part))).scalars().first():
                raise Conflict(f"The uuid {taken} has been used before.", hint="Leave the uuid out; one is made.")


def _first_of_each_key(written: Sequence[Written], taken: Mapping[str, str]) -> list[Written]:
    seen, new = set(taken), []
    for each in written:
        if not each.bundle.key or each.bundle.key not in seen:
            new.append(each)
            seen.add(each.bundle.key)
    return new


def _size(drafts: Iterable[Draft]) -> int:
    files = (item for draft in drafts for array in draft.arrays.values() for item in array.items)
    return sum(item.path.stat().st_size for item in files if isinstance(item, DraftFile))


def _files(array: DraftArray) -> list[DraftFile | FileLink]:
    return [item for item in array.items if isinstance(item, DraftFile | FileLink)]


def _array(array: DraftArray, links: Iterable[FileLink]) -> Array:
    feed = iter(links)
    items = tuple(next(feed) if isinstance(item, DraftFile | FileLink) else item for item in array.items)
    return Array(array.type, items)


def _digests(made: Iterable[Bundle]) -> list[str]:
    return sorted({link.digest for bundle in made for link in bundle.files})
