"""rm is real: whoever deletes is told the truth about the bytes."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from seedbed.assets.store.bundle import ArrayType, Draft, DraftArray
from seedbed.assets.store.contexts import Contexts
from seedbed.assets.store.gc import collect_garbage
from seedbed.assets.store.leases import write_lease
from seedbed.assets.store.rebuild import rebuild
from seedbed.assets.store.store import Store
from seedbed.assets.store.transfer import push
from seedbed.assets.store.verify import verify
from seedbed.base.errors import Conflict, DiskFull
from seedbed.testing.stores import made_from

MakeDraft = Callable[..., Draft]
SECRET = b"the face of a person who asked to be forgotten 7f3a"


def holds(folder: Path, needle: bytes) -> list[str]:
    """The files under a folder that hold some bytes, found by reading every one of them."""
    found = subprocess.run(
        ["grep", "-rlaF", needle.decode(), str(folder)], capture_output=True, text=True, check=False
    ).stdout
    return found.split()


def test_after_rm_the_bytes_are_nowhere_in_the_home_nor_at_the_remote(
    store: Store, home: Path, draft: MakeDraft, tmp_path: Path
) -> None:
    Contexts(store).set_remote("local", str(tmp_path / "remote"))
    data = store.publish(draft(SECRET, name="data"), consume=True)
    for name in ("thumbnails", "cache", "embeddings"):
        store.publish(draft(SECRET + name.encode(), name=name, derived=True, lineage=made_from(data)), consume=True)
    push(store)
    assert len(holds(home, SECRET)) == 4 and len(holds(tmp_path / "remote", SECRET)) == 4
    gone = store.delete([data.uuid])
    assert holds(home, SECRET) == [] and holds(tmp_path / "remote", SECRET) == []
    assert len(gone.bundles) == 4 and gone.files == 4 and gone.waiting == ()


def test_a_remote_that_cannot_be_reached_is_cleaned_when_it_can(
    store: Store, home: Path, draft: MakeDraft, tmp_path: Path
) -> None:
    remote, away = tmp_path / "remote", tmp_path / "away"
    Contexts(store).set_remote("local", str(remote))
    data = store.publish(draft(SECRET), consume=True)
    push(store)
    remote.rename(away)
    remote.write_text("in the way")
    assert len(store.delete([data.uuid]).waiting) == 1
    assert holds(home, SECRET) == [] and holds(away, SECRET) != []
    remote.unlink()
    away.rename(remote)
    collect_garbage(store)
    assert holds(remote, SECRET) == []


def test_a_file_shared_at_the_remote_with_a_bundle_of_somebody_else_stays(
    store: Store, draft: MakeDraft, tmp_path: Path, other_store: Store
) -> None:
    for each in (store, other_store):
        Contexts(each).set_remote("local", str(tmp_path / "remote"))
    mine, theirs = store.publish(draft(SECRET)), other_store.publish(draft(SECRET, name="theirs"))
    push(store)
    push(other_store)
    store.delete([mine.uuid])
    assert len(holds(tmp_path / "remote", SECRET)) == 1
    other_store.delete([theirs.uuid])
    assert holds(tmp_path / "remote", SECRET) == []


def test_a_deletion_that_was_cut_short_is_finished_by_gc_without_a_grace_period(
    store: Store, home: Path, draft: MakeDraft, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = store.publish(draft(SECRET), consume=True)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("seedbed.assets.store.deletion.sweep", die)
        with pytest.raises(KeyboardInterrupt):
            store.delete([data.uuid])
    assert holds(home, SECRET) != []
    collect_garbage(store)
    assert holds(home, SECRET) == []


def test_a_deletion_that_fails_leaves_no_tombstone(
    store: Store, draft: MakeDraft, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = store.publish(draft(b"kept"))

    def full(*_: object, **__: object) -> None:
        raise DiskFull("no room")

    with monkeypatch.context() as patch:
        patch.setattr(store.parts.manifests.__class__, "bury", full)
        with pytest.raises(DiskFull):
            store.delete([data.uuid])
    assert store.parts.manifests.buried() == {} and store.get(data.uuid) and verify(store).findings == ()


def test_what_was_deleted_stays_deleted_when_the_index_is_rebuilt(store: Store, draft: MakeDraft) -> None:
    kept, gone = store.publish(draft(b"kept")), store.publish(draft(b"gone", name="gone"))
    manifest = store.parts.manifests.path_of(gone.uuid).read_bytes()
    store.delete([gone.uuid])
    store.parts.manifests.path_of(gone.uuid).write_bytes(manifest)  # as if the disk had brought it back
    assert rebuild(store).bundles == 1
    assert store.find(all_versions=True) == [kept]


def test_a_uuid_that_was_deleted_cannot_be_used_again(store: Store, draft: MakeDraft) -> None:
    gone = store.publish(draft(b"gone"))
    store.delete([gone.uuid])
    with pytest.raises(Conflict, match="used before"):
        store.publish(draft(b"back", uuid=gone.uuid))


def test_bytes_that_a_writer_is_bringing_in_now_are_spared(store: Store, draft: MakeDraft, home: Path) -> None:
    data = store.publish(draft(SECRET), consume=True)
    files = data.files
    with write_lease(home / "leases"):
        store.parts.content.touch(data.files[0].digest)
        store.delete([data.uuid])
        assert len(holds(home, SECRET)) == 1
        again = store.publish(Draft("again", "files", {"files": DraftArray(ArrayType.FILE, files)}))
    assert store.path_of(again.files[0].digest).read_bytes() == SECRET
