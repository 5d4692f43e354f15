"""Disks forget: what is damaged or missing is noticed, refused, and brought back."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from seedbed.assets.db.engine import Database
from seedbed.assets.store.bundle import ArrayType, Bundle, Draft, DraftArray
from seedbed.assets.store.contexts import Contexts
from seedbed.assets.store.store import Store
from seedbed.assets.store.transfer import Transfer, pull, push
from seedbed.assets.store.verify import verify
from seedbed.base.errors import Damaged, InvalidInput

MakeDraft = Callable[..., Draft]
Hurt = Callable[[Path], object]


def flip(path: Path) -> None:
    """Other bytes, as many."""
    path.chmod(0o644)
    path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))


def cut(path: Path) -> None:
    """Fewer bytes."""
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1])


def lose(path: Path) -> None:
    """No bytes."""
    path.unlink()


@pytest.fixture
def store(sqlite_url: str, home: Path) -> Iterator[Store]:
    """Bytes do not depend on the database."""
    database = Database(sqlite_url)
    yield Store(database, home)
    database.dispose()


@pytest.fixture
def pushed(store: Store, draft: MakeDraft, tmp_path: Path) -> Bundle:
    """A bundle of two files that has a copy at a remote."""
    Contexts(store).set_remote("local", str(tmp_path / "remote"))
    arrays = {"files": draft(b"leaf").arrays["files"], "more": draft(b"root").arrays["files"]}
    made = store.publish(Draft("plants", "files", arrays))
    push(store)
    return made


def file_of(store: Store, bundle: Bundle) -> Path:
    return store.path_of(bundle.arrays["files"].files[0].digest)


@pytest.mark.parametrize("hurt", [cut, lose])
def test_pull_brings_back_files_of_a_bundle_that_is_here(store: Store, pushed: Bundle, hurt: Hurt) -> None:
    hurt(file_of(store, pushed))
    assert pull(store) == Transfer(bundles=0, files=1, bytes=4, deleted=0, healed=1)
    assert verify(store).findings == () and file_of(store, pushed).stat().st_mode & 0o222 == 0
    assert pull(store) == Transfer(0, 0, 0, 0, 0)


@pytest.mark.parametrize("how", ["check", "verify"])
def test_pull_brings_back_changed_bytes_once_they_are_looked_for_or_known(
    store: Store, pushed: Bundle, how: str
) -> None:
    flip(file_of(store, pushed))
    if how == "verify":
        assert len(verify(store).findings) == 1
    assert pull(store, check=how == "check").healed == 1
    assert verify(store).findings == () and pull(store).healed == 0


def test_pull_brings_back_a_manifest(store: Store, pushed: Bundle) -> None:
    store.tag(pushed.uuid, {"a": "b"})
    for hurt in (lose, flip):
        hurt(store.parts.manifests.path_of(pushed.uuid))
        assert len(verify(store).findings) == 1
        assert pull(store, check=hurt is flip).healed == 1
        assert verify(store).findings == () and store.get("plants").to_json() == {
            **pushed.to_json(),
            "tags": {"a": "b"},
        }


def test_pull_says_which_bundle_cannot_be_healed_and_heals_the_others(
    store: Store, pushed: Bundle, draft: MakeDraft, tmp_path: Path
) -> None:
    other = store.publish(draft(b"other", name="other"))
    push(store)
    for made in (pushed, other):
        file_of(store, made).unlink()
    digest = other.files[0].digest
    (tmp_path / "remote" / "files" / digest[:2] / digest).unlink()
    with pytest.raises(Damaged) as error:
        pull(store)
    assert len(error.value.problems) == 1 and "'other'" in error.value.problems[0]
    assert [finding.name for finding in verify(store).findings] == ["other"]


@pytest.mark.parametrize("hurt", [flip, cut, lose])
def test_push_with_check_mends_what_is_damaged_at_the_remote(
    store: Store, pushed: Bundle, tmp_path: Path, hurt: Hurt
) -> None:
    digest = pushed.files[0].digest
    hurt(tmp_path / "remote" / "files" / digest[:2] / digest)
    assert push(store, check=True) == Transfer(bundles=0, files=1, bytes=4, deleted=0, healed=1)
    assert push(store, check=True).healed == 0
    flip(tmp_path / "remote" / "manifests" / f"{pushed.uuid}.json")
    assert push(store, check=True) == Transfer(bundles=0, files=0, bytes=0, deleted=0, healed=1)


@pytest.mark.parametrize("hurt", [flip, cut, lose])
@pytest.mark.parametrize("consume", [False, True])
def test_adding_the_same_bytes_again_heals_what_was_stored(
    store: Store, draft: MakeDraft, hurt: Hurt, consume: bool
) -> None:
    first = store.publish(draft(b"leaf", name="first"))
    hurt(store.path_of(first.files[0].digest))
    store.publish(draft(b"leaf", name="second"), consume=consume)
    assert verify(store).findings == ()
    assert store.path_of(first.files[0].digest).stat().st_mode & 0o222 == 0


@pytest.mark.parametrize("hurt", [flip, cut, lose])
def test_a_damaged_file_does_not_leave_the_store(store: Store, draft: MakeDraft, tmp_path: Path, hurt: Hurt) -> None:
    made = store.publish(draft(b"leaf"))
    hurt(store.path_of(made.files[0].digest))
    with pytest.raises(Damaged, match="seedbed store pull") as error:
        store.checkout(made, tmp_path / "out")
    assert made.files[0].digest[:12] in error.value.message
    assert not (tmp_path / "out" / "files" / "a.bin").exists()
    with pytest.raises(Damaged):
        store.checked_path_of(made.files[0].digest)


@pytest.mark.parametrize("hurt", [cut, lose])
def test_a_job_gets_no_input_of_another_size(store: Store, draft: MakeDraft, tmp_path: Path, hurt: Hurt) -> None:
    made = store.publish(draft(b"leaf"))
    hurt(store.path_of(made.files[0].digest))
    with pytest.raises(Damaged):
        store.checkout(made, tmp_path / "run", links=True)


def test_a_job_gets_no_input_that_is_known_to_be_damaged_until_it_is_whole_again(
    store: Store, draft: MakeDraft, tmp_path: Path
) -> None:
    made = store.publish(draft(b"leaf"))
    path = store.path_of(made.files[0].digest)
    flip(path)
    verify(store)
    with pytest.raises(Damaged):
        store.checkout(made, tmp_path / "run", links=True)
    flip(path)
    path.chmod(0o444)
    verify(store)
    assert (store.checkout(made, tmp_path / "again", links=True) / "files" / "a.bin").stat().st_nlink == 2


def test_a_new_bundle_cannot_refer_to_a_file_that_is_known_to_be_damaged(store: Store, draft: MakeDraft) -> None:
    made = store.publish(draft(b"leaf"))
    cut(store.path_of(made.files[0].digest))
    with pytest.raises(Damaged, match="is damaged"):
        store.publish(Draft("copy", "files", {"files": DraftArray(ArrayType.FILE, made.files)}))


def test_what_is_deleted_is_not_remembered_as_damaged(store: Store, draft: MakeDraft) -> None:
    made = store.publish(draft(b"leaf"))
    flip(store.path_of(made.files[0].digest))
    verify(store)
    assert [path.name for path in store.parts.content.damaged.iterdir()] == [made.files[0].digest]
    store.delete([made.uuid])
    assert list(store.parts.content.damaged.iterdir()) == []


@pytest.mark.parametrize("name", ["../x", "a/b", ".", "..", "a?b", "a#b", "a\\b", "a\nb", "a\x7f"])
def test_names_that_no_address_can_carry_are_refused(store: Store, draft: MakeDraft, name: str) -> None:
    with pytest.raises(InvalidInput) as error:
        store.publish(draft(name=name))
    assert "the name" in error.value.problems[0]
    with pytest.raises(InvalidInput):
        Contexts(store).create(name)


@pytest.mark.parametrize("name", ["leaves.model", "Blätter 2024", "a..b", "columns image, label", "100% rust", "..."])
def test_names_that_people_give_are_taken(store: Store, draft: MakeDraft, name: str) -> None:
    assert store.get(store.publish(draft(name=name)).name).name == name
    assert Contexts(store).create(name).name == name
