"""backup and restore keep everything."""

import errno
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from seedbed.assets.db.engine import Database
from seedbed.assets.db.tables import audit, metadata, settings, users
from seedbed.assets.store.backup import backup
from seedbed.assets.store.bundle import Draft
from seedbed.assets.store.content import Content
from seedbed.assets.store.contexts import Contexts
from seedbed.assets.store.home import open_home
from seedbed.assets.store.restore import restore
from seedbed.assets.store.store import Store
from seedbed.assets.store.tables_file import dump_tables
from seedbed.assets.store.verify import verify
from seedbed.base.errors import Conflict, Damaged, NotFound, Unsafe
from seedbed.testing.stores import made_from

MakeDraft = Callable[..., Draft]


def everything(database: Database) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table."""
    with database.read() as conn:
        return {
            table.name: [dict(row) for row in conn.execute(select(table).order_by(*table.primary_key)).mappings()]
            for table in metadata.sorted_tables
        }


@pytest.fixture
def full(store: Store, draft: MakeDraft, home: Path) -> Store:
    """A home with something of everything."""
    Contexts(store).create("field", str(home.parent / "remote"))
    first = store.publish(draft("grün".encode(), key="k", tags={"a": "ü"}), context="field")
    second = store.publish(draft(b"model", name="model", lineage=made_from(first), derived=True))
    store.tag(second.uuid, {"stage": "good"})
    store.delete([store.publish(draft(b"gone", name="gone")).uuid])
    store.events.advance("mail", 2)
    person = {"id": "u", "name": "ann", "role": "viewer", "password": "", "mail": "", "created": 1.5, "disabled": True}
    with store.database.write() as conn:
        conn.execute(insert(users).values(person))
        conn.execute(insert(settings).values(name="cookie", value=b"\x00\xff"))
        conn.execute(insert(audit).values(at=1, who="ann", action="x", subject="", outcome="ok", data={"a": [None]}))
    checkpoint = home / "jobs" / "j1" / "checkpoint" / "000000005"
    checkpoint.mkdir(parents=True)
    (checkpoint / "state").write_bytes(b"weights")
    (home / "jobs" / "j1" / "1").mkdir()
    (home / "jobs" / "j1" / "1" / "log.txt").write_text("it went well")
    (home / "seedbed.toml").write_text("port = 0\n")
    return store


@pytest.mark.parametrize("into", ["sqlite", "postgresql"])
def test_restore_brings_back_everything_on_either_database(
    full: Store, tmp_path: Path, into: str, request: pytest.FixtureRequest
) -> None:
    before = everything(full.database)
    report = backup(full, tmp_path / "backup.tar")
    new = tmp_path / "new"
    url = f"sqlite:///{new / 'seedbed.db'}" if into == "sqlite" else request.getfixturevalue("empty_postgres_url")
    restored = restore(report.path, new, url)
    assert (restored.bundles, restored.problems) == (2, ())
    database = Database(url)
    assert everything(database) == before
    copy = Store(database, new)
    assert verify(copy).findings == () and copy.lineage("model").nodes.keys() == full.lineage("model").nodes.keys()
    assert (new / "jobs" / "j1" / "checkpoint" / "000000005" / "state").read_bytes() == b"weights"
    assert (new / "jobs" / "j1" / "1" / "log.txt").exists() and (new / "seedbed.toml").exists()
    assert all(path.stat().st_mode & 0o222 == 0 for path in (new / "files").glob("??/*"))
    with database.write() as conn:  # what counts by itself counts on
        conn.execute(insert(audit).values(at=2, who="ann", action="y", subject="", outcome="ok", data={}))
        assert copy.events.append(conn, "job.done", "j", {}) == full.events.last() + 1
    database.dispose()


def test_a_bundle_deleted_while_the_backup_runs_is_not_brought_back(
    full: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doomed = full.get("leaves")

    def dump_then_delete(*args: Any) -> int:
        count = dump_tables(*args)
        full.delete([doomed.uuid])
        return count

    monkeypatch.setattr("seedbed.assets.store.backup.dump_tables", dump_then_delete)
    restored = restore(backup(full, tmp_path / "backup.tar").path, tmp_path / "new")
    assert (restored.bundles, restored.problems) == (0, ())  # the model was derived from it


def test_restore_refuses_a_home_that_is_not_empty(full: Store, tmp_path: Path) -> None:
    path = backup(full, tmp_path / "backup.tar").path
    with pytest.raises(Conflict, match="not empty: it has files/"):
        restore(path, full.home, full.database.url)
    with pytest.raises(Conflict, match="not empty: it has bundles and users"):
        restore(path, tmp_path / "fresh", full.database.url)
    with pytest.raises(Conflict, match="already there"):
        backup(full, path)
    with pytest.raises(NotFound, match="no backup"):
        restore(tmp_path / "absent.tar", tmp_path / "new")


def test_only_its_owner_can_read_a_backup(full: Store, tmp_path: Path) -> None:
    assert backup(full, tmp_path / "backup.tar").path.stat().st_mode & 0o077 == 0


def test_a_damaged_backup_restores_the_rest_and_says_what_is_missing(full: Store, tmp_path: Path) -> None:
    path = backup(full, tmp_path / "backup.tar").path
    data = path.read_bytes()
    path.write_bytes(data.replace(b"model\0\0\0", b"mOdel\0\0\0"))
    restored = restore(path, tmp_path / "new")
    assert restored.bundles == 2 and len(restored.problems) == 1
    assert "'model'" in restored.problems[0] and "damaged" in restored.problems[0]
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(Damaged):
        restore(path, tmp_path / "newer")


def spoil(store: Store, name: str) -> Path:
    """Change a byte of a bundle's file, as a failing disk does."""
    path = store.path_of(store.get(name).files[0].digest)
    path.chmod(0o644)
    path.write_bytes(b"X" + path.read_bytes()[1:])
    return path


def test_a_backup_says_what_was_damaged_or_missing_here_and_keeps_the_rest(
    full: Store, draft: MakeDraft, tmp_path: Path
) -> None:
    kept = full.publish(draft(b"kept", name="kept"))
    spoil(full, "model")
    full.path_of(full.get("leaves").files[0].digest).unlink()
    full.parts.manifests.path_of(kept.uuid).write_text("{}")
    report = backup(full, tmp_path / "backup.tar")
    manifest, *files = report.problems
    assert manifest == f"'kept' ({kept.uuid}): its manifest is damaged."
    assert sorted(problem.split(" ")[0] for problem in files) == ["'leaves'", "'model'"]
    assert {problem.split("… ")[1] for problem in files} == {"is damaged.", "is missing."}
    restored = restore(report.path, tmp_path / "new")
    assert restored.bundles == 3 and len(restored.problems) == 3
    assert Content(tmp_path / "new" / "files").holds(kept.files[0].digest, 4)


def test_a_sector_that_cannot_be_read_does_not_cost_the_backup_of_the_rest(
    full: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = full.path_of(full.get("model").files[0].digest)
    opened = Path.open

    class Unreadable(io.FileIO):
        def read(self, *_: object) -> bytes:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def open_badly(path: Path, *args: Any, **more: Any) -> Any:
        return Unreadable(path) if path == bad else opened(path, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", open_badly)
        report = backup(full, tmp_path / "backup.tar")
    assert len(report.problems) == 1 and "'model'" in report.problems[0] and "cannot be read" in report.problems[0]
    restored = restore(report.path, tmp_path / "new")
    assert restored.bundles == 2 and len(restored.problems) == 1


@pytest.mark.parametrize("foreign", ["letter.txt", "manifests/old.json", "seedbed.toml", "photos/a.jpg"])
def test_restore_refuses_a_folder_with_foreign_files_and_leaves_it_as_it_was(
    full: Store, tmp_path: Path, foreign: str
) -> None:
    path = backup(full, tmp_path / "backup.tar").path
    home = tmp_path / "new"
    (home / foreign).parent.mkdir(parents=True)
    (home / foreign).write_text("mine")
    with pytest.raises(Conflict, match=foreign.split("/", maxsplit=1)[0]):
        restore(path, home)
    assert [file for file in home.rglob("*") if file.is_file()] == [home / foreign]


def test_a_home_that_was_opened_and_never_used_can_be_restored_into(full: Store, tmp_path: Path) -> None:
    path = backup(full, tmp_path / "backup.tar").path
    open_home(tmp_path / "new").dispose()
    assert restore(path, tmp_path / "new").problems == ()


def test_a_restore_that_was_cut_short_can_be_started_again(
    full: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = backup(full, tmp_path / "backup.tar").path

    def cut(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("seedbed.assets.store.restore.load_tables", cut)
        with pytest.raises(KeyboardInterrupt):
            restore(path, tmp_path / "new")
    assert restore(path, tmp_path / "new").bundles == 2


def test_a_hostile_backup_cannot_write_outside_the_home(full: Store, tmp_path: Path) -> None:
    path = backup(full, tmp_path / "backup.tar").path
    with tarfile.open(path, "a") as tar:
        (tmp_path / "evil").write_text("evil")
        tar.add(tmp_path / "evil", "jobs/../../out")
    with pytest.raises(Unsafe, match="leads out"):
        restore(path, tmp_path / "new")
    assert not (tmp_path / "out").exists()


def test_the_rows_of_a_backup_can_be_read_without_seedbed(full: Store, tmp_path: Path) -> None:
    with tarfile.open(backup(full, tmp_path / "backup.tar").path) as tar:
        file = tar.extractfile("tables.jsonl")
        assert file is not None
        names = {json.loads(line)[1]["name"] for line in file if line.startswith(b'["bundles"')}
    assert names == {"leaves", "model"}
