"""Opening a home: new, old and newer ones."""

import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from seedbed.assets.db import schema
from seedbed.assets.db.engine import Database
from seedbed.assets.store.bundle import Draft
from seedbed.assets.store.home import open_home
from seedbed.assets.store.store import Store
from seedbed.base.errors import Unavailable, WrongVersion

MakeDraft = Callable[..., Draft]
_LATER = "9999"

_NEXT = '''"""A later change, for this test."""
import sqlalchemy as sa
from alembic import op
revision = "{later}"
down_revision = "{head}"
def upgrade() -> None:
    op.add_column("bundles", sa.Column("colour", sa.Text(), nullable=False, server_default="green"))
def downgrade() -> None:
    op.drop_column("bundles", "colour")
'''


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to have a Seedbed whose schema is one revision ahead."""

    def install() -> None:
        folder = tmp_path / "migrations"
        shutil.copytree(schema.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "versions" / f"{_LATER}_colour.py").write_text(_NEXT.format(later=_LATER, head=schema.head()))
        monkeypatch.setattr(schema, "MIGRATIONS", folder)

    return install


def test_a_new_home_is_made_and_only_its_owner_looks_inside(tmp_path: Path) -> None:
    open_home(tmp_path / "deep" / "home").dispose()
    assert (tmp_path / "deep" / "home").stat().st_mode & 0o077 == 0
    assert (tmp_path / "deep" / "home" / "version").read_text().strip() == "1"
    assert list((tmp_path / "deep" / "home" / "backups").iterdir()) == []


def test_several_processes_may_open_a_new_home_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        for database in pool.map(lambda _: open_home(tmp_path / "home"), range(4)):
            assert schema.revision(database) == schema.head()
            database.dispose()


def test_an_old_home_is_migrated_and_a_copy_of_it_kept(
    database_url: str, home: Path, later: Callable[[], None], draft: MakeDraft
) -> None:
    old, found = open_home(home, database_url), schema.head()
    made = Store(old, home).publish(draft(b"kept"))
    old.dispose()
    later()
    new = open_home(home, database_url)
    with new.read() as conn:
        assert conn.execute(text("SELECT colour FROM bundles")).scalar() == "green"
    assert Store(new, home).get(made.uuid).digest == made.digest
    new.dispose()
    (copy,) = (home / "backups").iterdir()
    if copy.suffix == ".db":
        connection = sqlite3.connect(copy)
        assert connection.execute("SELECT uuid FROM bundles").fetchall() == [(made.uuid,)]
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(found,)]
        connection.close()
    else:
        assert made.uuid in copy.read_text()


def test_a_home_with_a_newer_database_is_refused_and_left_alone(
    database_url: str, home: Path, later: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = schema.MIGRATIONS
    later()
    open_home(home, database_url).dispose()
    kept = sorted((home / "backups").iterdir())
    monkeypatch.setattr(schema, "MIGRATIONS", known)
    with pytest.raises(WrongVersion, match="newer"):
        open_home(home, database_url)
    database = Database(database_url)
    assert schema.revision(database) == _LATER and sorted((home / "backups").iterdir()) == kept
    database.dispose()


def test_a_home_with_a_newer_layout_is_refused_before_anything_is_touched(tmp_path: Path) -> None:
    (tmp_path / "version").write_text("2\n")
    with pytest.raises(WrongVersion, match="newer"):
        open_home(tmp_path)
    assert not (tmp_path / "seedbed.db").exists()


def test_a_home_that_cannot_be_made_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot be used as a home"):
        open_home(tmp_path / "file" / "home")
