"""Statements that SQLite and PostgreSQL both know but SQLAlchemy spells differently for each."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, func, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert


def upsert(
    conn: Connection, table: Table, row: Mapping[str, Any], *, only_where: ColumnElement[bool] | None = None
) -> Insert:
    """Insert a row, or change the one with its primary key (only where a condition on the old row holds)."""
    keys = [column.name for column in table.primary_key]
    values = {name: value for name, value in row.items() if name not in keys}
    if conn.dialect.name == "sqlite":
        return (
            sqlite.insert(table).values(row).on_conflict_do_update(index_elements=keys, set_=values, where=only_where)
        )
    return (
        postgresql.insert(table).values(row).on_conflict_do_update(index_elements=keys, set_=values, where=only_where)
    )


def insert_new(conn: Connection, table: Table) -> Insert:
    """Insert rows, leaving alone those whose primary key is there already."""
    if conn.dialect.name == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()


def reset_sequences(conn: Connection, tables: Sequence[Table]) -> None:
    """After rows came in with their numbers: let PostgreSQL count on from the largest (SQLite does by itself)."""
    if conn.dialect.name != "postgresql":
        return
    for table in tables:
        for column in table.primary_key:
            where = {"table": f'"{table.name}"', "column": column.name}
            name = conn.execute(text("SELECT pg_get_serial_sequence(:table, :column)"), where).scalar()
            if name:
                largest = conn.execute(select(func.max(column))).scalar() or 0
                conn.execute(text("SELECT setval(:name, :next, false)"), {"name": name, "next": largest + 1})
