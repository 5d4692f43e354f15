"""Names in a home's SQLite file, read with the standard library alone: a shell that completes a word cannot wait.

Opening the database as the service does (the engine, its checks, migrations) takes longer than a keystroke may.
"""

import contextlib
import sqlite3
from pathlib import Path

_END = "\U0010ffff"  # after every name that begins so
_QUERIES = {
    "projects": "SELECT name FROM projects WHERE name BETWEEN :begin AND :end ORDER BY name LIMIT :most",
    "contexts": "SELECT name FROM contexts WHERE name BETWEEN :begin AND :end ORDER BY name LIMIT :most",
    "bundles": "SELECT DISTINCT name FROM bundles WHERE latest = 1 AND name BETWEEN :begin AND :end LIMIT :most",
    "data sets": "SELECT DISTINCT name FROM bundles WHERE latest = 1 AND kind = 'data-set' "
    "AND name BETWEEN :begin AND :end LIMIT :most",
    "models": "SELECT DISTINCT name FROM bundles WHERE latest = 1 AND kind = 'model' "
    "AND name BETWEEN :begin AND :end LIMIT :most",
    "jobs": "SELECT id FROM jobs WHERE :begin <> '' AND id BETWEEN :begin AND :end "
    "UNION SELECT name FROM (SELECT name FROM jobs ORDER BY submitted DESC LIMIT 1000) "
    "WHERE name <> '' AND name BETWEEN :begin AND :end LIMIT :most",
}


def names_in(file: Path, noun: str, begin: str, *, most: int = 100) -> list[str]:
    """Names of projects, contexts, bundles, data sets, models or jobs that begin so; nothing is written."""
    given = {"begin": begin, "end": begin + _END, "most": most}
    address = f"{file.absolute().as_uri()}?mode=rw"  # read-only cannot open a file whose writers have all gone
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=0.2)) as connection:
        connection.execute("PRAGMA query_only = 1")
        return [str(name) for (name,) in connection.execute(_QUERIES[noun], given)]
