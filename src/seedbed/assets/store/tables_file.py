"""Every row of every table as lines of JSON: what backups hold, and what either database can read back."""

import base64
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, LargeBinary, MetaData, Table, delete, insert, select

from seedbed.assets.db.dialects import reset_sequences
from seedbed.assets.db.engine import Database
from seedbed.base.files import fsync_folder, says_when_full

_AT_ONCE = 1000
_NOT_ROWS = {"alembic_version"}


def dump_tables(database: Database, target: Path) -> int:
    """Write every row, as of one moment, to a file; the answer is how many there were."""
    count = 0
    with says_when_full(target.parent), database.read() as conn, target.open("w", encoding="utf-8") as file:
        for line in _lines(conn):
            file.write(line + "\n")
            count += 1
    fsync_folder(target.parent)
    return count


def load_tables(conn: Connection, lines: Iterable[str]) -> None:
    """Replace every row of every table by those of a file."""
    tables = {table.name: table for table in tables_of(conn)}
    for table in reversed(tables.values()):
        conn.execute(delete(table))
    waiting: list[dict[str, Any]] = []
    target: Table | None = None
    for line in lines:
        name, values = json.loads(line)
        if waiting and (len(waiting) >= _AT_ONCE or target is None or target.name != name):
            conn.execute(insert(target), waiting)  # type: ignore[arg-type]
            waiting = []
        target = tables[name]
        waiting.append(_back(target, values))
    if waiting and target is not None:
        conn.execute(insert(target), waiting)
    reset_sequences(conn, list(tables.values()))


def tables_of(conn: Connection) -> list[Table]:
    """The tables as they are in the database, those of an older schema too; parents before children."""
    found = MetaData()
    found.reflect(conn)
    return [table for table in found.sorted_tables if table.name not in _NOT_ROWS]


def _lines(conn: Connection) -> Iterator[str]:
    for table in tables_of(conn):
        for row in conn.execution_options(yield_per=_AT_ONCE).execute(select(table)).mappings():
            yield json.dumps([table.name, {name: _plain(value) for name, value in row.items()}], ensure_ascii=False)


def _plain(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes | memoryview) else value


def _back(table: Table, values: dict[str, Any]) -> dict[str, Any]:
    binary = {column.name for column in table.columns if isinstance(column.type, LargeBinary)}
    return {name: base64.b64decode(value) if name in binary else value for name, value in values.items()}
