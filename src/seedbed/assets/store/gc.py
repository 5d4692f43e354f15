"""Removing what nothing needs: traces of writers that died, and leftovers of deletions that were cut short."""

import os
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from seedbed.assets.db.tables import bundle_files, bundles
from seedbed.assets.store.deletion import sweep, tidy, unfinished
from seedbed.assets.store.leases import all_leases, spared_since
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.remote import flush_deletions, push_leases
from seedbed.assets.store.rows import in_parts
from seedbed.assets.store.store import Store

DAY = 86_400.0
_MOMENT = 60.0


@dataclass(frozen=True)
class Garbage:
    """What was removed, or would be."""

    manifests: int = 0
    files: int = 0
    bytes: int = 0
    leases: int = 0


def collect_garbage(store: Store, *, grace: float = DAY, dry_run: bool = False) -> Garbage:
    """Remove manifests without rows, files without bundles and leases of dead writers; with `dry_run` only count.

    What is younger than the grace period, or was touched by a writer who is still at work, is spared. Leftovers of
    deletions have no grace: whoever deleted was told that the bytes are gone.
    """
    parts = store.parts
    folders = (parts.leases, *push_leases(parts).glob("*"))
    stale = [lease for folder in folders for lease in all_leases(folder) if not lease.live]
    if not dry_run:
        for lease in stale:
            lease.path.unlink(missing_ok=True)
        tidy(parts)
        flush_deletions(parts)
    before = time.time() - grace  # not the store's clock: these are times of files
    manifests = _manifests_without_rows(parts, before, dry_run=dry_run)
    files, freed = _orphans(parts, before, dry_run=dry_run)
    drafts, drafted = _drafts(parts, before, dry_run=dry_run)
    return Garbage(manifests, files + drafts, freed + drafted, len(stale))


def _manifests_without_rows(parts: Parts, before: float, *, dry_run: bool) -> int:
    count = 0
    for part in in_parts([uuid for uuid in parts.manifests.uuids() if _older(parts.manifests.path_of(uuid), before)]):
        with parts.database.write() as conn:
            parts.events.lock(conn)
            spared = spared_since(parts.leases)
            known = set(conn.execute(select(bundles.c.uuid).where(bundles.c.uuid.in_(part))).scalars())
            known |= unfinished(conn)  # these say which bytes still have to go
            garbage = [u for u in part if u not in known and _older(parts.manifests.path_of(u), min(spared, before))]
            count += len(garbage)
            if not dry_run:
                parts.manifests.remove(garbage)
    return count


def _orphans(parts: Parts, before: float, *, dry_run: bool) -> tuple[int, int]:
    count = freed = 0
    for folder in sorted(parts.content.root.glob("[0-9a-f][0-9a-f]")):
        orphans = _without_bundle(parts, folder, before)
        if dry_run:
            count, freed = count + len(orphans), freed + sum(_size(folder / name) for name in orphans)
        elif orphans:
            swept = sweep(parts, orphans)
            count, freed = count + len(swept.gone), freed + swept.bytes
    return count, freed


def _without_bundle(parts: Parts, folder: Path, before: float) -> list[str]:
    names = [entry.name for entry in os.scandir(folder)]
    start = folder.name
    in_folder = (bundle_files.c.digest >= start, bundle_files.c.digest < start + "g")
    with parts.database.read() as conn:
        known = set(conn.execute(select(bundle_files.c.digest).where(*in_folder).distinct()).scalars())
    limit = min(before, spared_since(parts.leases))
    return [name for name in names if name not in known and _older(folder / name, limit)]


def _drafts(parts: Parts, before: float, *, dry_run: bool) -> tuple[int, int]:
    """Files that were on their way in, and drafts of manifests, whose writers died."""
    limit = min(before, spared_since(parts.leases))
    found = [path for path in _draft_paths(parts) if _older(path, limit)]
    freed = sum(_size(path) for path in found)
    for path in found if not dry_run else ():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return len(found), freed


def _draft_paths(parts: Parts) -> Iterable[Path]:
    yield from parts.content.incoming.glob("*")
    moment = time.time() - _MOMENT  # these are made without a lease, and renamed at once
    unleased = (*parts.manifests.root.glob("*/.*"), *parts.leases.rglob("*.draft"))
    yield from (path for path in unleased if _older(path, moment))


def _older(path: Path, instant: float) -> bool:
    try:
        return path.stat().st_mtime <= instant
    except FileNotFoundError:
        return False


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
