"""Every row of every table as lines of JSON: what backups hold, and what either database can read back."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, Table, select

from seedbed.assets.db.engine import Database
from seedbed.base.files import fsync_folder, says_when_full

_BYTES = "$bytes"
_AT_ONCE = 1000
_NOT_ROWS = {"alembic_version"}


def dump_tables(database: Database, target: Path, revision: str) -> int:
    """Write every row, as of one moment, to a file; the answer is how many there were."""
    count = 0
    with says_when_full(target.parent), database.read() as conn, target.open("w") as file:
        file.write(json.dumps({"revision": revision}) + "\n")
        for line in _lines(conn):
            file.write(line + "\n")
            count += 1
    fsync_folder(target.parent)
    return count


def _lines(conn: Connection) -> Iterator[str]:
    for table in tables_of(conn):
        for row in conn.execution_options(yield_per=_AT_ONCE).execute(select(table)):
            yield json.dumps([table.name, [_plain(value) for value in row]], ensure_ascii=False)


def tables_of(conn: Connection) -> list[Table]:
    """The tables as they are in the database, so that those of an older schema are read as they are."""
    found = MetaData()
    found.reflect(conn)
    return [table for table in found.sorted_tables if table.name not in _NOT_ROWS]


def _plain(value: Any) -> Any:
    return {_BYTES: base64.b64encode(value).decode()} if isinstance(value, bytes | memoryview) else value
