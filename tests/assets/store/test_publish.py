"""Publishing: how files come in, and drafts as folders."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from seedbed.assets.store.bundle import ArrayType, Draft, DraftArray, DraftFile, FileLink
from seedbed.assets.store.store import Store
from seedbed.base.errors import Conflict, InvalidInput, NotFound, Unsafe
from seedbed.base.ids import digest_of_bytes, new_id

MakeDraft = Callable[..., Draft]


def stored(home: Path) -> list[Path]:
    """Every file of the store."""
    return sorted(path for path in (home / "files").rglob("*") if path.is_file())


def test_no_byte_is_stored_twice_and_stored_files_are_read_only(store: Store, home: Path, draft: MakeDraft) -> None:
    for name in ("one", "two", "three"):
        store.publish(draft(b"same", name=name), consume=name == "three")
    (path,) = stored(home)
    assert path.name == digest_of_bytes(b"same") and path.stat().st_mode & 0o777 == 0o444


def test_consuming_moves_the_file_without_copying_it(store: Store, draft: MakeDraft) -> None:
    each = draft(b"large")
    (item,) = each.arrays["files"].items
    assert isinstance(item, DraftFile)
    inode = item.path.stat().st_ino
    made = store.publish(each, consume=True)
    assert not item.path.exists() and store.path_of(made.files[0].digest).stat().st_ino == inode


def test_without_consuming_the_source_stays_and_is_not_tied_to_the_store(store: Store, draft: MakeDraft) -> None:
    each = draft(b"mine")
    (item,) = each.arrays["files"].items
    assert isinstance(item, DraftFile)
    made = store.publish(each)
    item.path.write_bytes(b"changed by its owner")
    assert store.path_of(made.files[0].digest).read_bytes() == b"mine"


def test_a_new_version_shares_stored_files_without_having_them(store: Store, home: Path, draft: MakeDraft) -> None:
    first = store.publish(draft(b"old"))
    second = store.publish(Draft("leaves", "files", {"files": DraftArray(ArrayType.FILE, first.files)}))
    assert second.files == first.files and len(stored(home)) == 1
    unknown = FileLink("x", digest_of_bytes(b"never seen"), 1)
    with pytest.raises(InvalidInput, match="not in the store"):
        store.publish(Draft("leaves", "files", {"files": DraftArray(ArrayType.FILE, (unknown,))}))
    outside = FileLink("x", "../../../secret", 1)
    with pytest.raises(InvalidInput, match="cannot be published"):
        store.publish(Draft("leaves", "files", {"files": DraftArray(ArrayType.FILE, (outside,))}))


def test_many_files_come_in_with_their_order(store: Store, tmp_path: Path) -> None:
    paths = {f"sub/{n}.txt": tmp_path / f"{n}.txt" for n in range(40)}
    for n, path in enumerate(paths.values()):
        path.write_text(str(n))
    made = store.publish(Draft("many", "files", {"files": DraftArray.of_files(paths)}))
    assert [link.name for link in made.files] == list(paths)
    out = store.checkout(made, tmp_path / "out")
    assert all((out / "files" / name).read_text() == name[4:-4] for name in paths)


def test_a_refused_publication_leaves_no_file(store: Store, home: Path, draft: MakeDraft) -> None:
    with pytest.raises(NotFound, match="no context"):
        store.publish(draft(b"x"), context="nowhere")
    assert stored(home) == [] and list(store.parts.manifests.uuids()) == []


def test_drafts_of_one_batch_may_refer_to_each_other(store: Store, draft: MakeDraft) -> None:
    uuid = new_id()
    link = Draft("link", "links", {"to": DraftArray(ArrayType.BUNDLE, (uuid,))})
    first, second = store.publish_many([draft(b"x", uuid=uuid), link])
    assert first.uuid == uuid and second.arrays["to"].items == (uuid,)
    with pytest.raises(Conflict, match="used before"):
        store.publish(draft(b"y", uuid=uuid))


def test_a_draft_survives_its_folder(store: Store, tmp_path: Path) -> None:
    outbox = tmp_path / "outbox"
    outbox.mkdir()
    (outbox / "w.bin").write_bytes(b"weights")
    arrays = {
        "weights": DraftArray.of_files({"model.bin": outbox / "w.bin"}),
        "accuracy": DraftArray(ArrayType.FLOAT, (0.5, float("nan"))),
    }
    Draft("model", "model", arrays, tags={"a": "b"}, derived=True).write(outbox)
    made = store.publish(Draft.read(outbox), consume=True)
    assert made.files[0].name == "model.bin" and made.tags == {"a": "b"} and made.derived
    assert str(made.arrays["accuracy"].items) == "(0.5, nan)"


def test_a_draft_cannot_reach_outside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    outbox = tmp_path / "outbox"
    outbox.mkdir()
    (outbox / "link").symlink_to(tmp_path / "secret")
    for path in ("../secret", str(tmp_path / "secret"), "link"):
        sheet = {"name": "x", "kind": "k", "arrays": {"f": {"type": "file", "items": [{"path": path, "name": "n"}]}}}
        (outbox / "bundle.json").write_text(json.dumps(sheet))
        with pytest.raises(Unsafe, match="leads out"):
            Draft.read(outbox)
    (outbox / "bundle.json").write_text("[1]")
    with pytest.raises(InvalidInput, match="does not describe a bundle"):
        Draft.read(outbox)


def test_a_uuid_that_is_taken_does_not_harm_the_bundle_that_has_it(store: Store, home: Path, draft: MakeDraft) -> None:
    made = store.publish(draft(b"first"))
    before = store.parts.manifests.path_of(made.uuid).read_bytes()
    with pytest.raises(Conflict, match="used before"):
        store.publish(draft(b"second", uuid=made.uuid))
    assert store.parts.manifests.path_of(made.uuid).read_bytes() == before and len(stored(home)) == 1


def test_a_publication_cut_short_before_its_commit_can_be_made_again(store: Store, draft: MakeDraft) -> None:
    """With the same uuid: the manifest that the first try left is nobody's."""
    uuid = new_id()
    place = store.parts.manifests.path_of(uuid)
    place.parent.mkdir(parents=True)
    place.write_text("left behind")
    assert store.get(store.publish(draft(b"again", uuid=uuid)).uuid).arrays["n"].items == (5,)
