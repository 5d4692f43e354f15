"""Files to and from a remote, each checked; and what of bundles on both sides was lost or damaged on one of them."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import select, update

from seedbed.assets.db.tables import bundle_files, bundles
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.deletion import sweep, writing
from seedbed.assets.store.parts import Parts
from seedbed.assets.store.remote import Remote
from seedbed.assets.store.room import keep_reserve
from seedbed.assets.store.rows import bundles_with, in_parts
from seedbed.assets.store.verify import manifest_problem
from seedbed.base.errors import Damaged
from seedbed.base.ids import digest_of_file

_AT_ONCE = 64  # files on their way at the same time


@dataclass
class Fetched:
    """What came, with its sizes by digest; and which did not come, with the reason as a sentence."""

    files: dict[str, int] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    manifests: int = 0


def few(digests: Sequence[str]) -> Iterable[Sequence[str]]:
    """The digests in parts that travel together."""
    return (digests[start : start + _AT_ONCE] for start in range(0, len(digests), _AT_ONCE))


def fetch_files(parts: Parts, remote: Remote, sizes: dict[str, int]) -> Fetched:
    """Bring files in; each is compared with its digest before it gets its name. Not durable before `sync`."""
    fetched = Fetched()
    for part in few(list(sizes)):
        with ExitStack() as stack:
            drafts = {digest: stack.enter_context(parts.content.receive()) for digest in part}
            remote.get_files(drafts)
            for digest, draft in drafts.items():
                if what := problem_of(draft, digest):
                    fetched.problems[digest] = f"The file {digest[:12]}… at {remote.address} {what}."
                else:
                    fetched.files[digest] = parts.content.admit(draft, digest)
    return fetched


def send_files(parts: Parts, remote: Remote, digests: Sequence[str]) -> None:
    """Send files; one that is damaged here is refused."""
    for part in few(digests):
        remote.put_files({digest: parts.content.check(digest) for digest in part})


def send_manifest(parts: Parts, remote: Remote, uuid: str) -> None:
    """Send a manifest, which says that its files are there."""
    tags = parts.manifests.tags_path_of(uuid)
    content = parts.manifests.path_of(uuid).read_bytes()
    remote.put_manifest(uuid, content, tags.read_bytes() if tags.exists() else None)


def problem_of(path: Path, digest: str) -> str:
    """What is wrong with the bytes at a path; '': they are those of the digest."""
    if not path.exists():
        return "is missing"
    return "" if digest_of_file(path) == digest else "does not match its digest"


def heal(parts: Parts, remote: Remote, uuids: Sequence[str], *, check: bool) -> Fetched:
    """Bring back what bundles that are here and there have lost here.

    Missing files, other sizes and what is known to be damaged are always seen; with `check` every byte is read.
    """
    manifests, wrong = _heal_manifests(parts, remote, uuids, check=check)
    hurt = _hurt(parts, uuids, check=check)
    if not hurt:
        return Fetched({}, wrong, manifests)
    there = remote.files()
    lost = {digest for digest, size in hurt.items() if there.get(digest) != size}
    wanted = {digest: size for digest, size in hurt.items() if digest not in lost}
    with writing(parts):
        keep_reserve(parts.home, sum(wanted.values()))
        fetched = fetch_files(parts, remote, wanted)
        parts.content.sync(fetched.files)
    sweep(parts, fetched.files)  # of bundles that were deleted meanwhile
    fetched.problems |= {d: f"The file {d[:12]}… is not whole at {remote.address} either." for d in lost}
    named = {digest: _named(parts, digest, what) for digest, what in fetched.problems.items()}
    return Fetched(fetched.files, wrong | named, manifests)


def mend(parts: Parts, remote: Remote, uuids: Sequence[str]) -> Fetched:
    """Read everything that bundles that are here and there have at the remote; what is not whole goes there again."""
    sizes, stored = _sizes(parts, uuids), remote.files()
    bad = [digest for digest, size in sizes.items() if stored.get(digest) != size]
    for part in few([digest for digest in sizes if digest not in set(bad)]):
        with ExitStack() as stack:
            drafts = {digest: stack.enter_context(parts.content.receive()) for digest in part}
            remote.get_files(drafts)
            bad += [digest for digest, draft in drafts.items() if problem_of(draft, digest)]
    send_files(parts, remote, bad)
    lost = [uuid for part in in_parts(uuids) for uuid in set(part) - remote.read_bundles(part)[0].keys()]
    for uuid in lost:
        send_manifest(parts, remote, uuid)
    return Fetched({digest: sizes[digest] for digest in bad}, {}, len(lost))


def _sizes(parts: Parts, uuids: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in in_parts(uuids):
        query = select(bundle_files.c.digest, bundle_files.c.size).where(bundle_files.c.uuid.in_(part)).distinct()
        with parts.database.read() as conn:
            found.update((row.digest, row.size) for row in conn.execute(query))
    return found


def _hurt(parts: Parts, uuids: Sequence[str], *, check: bool) -> dict[str, int]:
    """The files of bundles, by digest and size, that are not whole here."""
    sizes = _sizes(parts, uuids)
    return {digest: size for digest, size in sizes.items() if not _whole(parts, digest, size, check=check)}


def _whole(parts: Parts, digest: str, size: int, *, check: bool) -> bool:
    if not check or not parts.content.holds(digest, size):
        return parts.content.holds(digest, size)
    try:
        parts.content.check(digest)
    except Damaged:
        return False
    return True


def _named(parts: Parts, digest: str, what: str) -> str:
    with parts.database.read() as conn:
        names = sorted({name for _, name in bundles_with(conn, digest)})
    return f"{', '.join(repr(name) for name in names[:3])}: {what}" if names else what


def _heal_manifests(parts: Parts, remote: Remote, uuids: Sequence[str], *, check: bool) -> tuple[int, dict[str, str]]:
    count = 0
    problems: dict[str, str] = {}
    hurt = [uuid for part in in_parts(uuids) for uuid in _without_manifest(parts, part, check=check)]
    for part in in_parts(hurt):
        found, wrong = remote.read_bundles(part)
        count += sum(_rewrite(parts, bundle) for bundle in found.values())
        problems |= {sentence: sentence for sentence in wrong}
    return count, problems


def _without_manifest(parts: Parts, uuids: Collection[str], *, check: bool) -> list[str]:
    query = select(bundles.c.uuid, bundles.c.manifest).where(bundles.c.uuid.in_(uuids))
    with parts.database.read() as conn:
        rows = conn.execute(query).all()
    if check:
        return [row.uuid for row in rows if manifest_problem(parts, row)]
    return [row.uuid for row in rows if not parts.manifests.path_of(row.uuid).exists()]


def _rewrite(parts: Parts, bundle: Bundle) -> bool:
    """Write the manifest of a bundle that is here anew, if it has the content that the database knows."""
    same = (bundles.c.uuid == bundle.uuid) & (bundles.c.digest == bundle.digest)
    with parts.database.write() as conn:
        parts.events.lock(conn)  # a deletion comes wholly before or wholly after
        if conn.execute(select(bundles.c.uuid).where(same)).first() is None:
            return False
        written = parts.manifests.rewrite(bundle)
        conn.execute(update(bundles).where(same).values(manifest=written.manifest))
    return True
