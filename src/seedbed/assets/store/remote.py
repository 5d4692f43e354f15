"""A context's copies at a remote store, over fsspec: a folder, S3, and whatever else speaks it.

<remote>/files/ab/<digest>, <remote>/manifests/<uuid>.json (and .tags), <remote>/tombstones/<uuid>.json. A manifest goes
last and says that its files are complete; a tombstone goes first and says that what is left of a bundle is garbage.
"""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem
from sqlalchemy import Connection, delete, select

from seedbed.assets.db.tables import bundle_files, bundles, remote_copies, remote_deletions
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.checks import check_manifest
from seedbed.assets.store.content import copy_and_hash, sync_files
from seedbed.assets.store.leases import all_leases, write_lease
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.rows import in_parts
from seedbed.base.errors import InvalidInput, SeedbedError, Unavailable
from seedbed.base.files import says_when_full, write_atomically
from seedbed.base.ids import canonical_json, digest_of, new_id


class Remote:
    """One place. Every method raises Unavailable when it cannot be reached; nothing is half-written under its name."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._filesystem: Any = None
        self._root = ""

    def manifests(self) -> set[str]:
        """The uuids of the bundles that are complete there."""
        return {name.removesuffix(".json") for name in self._names("manifests") if name.endswith(".json")}

    def tombstones(self) -> set[str]:
        """The uuids of the bundles that were deleted."""
        return {name.removesuffix(".json") for name in self._names("tombstones") if name.endswith(".json")}

    def files(self) -> dict[str, int]:
        """Every file there: digest and size."""
        with self._reaching() as fs:
            found = fs.find(self._at("files"), detail=True)
        return {path.rsplit("/", 1)[-1]: int(info["size"]) for path, info in found.items()}

    def read_bundles(self, uuids: Sequence[str]) -> tuple[dict[str, Bundle], list[str]]:
        """The bundles of manifests there, checked as what comes from outside; and what is wrong with the others."""
        paths = {self._at("manifests", f"{uuid}.json"): uuid for uuid in uuids}
        tags = self._read_all([path.removesuffix("json") + "tags" for path in paths])
        found, problems = {}, []
        for path, content in self._read_all(list(paths)).items():
            uuid = paths[path]
            try:
                found[uuid] = check_manifest(content, uuid, tags.get(path.removesuffix("json") + "tags"))
            except SeedbedError as error:
                problems.append(f"The manifest of {uuid} at {self.address}: {error.message}")
        return found, problems

    def put_files(self, files: Mapping[str, Path]) -> None:
        """Upload files by digest."""
        with self._reaching() as fs:
            if isinstance(fs, LocalFileSystem):
                self._put_in_folder(files)
            elif files:
                targets = [self._at("files", digest[:2], digest) for digest in files]
                fs.put([str(path) for path in files.values()], targets)

    def put_manifest(self, uuid: str, content: bytes, tags: bytes | None) -> None:
        """Say that a bundle is complete."""
        if tags is not None:
            self._write("manifests", f"{uuid}.tags", tags)
        self._write("manifests", f"{uuid}.json", content)

    def get_files(self, files: Mapping[str, Path]) -> None:
        """Download files by digest to paths; the caller checks what came."""
        with self._reaching() as fs:
            if files:
                sources = [self._at("files", digest[:2], digest) for digest in files]
                fs.get(sources, [str(path) for path in files.values()])

    def bury(self, uuid: str, at: float) -> None:
        """Leave a tombstone."""
        self._write("tombstones", f"{uuid}.json", canonical_json({"uuid": uuid, "at": at}).encode())

    def remove(self, uuids: Iterable[str], digests: Iterable[str]) -> None:
        """Remove files, and then the manifests that name them."""
        paths = [self._at("files", digest[:2], digest) for digest in digests]
        paths += [self._at("manifests", f"{uuid}.{end}") for uuid in uuids for end in ("tags", "json")]
        with self._reaching() as fs:
            for path in paths:
                with contextlib.suppress(FileNotFoundError):
                    fs.rm_file(path)

    def _names(self, folder: str) -> list[str]:
        with self._reaching() as fs:
            return [path.rsplit("/", 1)[-1] for path in fs.find(self._at(folder))]

    def _read_all(self, paths: list[str]) -> dict[str, bytes]:
        with self._reaching() as fs:
            found = fs.cat(paths, on_error="return") if paths else {}
            for error in found.values():
                if isinstance(error, Exception) and not isinstance(error, FileNotFoundError):
                    raise error
        return {
            path: content for path, content in zip(paths, _in_order(found, paths), strict=True) if content is not None
        }

    def _write(self, folder: str, name: str, content: bytes) -> None:
        with self._reaching() as fs:
            if isinstance(fs, LocalFileSystem):
                write_atomically(Path(self._at(folder, name)), content)
            else:
                fs.pipe_file(self._at(folder, name), content)

    def _put_in_folder(self, files: Mapping[str, Path]) -> None:
        places = [Path(self._at("files", digest[:2], digest)) for digest in files]
        for place, source in zip(places, files.values(), strict=True):
            place.parent.mkdir(parents=True, exist_ok=True)
            draft = place.with_name(f".{place.name}.{new_id()}")
            try:
                with says_when_full(place.parent):
                    copy_and_hash(source, draft)
                draft.replace(place)
            finally:
                draft.unlink(missing_ok=True)
        if places:
            sync_files(places, places[0].parent)

    def _at(self, *parts: str) -> str:
        return "/".join((self._root, *parts))

    @contextlib.contextmanager
    def _reaching(self) -> Iterator[Any]:
        try:
            if self._filesystem is None:
                self._filesystem, self._root = _open(self.address)
            yield self._filesystem
        except SeedbedError:
            raise
        except Exception as error:  # drivers raise whatever their libraries do
            raise Unavailable(
                f"The remote {self.address} cannot be used now: {type(error).__name__}: {error}.",
                hint="Check the address, the network and the credentials; then try again, it goes on where it stopped.",
            ) from error


def pushing(parts: Parts, address: str) -> contextlib.AbstractContextManager[None]:
    """Hold a lease on sending to a place: until it ends, copies may still arrive there."""
    return write_lease(_leases_at(parts, address))


def push_leases(parts: Parts) -> Path:
    """The folder that has a folder of leases for every place that was pushed to."""
    return parts.leases / "push"


def _leases_at(parts: Parts, address: str) -> Path:
    return push_leases(parts) / digest_of(address)[:16]


def flush_deletions(parts: Parts, addresses: Collection[str] | None = None) -> list[str]:
    """Remove the copies of deleted bundles from remotes; the answer says, in sentences, where that has to wait."""
    with parts.database.read() as conn:
        queue = conn.execute(select(remote_deletions)).all()
    waiting = []
    for address in sorted({row.remote for row in queue}):
        if addresses is None or address in addresses:
            try:
                waiting += _delete_copies(parts, Remote(address), [row for row in queue if row.remote == address])
            except (Unavailable, InvalidInput) as error:
                waiting.append(error.message)
    return waiting


def _delete_copies(parts: Parts, remote: Remote, rows: Sequence[Any]) -> list[str]:
    # Asked first: a push that has ended by now has nothing on its way, and one that starts later knows the deletion.
    busy = any(lease.live for lease in all_leases(_leases_at(parts, remote.address)))
    uuids = sorted(row.uuid for row in rows)
    for uuid in uuids:
        remote.bury(uuid, parts.clock.now())
    there = remote.manifests()
    doomed, _ = remote.read_bundles([uuid for uuid in uuids if uuid in there])
    digests = {link.digest for bundle in doomed.values() for link in bundle.files}
    digests |= {digest for row in rows for digest in row.digests}
    others = (there | _being_sent(parts, remote.address)) - set(uuids)
    remote.remove(uuids, digests - _needed(parts, remote, digests, others))
    arriving = {row.uuid for row in rows if row.arriving and busy}
    _forget_deletions(parts, remote.address, [uuid for uuid in uuids if uuid not in arriving])
    if arriving:
        return [f"{len(arriving)} copies are on their way to {remote.address} now; they go when that push has ended."]
    return []


def _forget_deletions(parts: Parts, address: str, uuids: Sequence[str]) -> None:
    with parts.database.write() as conn:
        for part in in_parts(uuids):
            done = (remote_deletions.c.remote == address) & remote_deletions.c.uuid.in_(part)
            conn.execute(delete(remote_deletions).where(done))


def _being_sent(parts: Parts, address: str) -> set[str]:
    """Bundles whose push has begun and not ended: files there that they share are counted on."""
    begun = (remote_copies.c.remote == address) & ~remote_copies.c.complete
    with parts.database.read() as conn:
        query = select(remote_copies.c.uuid).join(bundles, bundles.c.uuid == remote_copies.c.uuid).where(begun)
        return set(conn.execute(query).scalars())


def _needed(parts: Parts, remote: Remote, digests: set[str], others: set[str]) -> set[str]:
    """Those digests that another bundle at the remote has; bundles that are not known here are read there."""
    with parts.database.read() as conn:
        needed, known = _known_here(conn, digests, others)
    for part in in_parts(sorted(others - known)):
        found, problems = remote.read_bundles(part)
        if problems:
            return digests  # somebody's manifest cannot be read, so nothing is known to be free
        needed |= {link.digest for bundle in found.values() for link in bundle.files} & digests
    return needed


def _known_here(conn: Connection, digests: set[str], others: set[str]) -> tuple[set[str], set[str]]:
    needed: set[str] = set()
    known: set[str] = set()
    for part in in_parts(sorted(digests)):
        for row in conn.execute(select(bundle_files).where(bundle_files.c.digest.in_(part))):
            if row.uuid in others:
                needed.add(row.digest)
    for part in in_parts(sorted(others)):
        known.update(
            conn.execute(select(bundle_files.c.uuid).where(bundle_files.c.uuid.in_(part)).distinct()).scalars()
        )
    return needed, known


def _open(address: str) -> tuple[Any, str]:
    try:
        filesystem, root = fsspec.core.url_to_fs(address, use_listings_cache=False, skip_instance_cache=True)
    except (ValueError, ImportError) as error:
        raise InvalidInput(
            f"'{address}' is not a remote that can be used: {error}.",
            hint="Give a folder or s3://bucket/place; S3 needs: pip install 'seedbed[s3]'.",
        ) from error
    return filesystem, root.rstrip("/")


def _in_order(found: Any, paths: Sequence[str]) -> Iterator[bytes | None]:
    """fsspec answers with its own spelling of the paths; the last two parts are ours."""
    by_end = {"/".join(path.split("/")[-2:]): content for path, content in found.items()}
    for path in paths:
        content = by_end.get("/".join(path.split("/")[-2:]))
        yield content if isinstance(content, bytes) else None
