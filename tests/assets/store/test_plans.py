"""No question about bundles reads a whole table, on either database."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from benchmarks.store import QUESTIONS, ROOT, Question, fill, measure
from sqlalchemy import Connection, event, text

from seedbed.assets.db.engine import Database
from seedbed.assets.db.tables import metadata
from seedbed.assets.store.store import Store

_BUNDLES = 8_000  # enough for a planner that knows the sizes to see that reading all of it is dear

_SMALL = {"counters", "contexts", "settings"}  # a handful of rows, for which an index is a detour


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def large_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with many bundles, whose database knows its statistics."""
    from_template = request.getfixturevalue("make_database")
    with from_template(request.param) as url:
        database = Database(url)
        store = Store(database, tmp_path_factory.mktemp("large"))
        fill(store, _BUNDLES, manifests=False)
        with database.engine.connect() as conn:
            auto = conn.execution_options(isolation_level="AUTOCOMMIT")
            auto.execute(text("ANALYZE"))
            if database.dialect == "postgresql":  # as on an SSD: else tables this small are read whole
                auto.execute(text(f"ALTER DATABASE {database.engine.url.database} SET random_page_cost = 1.1"))
        database.engine.dispose()
        yield store
        database.dispose()


MORE: dict[str, Question] = {
    "get: by name": lambda store: store.get(ROOT),
    "get: by the beginning of a uuid": lambda store: store.get(store.get(ROOT).uuid[:30]),
    "events: after a cursor": lambda store: store.events.after(store.events.last() - 10),
    "find: a context and a kind": lambda store: store.find(context="local", kind="model"),
    "find: a context, a tag": lambda store: store.find(context="local", tags={"colour": "red"}, all_versions=True),
    "find: a project": lambda store: store.find(project="p1"),
    "find: a project, every version": lambda store: store.find(project="p1", all_versions=True),
    "find: several projects": lambda store: store.find(project=["", "p1"]),
    "find: a kind, every version": lambda store: store.find(kind="model", all_versions=True),
    "find: the second page": lambda store: store.find(offset=100),
}


@pytest.mark.parametrize("name", [*QUESTIONS, *MORE])
def test_no_question_reads_a_whole_table(large_store: Store, name: str) -> None:
    with plans_of(large_store.database) as plans:
        ({**QUESTIONS, **MORE}[name])(large_store)
    assert plans
    for statement, plan in plans:
        assert not scans(plan), f"{statement}\n{plan}"


def scans(plan: str) -> list[str]:
    """The lines of a plan that read a table from end to end, rather than an index or what a part of it gave."""
    ours = "|".join(metadata.tables.keys() - _SMALL)
    return re.findall(rf"(?m)^.*(?:Seq Scan on (?:{ours})\b|SCAN (?:{ours})(?: AS \w+)?$).*$", plan)


def test_the_plan_of_a_question_that_does_read_everything_is_recognised(large_store: Store) -> None:
    with plans_of(large_store.database) as plans, large_store.database.read() as conn:
        conn.execute(text("SELECT count(*) FROM bundles WHERE step = 'x'"))
    assert scans(plans[0][1])


class plans_of:
    """Collects the plan of every SELECT that is executed in its block."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.plans: list[tuple[str, str]] = []

    def __enter__(self) -> list[tuple[str, str]]:
        event.listen(self.database.engine, "before_cursor_execute", self._explain)
        return self.plans

    def __exit__(self, *_: object) -> None:
        event.remove(self.database.engine, "before_cursor_execute", self._explain)

    def _explain(
        self, conn: Connection, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool
    ) -> None:
        if statement.lstrip().startswith(("SELECT", "WITH")) and not statement.startswith("SELECT pg_"):
            explain = "EXPLAIN QUERY PLAN " if self.database.dialect == "sqlite" else "EXPLAIN "
            cursor.execute(explain + statement, parameters)
            self.plans.append((statement, "\n".join(str(row[-1]) for row in cursor.fetchall())))


@pytest.mark.slow
def test_a_hundred_times_as_many_bundles_take_at_most_twice_the_time() -> None:
    figures = measure(quick=True).figures
    assert figures["find_ratio"] <= 2 and figures["lineage_ratio"] <= 2
