"""A full disk stops writing with a sentence and loses nothing."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from seedbed.assets.store.backup import backup
from seedbed.assets.store.bundle import Draft
from seedbed.assets.store.home import open_home
from seedbed.assets.store.store import Store
from seedbed.assets.store.verify import verify
from seedbed.base.errors import DiskFull

MakeDraft = Callable[..., Draft]
_SIZE = 8 << 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MiB; making one needs to be root, with the right to mount."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("A small file system cannot be mounted here, so the test of a full disk is left out.")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_publishing_on_a_full_disk_says_so_and_loses_nothing(small_disk: Path, draft: MakeDraft) -> None:
    database = open_home(small_disk / "home")
    store = Store(database, small_disk / "home")
    kept = []
    with pytest.raises(DiskFull, match="full"):
        for n in range(100):
            kept.append(store.publish(draft(os.urandom(100_000), name=f"n{n}")))
    assert len(kept) > 5
    assert {bundle.uuid for bundle in store.find()} == {bundle.uuid for bundle in kept}
    assert shutil.disk_usage(small_disk).free > 0.04 * _SIZE  # kept for what comes now
    assert verify(store).findings == () and list((small_disk / "home" / "files" / ".incoming").iterdir()) == []
    assert store.events.last() == len(kept)
    store.delete([kept.pop().uuid for _ in range(6)])  # making room
    kept.append(store.publish(draft(os.urandom(50_000), name="fits")))
    assert len(store.find()) == len(kept) and verify(store).findings == ()
    database.dispose()


def test_a_full_database_disk_says_so_and_loses_nothing(small_disk: Path, draft: MakeDraft, tmp_path: Path) -> None:
    """Only the database lies on the small disk; the files have room."""
    database = open_home(tmp_path / "home", f"sqlite:///{small_disk / 'seedbed.db'}")
    store = Store(database, tmp_path / "home")
    kept = [store.publish(draft(b"first", name="first"))]
    free = os.statvfs(small_disk)
    (small_disk / "ballast").write_bytes(bytes(free.f_bavail * free.f_frsize - 40_000))
    with pytest.raises(DiskFull, match="full"):
        for n in range(500):
            kept.append(store.publish(draft(b"x", name=f"n{n}", tags={"long": "y" * 4000})))
    assert {bundle.uuid for bundle in store.find(limit=1000)} == {bundle.uuid for bundle in kept}
    assert {path.stem for path in (tmp_path / "home" / "manifests").glob("??/*.json")} == {b.uuid for b in kept}
    (small_disk / "ballast").unlink()
    kept.append(store.publish(draft(b"y", name="fits")))
    assert len(store.find(limit=1000)) == len(kept) and verify(store).findings == ()
    database.dispose()


def test_a_backup_that_does_not_fit_leaves_nothing_behind(small_disk: Path, store: Store, draft: MakeDraft) -> None:
    store.publish(draft(os.urandom(_SIZE + 1)))
    with pytest.raises(DiskFull, match="full"):
        backup(store, small_disk / "backup.tar")
    assert list(small_disk.iterdir()) == []


def test_a_disk_that_fills_up_in_the_middle_of_a_copy_leaves_nothing_of_it(
    small_disk: Path, draft: MakeDraft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when somebody else takes the room that was free a moment ago."""
    monkeypatch.setattr("seedbed.assets.store.publish.keep_reserve", lambda *_: None)
    database = open_home(tmp := small_disk / "home")
    store = Store(database, tmp)
    kept = store.publish(draft(b"kept", name="kept"))
    with pytest.raises(DiskFull, match="full"):
        store.publish(draft(os.urandom(_SIZE)))
    assert store.find(all_versions=True) == [kept] and verify(store).findings == ()
    assert len([path for path in (tmp / "files").rglob("*") if path.is_file()]) == 1
    assert list((tmp / "leases").iterdir()) == []
    database.dispose()
