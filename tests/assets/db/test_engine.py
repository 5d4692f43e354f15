"""Transactions that keep what they promise."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from seedbed.assets.db.engine import Database
from seedbed.assets.db.tables import counters
from seedbed.base.errors import Unavailable


def _count(database: Database) -> int:
    with database.read() as conn:
        return int(conn.execute(select(counters.c.value).where(counters.c.name == "events")).scalar_one())


def test_concurrent_read_modify_writes_lose_nothing(database: Database) -> None:
    def work() -> None:
        for _ in range(10):
            with database.write() as conn:
                row = select(counters.c.value).where(counters.c.name == "events").with_for_update()
                value = conn.execute(row).scalar_one()
                conn.execute(update(counters).where(counters.c.name == "events").values(value=value + 1))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _count(database) == 60


def test_a_write_that_raises_leaves_nothing_and_calls_nobody(database: Database) -> None:
    called: list[str] = []
    with pytest.raises(RuntimeError), database.write() as conn:
        database.on_commit(conn, lambda: called.append("x"))
        conn.execute(insert(counters).values(name="other", value=1))
        raise RuntimeError
    with database.read() as conn:
        assert conn.execute(select(counters).where(counters.c.name == "other")).first() is None
    assert called == []


def test_a_commit_is_visible_before_its_callbacks_run(database: Database) -> None:
    seen: list[int] = []
    with database.write() as conn:
        conn.execute(update(counters).values(value=7))
        database.on_commit(conn, lambda: seen.append(_count(database)))
    assert seen == [7]


def test_a_reader_sees_one_state_while_others_write(database: Database) -> None:
    with database.read() as conn:
        before = conn.execute(select(counters.c.value)).scalars().all()
        with database.write() as other:
            other.execute(update(counters).values(value=99))
        assert conn.execute(select(counters.c.value)).scalars().all() == before
    assert _count(database) == 99


def test_an_unreachable_database_is_said_in_a_sentence(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path}/absent/x.db", "postgresql+psycopg://app@127.0.0.1:1/none"):
        database = Database(url)
        with pytest.raises(Unavailable, match="database"), database.read():
            pass
        database.dispose()
