"""PostgreSQL databases that one test after the other gets as if new: emptying one takes a tenth of making one."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from seedbed.base.ids import new_id

_SHAPE = "SELECT relname, relkind, relnatts FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname"
_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
_BEGIN_ANEW = "SELECT setval(seqrelid, seqstart, false) FROM pg_sequence"
Shape = list[tuple[str, str, int]]


@dataclass
class Pool:
    """Clones of a template. `command` does something at the server, `url` is that of a database by its name."""

    template: str
    command: Callable[[str], None]
    url: Callable[[str], str]
    _free: list[str] = field(default_factory=list)
    _shape: Shape = field(default_factory=list)
    _rows: dict[str, bytes] = field(default_factory=dict)  # what a new one holds: table -> its rows

    @contextlib.contextmanager
    def one(self) -> Iterator[str]:
        """The URL of a database that is as the template is."""
        name = self._free.pop() if self._free else self._make()
        yield self.url(name)
        if self._empty(name):
            self._free.append(name)
        else:
            self.command(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _make(self) -> str:
        if not self._shape:
            with self._open(self.template) as connection:
                self._shape = _shape_of(connection)
                self._rows = {table: _rows_of(connection, table) for table in _filled(connection)}
        name = f"test_{new_id().replace('-', '')}"
        self.command(f"CREATE DATABASE {name} TEMPLATE {self.template} STRATEGY file_copy")
        return name

    def _empty(self, name: str) -> bool:
        """Bring the template's rows back, and its counts; not if a test has changed the tables themselves."""
        with self._open(name) as connection:
            connection.execute(_OTHERS + "pg_backend_pid()")
            if _shape_of(connection) != self._shape:
                return False
            tables = sql.SQL(", ").join(map(sql.Identifier, _filled(connection)))
            with connection.transaction():
                connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(tables))
                connection.execute(_BEGIN_ANEW)
                for table, rows in self._rows.items():
                    into = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))
                    with connection.cursor().copy(into) as copy:
                        copy.write(rows)
        return True

    def _open(self, name: str) -> psycopg.Connection:
        return psycopg.connect(self.url(name).replace("+psycopg", ""), autocommit=True)


def _shape_of(connection: psycopg.Connection) -> Shape:
    return connection.execute(_SHAPE).fetchall()


def _filled(connection: psycopg.Connection) -> list[str]:
    """The tables that hold rows."""
    (names,) = zip(*connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"), strict=True)
    each = [
        sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(sql.Literal(name), sql.Identifier(name))
        for name in names
    ]
    return sorted(name for (name,) in connection.execute(sql.SQL(" UNION ALL ").join(each)))


def _rows_of(connection: psycopg.Connection, table: str) -> bytes:
    with connection.cursor().copy(sql.SQL("COPY {} TO STDOUT").format(sql.Identifier(table))) as copy:
        return b"".join(map(bytes, copy))
