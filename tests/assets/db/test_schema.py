"""The migrations give exactly the tables that the code knows, on both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from seedbed.assets.db import schema
from seedbed.assets.db.engine import Database
from seedbed.assets.db.tables import metadata
from seedbed.assets.projects.classes import Class, Kind
from seedbed.assets.projects.projects import Projects
from seedbed.assets.projects.settings import ProjectSettings
from seedbed.assets.store.events import Events
from seedbed.base.clock import ManualClock


@pytest.fixture
def empty(request: pytest.FixtureRequest, tmp_path: Path, database_url: str) -> Iterator[Database]:
    """A database without any table."""
    opened = Database(database_url if database_url.startswith("postgresql") else f"sqlite:///{tmp_path}/empty.db")
    if opened.dialect == "postgresql":
        schema.downgrade(opened, "base")
    yield opened
    opened.dispose()


def test_the_migrated_schema_is_that_of_the_tables(database: Database) -> None:
    with database.read() as conn:
        context = MigrationContext.configure(conn, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []


def test_every_index_of_the_tables_exists(database: Database) -> None:
    with database.read() as conn:
        found = inspect(conn)
        for table in metadata.tables.values():
            names = {index["name"] for index in found.get_indexes(table.name)}
            assert {index.name for index in table.indexes} <= names


def test_a_migration_that_fails_leaves_the_database_as_it_was(
    empty: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "migrations"
    (broken / "versions").mkdir(parents=True)
    source = (schema.MIGRATIONS / "versions" / "0001_foundation.py").read_text()
    (broken / "versions" / "0001_foundation.py").write_text(
        source.replace("def downgrade", "    raise RuntimeError('cut short')\n\n\ndef downgrade")
    )
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", broken)
        with pytest.raises(RuntimeError, match="cut short"):
            schema.upgrade(empty)
    with empty.read() as conn:
        assert set(inspect(conn).get_table_names()) <= {"alembic_version"}
    schema.upgrade(empty)
    assert schema.revision(empty) == schema.head()


def test_projects_and_labels_of_an_older_home_are_as_they_were(empty: Database) -> None:
    schema.upgrade(empty, "0001")
    with empty.write() as conn:
        for line in (
            "INSERT INTO projects (id, name, created, owner, data) VALUES ('p', 'wheat', 1.0, 'ada', '')",
            "INSERT INTO classes (project, name, position, colour, key) VALUES ('p', 'rust', 0, '#0072b2', '1')",
            'INSERT INTO label_events (id, project, image, label, "by", at, source)'
            " VALUES ('e', 'p', 'a.jpg', 'rust', 'ada', 1.0, 'person')",
        ):
            conn.execute(text(line))
    schema.upgrade(empty)
    projects = Projects(empty, Events(empty), ManualClock(2.0))
    wheat = projects.get("wheat")
    assert (wheat.kind, wheat.settings) == (Kind.CLASSES, ProjectSettings())
    assert projects.classes("wheat") == [Class("rust", 0, "#0072b2", "1")]
    label = projects.labels("wheat")["a.jpg"]
    assert (label.label, label.by, label.mark) == ("rust", "ada", "")


def test_the_migrations_can_be_undone_and_run_again(empty: Database) -> None:
    schema.upgrade(empty)
    schema.downgrade(empty, "base")
    with empty.read() as conn:
        assert set(inspect(conn).get_table_names()) <= {"alembic_version"}
    schema.upgrade(empty)
