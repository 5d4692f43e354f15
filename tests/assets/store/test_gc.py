"""gc removes only what nothing needs; verify and rebuild."""

import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from sqlalchemy import delete

from seedbed.assets.db.tables import bundles, tombstones
from seedbed.assets.store.bundle import Bundle, Draft
from seedbed.assets.store.contexts import Contexts
from seedbed.assets.store.gc import Garbage, collect_garbage
from seedbed.assets.store.leases import write_lease
from seedbed.assets.store.manifests import Manifests, Written
from seedbed.assets.store.rebuild import rebuild
from seedbed.assets.store.store import Store
from seedbed.assets.store.verify import verify
from seedbed.testing.stores import made_from

MakeDraft = Callable[..., Draft]


def litter(store: Store, draft: MakeDraft, *, age: float) -> list[Path]:
    """What writers leave that died before their commit: a file, a manifest, a file on its way in."""
    made = store.publish(draft(b"litter", name="litter"))
    with store.database.write() as conn:
        conn.execute(delete(bundles).where(bundles.c.uuid == made.uuid))
    incoming = store.parts.content.incoming / "half"
    incoming.parent.mkdir(exist_ok=True)
    incoming.write_bytes(b"half a file")
    paths = [store.path_of(made.files[0].digest), store.parts.manifests.path_of(made.uuid), incoming]
    for path in paths:
        os.utime(path, (time.time() - age, time.time() - age))
    return paths


def test_gc_removes_what_dead_writers_left_and_nothing_else(store: Store, draft: MakeDraft) -> None:
    kept = [store.publish(draft(bytes([n]), name=f"n{n}")) for n in range(5)]
    paths = litter(store, draft, age=7200)
    assert collect_garbage(store, grace=3600) == Garbage(manifests=1, files=2, bytes=17, leases=0)
    assert not any(path.exists() for path in paths)
    assert verify(store).findings == () and len(store.find()) == len(kept)


def test_gc_spares_what_is_younger_than_the_grace_period(store: Store, draft: MakeDraft) -> None:
    paths = litter(store, draft, age=60)
    assert collect_garbage(store, grace=3600) == Garbage()
    assert all(path.exists() for path in paths)


def test_a_dry_run_says_what_would_go_and_removes_nothing(store: Store, draft: MakeDraft) -> None:
    paths = litter(store, draft, age=7200)
    assert collect_garbage(store, grace=3600, dry_run=True) == Garbage(1, 2, 17, 0)
    assert all(path.exists() for path in paths)


def test_gc_without_grace_spares_files_under_a_live_lease_and_clears_those_of_the_dead(
    store: Store, draft: MakeDraft, home: Path
) -> None:
    with write_lease(home / "leases"):
        paths = litter(store, draft, age=0)
        (lease,) = (home / "leases").glob("*.json")
        stale = lease.with_name("stale.json")
        of_a_push = home / "leases" / "push" / "place" / "stale.json"
        of_a_push.parent.mkdir(parents=True)
        for path in (stale, of_a_push):
            path.write_text(lease.read_text().replace(f'"pid": {os.getpid()}', '"pid": 99999999'))
        assert collect_garbage(store, grace=0) == Garbage(leases=2)
        assert all(path.exists() for path in paths) and lease.exists()
    assert collect_garbage(store, grace=0).files == 2


@pytest.mark.parametrize(("age", "stays"), [(1.0, True), (120.0, False)])
def test_gc_without_grace_spares_a_lease_that_is_being_written(
    store: Store, home: Path, age: float, stays: bool
) -> None:
    lease = home / "leases" / "new.draft"
    lease.parent.mkdir(exist_ok=True)
    lease.write_text("{")
    os.utime(lease, (time.time() - age, time.time() - age))
    collect_garbage(store, grace=0)
    assert lease.exists() == stays


def test_gc_among_publishers_takes_nothing_that_is_acknowledged(store: Store, draft: MakeDraft) -> None:
    """The same bytes are published and deleted over and over while gc runs without any grace."""
    drafts = [[draft(b"shared", name=f"t{thread}-{n}") for n in range(6)] for thread in range(3)]
    stop = threading.Event()
    problems: list[str] = []

    def publish(own: list[Draft]) -> None:
        for each in own:
            made = store.publish(each)
            if not store.path_of(made.files[0].digest).exists():
                problems.append(made.uuid)
            store.delete([made.uuid])

    def collect() -> None:
        while not stop.is_set():
            collect_garbage(store, grace=0)

    collector = threading.Thread(target=collect)
    publishers = [threading.Thread(target=publish, args=(own,)) for own in drafts]
    for thread in (collector, *publishers):
        thread.start()
    for thread in publishers:
        thread.join()
    stop.set()
    collector.join()
    assert problems == [] and store.find(all_versions=True) == []
    collect_garbage(store, grace=0)
    assert [path for path in store.parts.content.root.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda path, manifest: path.unlink(), "is missing"),
        (lambda path, manifest: (path.chmod(0o644), path.write_bytes(b"lEaf")), "bytes of file"),
        (lambda path, manifest: (path.chmod(0o644), path.write_bytes(b"leaf leaf")), "instead of 4"),
        (lambda path, manifest: manifest.unlink(), "no manifest"),
        (lambda path, manifest: manifest.write_text("{"), "not JSON"),
        (lambda path, manifest: manifest.write_text(manifest.read_text().replace("leaves", "xeaves")), "was changed"),
    ],
)
def test_verify_finds_what_is_damaged(
    store: Store, draft: MakeDraft, harm: Callable[[Path, Path], object], words: str
) -> None:
    hurt, _whole = store.publish(draft(b"leaf")), store.publish(draft(b"whole", name="whole"))
    assert verify(store).findings == ()
    harm(store.path_of(hurt.files[0].digest), store.parts.manifests.path_of(hurt.uuid))
    heard: list[tuple[int, int]] = []
    report = verify(store, on_progress=lambda done, total: heard.append((done, total)))
    assert {finding.bundle for finding in report.findings} == {hurt.uuid} and words in report.findings[0].what
    assert (report.bundles, report.files, heard[-1]) == (2, 2, (9, 9))


def test_a_lost_index_is_rebuilt_from_the_manifests(store: Store, draft: MakeDraft) -> None:
    contexts = Contexts(store)
    contexts.create("field")
    old = store.publish(draft(b"1", key="k", tags={"a": "b"}, project="p"), context="field")
    new = store.publish(draft(b"2", lineage=made_from(old), derived=True))
    store.tag(new.uuid, {"stage": "good"})
    gone = store.publish(draft(b"3", name="gone"))
    store.delete([gone.uuid])
    before = [bundle.to_json() for bundle in store.find(all_versions=True)]
    graph = store.lineage(new.uuid)
    with store.database.write() as conn:
        conn.execute(delete(bundles))
        conn.execute(delete(tombstones))
    report = rebuild(store)
    assert (report.bundles, report.tombstones, report.problems) == (2, 1, ())
    assert [bundle.to_json() for bundle in store.find(all_versions=True)] == before
    assert store.lineage(new.uuid) == graph and verify(store).findings == ()


def test_a_rebuild_keeps_contexts_and_reports_what_it_cannot_read(store: Store, draft: MakeDraft) -> None:
    Contexts(store).create("field")
    inside, hurt = store.publish(draft(b"1"), context="field"), store.publish(draft(b"2", name="hurt"))
    store.parts.manifests.path_of(hurt.uuid).write_text("{")
    report = rebuild(store)
    assert report.bundles == 1 and len(report.problems) == 1
    assert store.find(context="field") == [inside] and store.find(context="local") == []


def test_a_rebuild_leaves_what_is_being_published_to_its_publisher(
    store: Store, draft: MakeDraft, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_all = Manifests.write_all

    def write_then_rebuild(manifests: Manifests, made: Iterable[Bundle]) -> list[Written]:
        written = write_all(manifests, made)
        assert rebuild(store).bundles == 0
        return written

    monkeypatch.setattr(Manifests, "write_all", write_then_rebuild)
    made = store.publish(draft(b"new"))
    assert store.find() == [made] and verify(store).findings == ()
