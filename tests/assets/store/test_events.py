"""The feed: no cursor ever skips an event, and whoever waits is woken."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.event import listen

from seedbed.assets.db.engine import Database
from seedbed.assets.store.bundle import Draft
from seedbed.assets.store.events import Events
from seedbed.assets.store.store import Store

MakeDraft = Callable[..., Draft]


def test_two_interleaved_transactions_never_make_a_cursor_skip_an_event(database: Database) -> None:
    """The one that took its number first commits last: the other must wait for it, and no reader sees 2 without 1."""
    events = Events(database)
    first_has_number, may_commit = threading.Event(), threading.Event()

    def first() -> None:
        with database.write() as conn:
            events.append(conn, "job.done", "first", {})
            first_has_number.set()
            assert may_commit.wait(30)

    def second() -> None:
        with database.write() as conn:
            events.append(conn, "job.done", "second", {})

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    assert first_has_number.wait(30)
    threads[1].start()
    threads[1].join(0.3)
    assert threads[1].is_alive() and events.after(0) == []
    may_commit.set()
    for thread in threads:
        thread.join()
    assert [(event.number, event.subject) for event in events.after(0)] == [(1, "first"), (2, "second")]


def test_a_rolled_back_event_leaves_no_gap(database: Database) -> None:
    events = Events(database)
    try:
        with database.write() as conn:
            events.append(conn, "job.done", "never", {})
            raise RuntimeError
    except RuntimeError:
        pass
    with database.write() as conn:
        assert events.append(conn, "job.done", "real", {}) == 1


def test_a_reader_among_many_writers_sees_every_number_once_and_in_order(database: Database) -> None:
    events, total = Events(database), 60
    seen: list[int] = []

    def write(writer: int) -> None:
        for n in range(total // 4):
            with database.write() as conn:
                events.append(conn, "label.added", f"{writer}-{n}", {})

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 60
    while len(seen) < total and time.monotonic() < until:
        seen += [event.number for event in events.wait(seen[-1] if seen else 0, 5)]
    for thread in threads:
        thread.join()
    assert seen == list(range(1, total + 1))


def test_a_cursor_is_kept_and_never_goes_back(database: Database) -> None:
    events = Events(database)
    assert events.cursor("mail") == 0
    events.advance("mail", 5)
    events.advance("mail", 3)
    assert Events(database).cursor("mail") == 5


def test_a_waiter_is_woken_by_a_commit_of_another_process(database: Database) -> None:
    program = (
        "import sys; from seedbed.assets.db.engine import Database; from seedbed.assets.store.events import Events\n"
        "database = Database(sys.argv[1]); sys.stdin.readline()\n"
        "with database.write() as conn: Events(database).append(conn, 'job.done', 'elsewhere', {})\n"
        "database.dispose()"
    )
    with subprocess.Popen([sys.executable, "-c", program, database.url], stdin=subprocess.PIPE, text=True) as other:
        found: list[str] = []
        waiter = threading.Thread(target=lambda: found.extend(e.subject for e in Events(database).wait(0, 60)))
        waiter.start()
        other.communicate("\n")
        waiter.join(60)
    assert found == ["elsewhere"] and other.returncode == 0


def test_waiting_on_postgresql_asks_nothing_while_nothing_happens(postgres_url: str) -> None:
    database = Database(postgres_url)
    events = Events(database)
    events.wait(0, 0.01)  # the listener runs now
    asked: list[str] = []
    listen(database.engine, "before_cursor_execute", lambda *args: asked.append(args[2]))
    events.wait(0, 1.0)
    assert len(asked) <= 2  # once before it waits, once after
    database.dispose()
    assert not any(thread.name == "seedbed-listener" for thread in threading.enumerate())


def test_a_listener_that_lost_its_connection_comes_back(postgres_url: str) -> None:
    database = Database(postgres_url)
    events = Events(database)
    events.wait(0, 0.01)
    with database.engine.connect() as conn:
        conn.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = :name"
            ),
            {"name": postgres_url.rsplit("/", 1)[-1]},
        )
    other = Database(postgres_url)  # in place of another process: it rings no bell here
    found: list[str] = []
    waiter = threading.Thread(target=lambda: found.extend(event.subject for event in events.wait(0, 30)))
    waiter.start()
    with other.write() as conn:
        Events(other).append(conn, "job.done", "after the break", {})
    waiter.join(30)
    assert found == ["after the break"]
    other.dispose()
    database.dispose()


def test_kinds_can_be_asked_for_by_their_beginning(store: Store, draft: MakeDraft, tmp_path: Path) -> None:
    store.publish(draft(b"x"))
    with store.database.write() as conn:
        store.events.append(conn, "job.done", "j", {"a": [1]}, project="p")
    (event,) = store.events.after(0, kinds=["job."])
    assert (event.subject, event.project, event.data) == ("j", "p", {"a": [1]})
    assert [e.kind for e in store.events.after(0, kinds=["job.", "bundle.published"])] == [
        "bundle.published",
        "job.done",
    ]
