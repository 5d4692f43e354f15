"""What tests of the store share."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from seedbed.assets.db.engine import Database
from seedbed.assets.store.bundle import ArrayType, Draft, DraftArray
from seedbed.assets.store.store import Store
from seedbed.base.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands still until it is moved."""
    return ManualClock(1000.0)


@pytest.fixture
def store(database: Database, home: Path) -> Store:
    """A store on each database."""
    return Store(database, home)


@pytest.fixture
def other_store(sqlite_template: Path, tmp_path: Path) -> Iterator[Store]:
    """A store in another home, as somebody else has it."""
    home = tmp_path / "other"
    home.mkdir()
    shutil.copyfile(sqlite_template, home / "seedbed.db")
    database = Database(f"sqlite:///{home / 'seedbed.db'}")
    yield Store(database, home)
    database.dispose()


@pytest.fixture
def draft(tmp_path: Path) -> Callable[..., Draft]:
    """Makes drafts with one file of the given bytes."""

    def make(content: bytes = b"leaf", *, name: str = "leaves", kind: str = "files", **more: object) -> Draft:
        folder = tmp_path / "sources"
        folder.mkdir(exist_ok=True)
        path = folder / f"{len(list(folder.iterdir()))}.bin"
        path.write_bytes(content)
        arrays = {"files": DraftArray.of_files({"a.bin": path}), "n": DraftArray(ArrayType.INT, (len(content),))}
        return Draft(name, kind, arrays, **more)  # type: ignore[arg-type]

    return make
