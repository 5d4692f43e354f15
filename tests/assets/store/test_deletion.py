"""rm is real: whoever deletes is told the truth about the bytes."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import delete

from seedbed.assets.db.tables import bundles
from seedbed.assets.store.bundle import ArrayType, Draft, DraftArray
from seedbed.assets.store.contexts import Contexts
from seedbed.assets.store.gc import collect_garbage
from seedbed.assets.store.home import open_home
from seedbed.assets.store.leases import write_lease
from seedbed.assets.store.rebuild import rebuild
from seedbed.assets.store.remote import Remote, flush_deletions
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


def test_files_that_other_bundles_have_too_are_counted_and_their_keepers_named(store: Store, draft: MakeDraft) -> None:
    first, other = store.publish(draft(SECRET, name="first")), store.publish(draft(SECRET, name="other"))
    arrays = {"files": draft(SECRET).arrays["files"], "rest": draft(b"alone").arrays["files"]}
    gone = store.delete([store.publish(Draft("both", "files", arrays)).uuid])
    assert (gone.files, gone.shared) == (1, 1)
    assert [(keeper.name, keeper.uuid) for keeper in gone.keepers] == [("first", first.uuid), ("other", other.uuid)]
    store.delete([first.uuid])
    last = store.delete([other.uuid])
    assert (last.files, last.shared, last.keepers) == (1, 0, ())


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


def test_bytes_that_a_live_writer_spares_are_owned_up_to_and_go_when_a_writer_ends(
    store: Store, home: Path, draft: MakeDraft
) -> None:
    with write_lease(home / "leases"):  # of somebody who has nothing to do with this bundle
        data = store.publish(draft(SECRET), consume=True)
        gone = store.delete([data.uuid])
        assert (gone.files, gone.bytes) == (0, 0) and "still on disk" in gone.waiting[0]
        assert len(holds(home, SECRET)) == 1
        collect_garbage(store, grace=0)
        assert store.parts.manifests.path_of(data.uuid).exists(), "the only record of what is left"
    store.publish(draft(b"anything", name="next"))
    assert holds(home, SECRET) == [] and not store.parts.manifests.path_of(data.uuid).exists()


@pytest.mark.parametrize("how", ["open", "delete", "gc", "rebuild"])
def test_a_deletion_that_had_to_wait_is_finished_by_whoever_comes_next(
    store: Store, home: Path, draft: MakeDraft, how: str
) -> None:
    other = store.publish(draft(b"other", name="other"))
    with write_lease(home / "leases"):
        data = store.publish(draft(SECRET), consume=True)
        assert store.delete([data.uuid]).waiting
    url = store.database.engine.url.render_as_string(hide_password=False)
    next_one: dict[str, Callable[[], object]] = {
        "open": lambda: open_home(home, url).dispose(),
        "delete": lambda: store.delete([other.uuid]),
        "gc": lambda: collect_garbage(store),
        "rebuild": lambda: rebuild(store),
    }
    assert len(holds(home, SECRET)) == 1
    next_one[how]()
    assert holds(home, SECRET) == []


def die(*_: object, **__: object) -> None:
    """As if the process were killed here."""
    raise KeyboardInterrupt


def killed_before_the_commit(store: Store, uuid: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deletion whose process dies when its tombstone is on disk and its rows are not committed."""
    bury = store.parts.manifests.__class__.bury

    def bury_and_die(*args: object, **more: object) -> None:
        bury(*args, **more)  # type: ignore[arg-type]
        die()

    with monkeypatch.context() as patch:
        patch.setattr(store.parts.manifests.__class__, "bury", bury_and_die)
        patch.setattr(store.parts.manifests.__class__, "unbury", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            store.delete([uuid])
    assert list(store.parts.manifests.buried()) == [uuid]


@pytest.mark.parametrize("between", ["nothing", "gc", "open"])
def test_a_deletion_that_died_before_its_commit_takes_nothing_away(
    store: Store, home: Path, draft: MakeDraft, monkeypatch: pytest.MonkeyPatch, between: str
) -> None:
    data = store.publish(draft(b"alive"))
    killed_before_the_commit(store, data.uuid, monkeypatch)
    if between == "gc":
        collect_garbage(store, grace=0)
    if between == "open":
        open_home(home, store.database.engine.url.render_as_string(hide_password=False)).dispose()
    assert (store.parts.manifests.buried() == {}) == (between != "nothing")
    assert rebuild(store).bundles == 1 and store.parts.manifests.buried() == {}
    collect_garbage(store, grace=0)
    assert store.find() == [data] and verify(store).findings == ()
    store.delete([data.uuid])
    assert rebuild(store).bundles == 0


def test_a_tombstone_that_a_crash_tore_buries_nobody_even_when_the_index_is_lost(
    store: Store, draft: MakeDraft
) -> None:
    data = store.publish(draft(b"alive"))
    store.parts.manifests.tombstones.mkdir(exist_ok=True)
    (store.parts.manifests.tombstones / f"{data.uuid}.json").write_text("")
    with store.database.write() as conn:
        conn.execute(delete(bundles))
    assert rebuild(store).bundles == 1 and store.find() == [data]


def test_copies_at_a_remote_that_the_context_has_left_go_too(store: Store, draft: MakeDraft, tmp_path: Path) -> None:
    contexts, places = Contexts(store), [tmp_path / "first", tmp_path / "second"]
    data = store.publish(draft(SECRET))
    for place in places:
        contexts.set_remote("local", str(place))
        assert contexts.get("local").pushed == 0
        push(store)
        assert contexts.get("local").pushed == 1
    contexts.set_remote("local", "")
    assert [len(holds(place, SECRET)) for place in places] == [1, 1]
    assert store.delete([data.uuid]).remotes == tuple(str(place) for place in places)
    assert [holds(place, SECRET) for place in places] == [[], []]


def test_copies_of_a_context_that_was_forgotten_go_too(store: Store, draft: MakeDraft, tmp_path: Path) -> None:
    Contexts(store).create("field", str(tmp_path / "remote"))
    data = store.publish(draft(SECRET), context="field")
    push(store, "field")
    Contexts(store).delete("field")
    store.delete([data.uuid])
    assert holds(tmp_path / "remote", SECRET) == []


def test_files_that_an_interrupted_push_sent_go_with_their_bundle(
    store: Store, draft: MakeDraft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = tmp_path / "remote"
    Contexts(store).set_remote("local", str(remote))
    data = store.publish(draft(SECRET))
    with monkeypatch.context() as patch:
        patch.setattr(Remote, "put_manifest", die)
        with pytest.raises(KeyboardInterrupt):
            push(store)
    assert len(holds(remote, SECRET)) == 1 and Contexts(store).get("local").pushed == 0
    assert store.delete([data.uuid]).waiting == ()
    assert holds(remote, SECRET) == []


def test_a_bundle_that_is_deleted_while_it_is_pushed_is_left_out_and_leaves_nothing(
    store: Store, home: Path, draft: MakeDraft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = tmp_path / "remote"
    Contexts(store).set_remote("local", str(remote))
    data, kept = store.publish(draft(SECRET)), store.publish(draft(b"kept", name="kept"))
    put = Remote.put_files
    said: list[str] = []

    def delete_then_put(self: Remote, files: dict[str, Path]) -> None:
        copies = {digest: tmp_path / digest for digest in files}  # what the push had already read
        for digest, path in files.items():
            copies[digest].write_bytes(path.read_bytes())
        if not said:
            said.extend(store.delete([data.uuid]).waiting)
        put(self, copies)
        for path in copies.values():
            path.unlink()

    with monkeypatch.context() as patch:
        patch.setattr(Remote, "put_files", delete_then_put)
        assert push(store).bundles == 1
    assert "on their way" in said[0]
    assert holds(remote, SECRET) == [] and Remote(str(remote)).manifests() == {kept.uuid}
    assert flush_deletions(store.parts) == []


def test_a_bundle_that_is_deleted_before_its_turn_in_a_push_is_skipped(
    store: Store, draft: MakeDraft, tmp_path: Path
) -> None:
    Contexts(store).set_remote("local", str(tmp_path / "remote"))
    made = [store.publish(draft(bytes([n]), name=f"n{n}")) for n in range(3)]

    def delete_the_second(done: int, _total: int) -> None:
        if done == 1:
            store.delete([made[1].uuid])

    assert push(store, on_progress=delete_the_second).bundles == 2
    assert Remote(str(tmp_path / "remote")).manifests() == {made[0].uuid, made[2].uuid}


def test_a_bundle_whose_files_go_while_they_are_sent_ends_no_push(
    store: Store, draft: MakeDraft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Contexts(store).set_remote("local", str(tmp_path / "remote"))
    data, put = store.publish(draft(SECRET)), Remote.put_files

    def delete_then_put(self: Remote, files: dict[str, Path]) -> None:
        store.delete([data.uuid])
        put(self, files)

    monkeypatch.setattr(Remote, "put_files", delete_then_put)
    assert push(store).bundles == 0
    assert holds(tmp_path / "remote", SECRET) == []
