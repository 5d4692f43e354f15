"""find and lineage at 1,000 and at 100,000 bundles: an index that answers as fast when the store has grown.

Both stores hold the same family: one bundle made from 1,000 others, behind one of which a chain of 50 generations
lies. Around it the larger one has the rest, in versions, kinds, projects and tags, with lineages of their own. Every
find answers with up to 100 bundles, and is counted with everything that turns rows into bundles. The quick run inserts
the rows without their manifests, which neither question reads.
"""

import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.harness import Report, main
from seedbed.assets.store.bundle import Bundle, Draft, Lineage, content_digest
from seedbed.assets.store.home import open_home
from seedbed.assets.store.manifests import Written
from seedbed.assets.store.publish import published
from seedbed.assets.store.rows import insert_bundles
from seedbed.assets.store.store import Store
from seedbed.base.ids import new_id

TITLE = "find and lineage at 100,000 bundles"
LARGE = 100_000
DEPTH, FAN_IN, NEWER = 50, 1_000, 250
ROOT, OLDEST = "root", "generation-00"
KINDS = ("dataset", "labels", "model", "predictions")
EMPTY = content_digest("dataset", {})
_BATCH = 4_000
_TIMES = 15

Question = Callable[[Store], object]

QUESTIONS: dict[str, Question] = {
    "find: a name, its newest": lambda store: store.find("name-7"),
    "find: a name, every version": lambda store: store.find("name-7", all_versions=True),
    "find: newest of every name": lambda store: store.find(),
    "find: every version": lambda store: store.find(all_versions=True),
    "find: a kind": lambda store: store.find(kind="model", all_versions=True),
    "find: a tag": lambda store: store.find(tags={"colour": "green"}, all_versions=True),
    "find: two tags and a kind": lambda store: store.find(
        kind="model", tags={"colour": "green", "size": "2"}, all_versions=True
    ),
    "find: a project and a kind": lambda store: store.find(project="p1", kind="labels", all_versions=True),
    "find: a context": lambda store: store.find(context="local", all_versions=True),
    "find: a key": lambda store: store.by_key("key-7"),
    f"lineage: up, {DEPTH} generations, {FAN_IN} inputs": lambda store: store.lineage(ROOT, depth=DEPTH + 1),
    f"lineage: down, {DEPTH} generations": lambda store: store.lineage(OLDEST, depth=DEPTH + 1, direction="down"),
}


def family() -> Iterator[Draft]:
    """A chain of generations, many single bundles, one bundle that was made from all of them, and some later ones."""
    chain = [new_id() for _ in range(DEPTH)]
    for n, uuid in enumerate(chain):
        inputs = (("before", chain[n - 1]),) if n else ()
        yield _draft(n, uuid, f"generation-{n:02d}", inputs)
    singles = [new_id() for _ in range(FAN_IN - 1)]
    for n, uuid in enumerate(singles):
        yield _draft(n, uuid, f"name-{n % 200}", ())
    everything = tuple((f"part{n}", uuid) for n, uuid in enumerate([chain[-1], *singles]))
    yield _draft(0, new_id(), ROOT, everything)
    yield from crowd(NEWER, versions=1)


def crowd(count: int, *, versions: int = 5) -> Iterator[Draft]:
    """As many more, in versions, each made from two that came before."""
    before = [new_id(), new_id()]
    for n in range(count):
        uuid = new_id()
        yield _draft(n, uuid, f"{versions}-{n // versions}", (("one", before[n // 2]), ("two", before[-1])))
        before.append(uuid)


def fill(store: Store, size: int, *, manifests: bool) -> None:
    """Fill a store with so many bundles, the family among them: half of the others before it, half after."""
    relatives = list(family())
    others = list(crowd(max(size - len(relatives), 0)))
    half = len(others) // 2
    everything = [*others[:half], *relatives, *others[half:]]
    for start in range(0, len(everything), _BATCH):
        batch = everything[start : start + _BATCH]
        if manifests:
            store.publish_many(batch)
        else:
            _insert(store, batch)


def milliseconds(store: Store, question: Question) -> float:
    """The best of several times on the processor: what the answer costs, without what else the machine does."""
    question(store)
    best = float("inf")
    gc.collect()
    for _ in range(_TIMES):
        start = time.process_time()
        question(store)
        best = min(best, time.process_time() - start)
    return best * 1000


def measure(quick: bool) -> Report:
    """Ask every question of a small and of a large store."""
    times: dict[int, dict[str, float]] = {}
    small = len(list(family()))
    for size in (small, LARGE):
        with tempfile.TemporaryDirectory() as folder:
            database = open_home(Path(folder) / "home")
            store = Store(database, Path(folder) / "home")
            fill(store, size, manifests=not quick)
            times[size] = {name: milliseconds(store, question) for name, question in QUESTIONS.items()}
            database.dispose()
    rows = [
        {"question": name, f"ms at {small}": times[small][name], f"ms at {LARGE}": times[LARGE][name]}
        | {"ratio": times[LARGE][name] / times[small][name]}
        for name in QUESTIONS
    ]
    return Report(
        _figures(times, small),
        rows,
        note="Times are CPU milliseconds, the best of 15, on SQLite, with what turns rows into bundles.",
    )


def _figures(times: dict[int, dict[str, float]], small: int) -> dict[str, float]:
    figures = {}
    for noun in ("find", "lineage"):
        at = {size: [ms for name, ms in times[size].items() if name.startswith(noun)] for size in times}
        figures[f"{noun}_ms_at_100k"] = max(at[LARGE])
        figures[f"{noun}_ms_at_1k"] = max(at[small])
        figures[f"{noun}_ratio"] = sum(at[LARGE]) / sum(at[small])
    return figures


def _draft(n: int, uuid: str, name: str, inputs: tuple[tuple[str, str], ...]) -> Draft:
    tags = {"colour": ("green", "red")[n % 2], "size": str(n % 3)}
    key = f"key-{n}" if name.startswith("name") and not inputs else ""
    lineage = Lineage(step="make", params={"n": n}, inputs=inputs)
    return Draft(name, KINDS[n % 4], key=key, tags=tags, lineage=lineage, project=("", "p1")[n // 4 % 2], uuid=uuid)


def _insert(store: Store, drafts: list[Draft]) -> None:
    now = store.parts.clock.now()
    made = [Written(_bundle(draft, now + n * 1e-6), EMPTY) for n, draft in enumerate(drafts)]
    with store.database.write() as conn:
        store.events.lock(conn)
        insert_bundles(conn, made, "local")
        store.events.append_all(conn, [published(each.bundle) for each in made])


def _bundle(draft: Draft, created: float) -> Bundle:
    return Bundle(
        uuid=draft.uuid,
        name=draft.name,
        kind=draft.kind,
        key=draft.key,
        created=created,
        tags=draft.tags,
        arrays={},
        lineage=draft.lineage,
        derived=draft.derived,
        project=draft.project,
        digest=EMPTY,
    )


if __name__ == "__main__":
    main("store", TITLE, measure)
