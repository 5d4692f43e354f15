"""A publisher that is killed at any moment: what was acknowledged survives, and nothing half is seen."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from seedbed.assets.store.gc import collect_garbage
from seedbed.assets.store.store import Store
from seedbed.assets.store.verify import verify

_PUBLISHER = """
import os, sys
from pathlib import Path
from seedbed.assets.db.engine import Database
from seedbed.assets.store.bundle import Draft, DraftArray
from seedbed.assets.store.store import Store

url, home, run = sys.argv[1:]
store = Store(Database(url), Path(home))
outbox = Path(home).parent / f"outbox-{run}"
outbox.mkdir()
print("ready", flush=True)
for n in range(1_000_000):
    paths = {f"{part}.bin": outbox / f"{n}-{part}" for part in range(3)}
    for name, path in paths.items():
        path.write_bytes(f"{run} {n} {name} ".encode() + os.urandom(2000))
    made = store.publish(Draft(f"run-{run}", "files", {"files": DraftArray.of_files(paths)}), consume=n % 2 == 0)
    print(made.uuid, flush=True)
    if n % 5 == 4:
        store.delete([made.uuid])
        print("gone", made.uuid, flush=True)
"""


def test_what_was_acknowledged_survives_kill_9_and_nothing_half_is_seen(
    store: Store, home: Path, database_url: str
) -> None:
    chance = random.Random(5)
    kept: set[str] = set()
    gone: set[str] = set()
    doubtful: set[str] = set()
    for run in range(3):
        lines = _publish_and_kill(database_url, home, run, after=chance.uniform(0.02, 0.5))
        published = [line for line in lines if not line.startswith("gone")]
        gone |= {line.split()[1] for line in lines if line.startswith("gone")}
        kept |= set(published)
        doubtful |= set(published[4::5])  # it may have been deleted without having said so
    found = {bundle.uuid for bundle in store.find(all_versions=True, limit=100_000)}
    assert kept - gone - doubtful <= found and not found & gone
    assert len(found - kept) <= 3  # committed, but killed before it could say so
    assert verify(store).findings == ()
    numbers = [event.number for event in store.events.after(0, limit=100_000)]
    assert numbers == list(range(1, len(numbers) + 1)) and len(kept) > 4
    collect_garbage(store, grace=0)
    files = {path.name for path in store.parts.content.root.glob("??/*")}
    needed = {link.digest for uuid in found for link in store.get(uuid).files}
    assert files == needed and set(store.parts.manifests.uuids()) == found
    assert verify(store).findings == ()


def _publish_and_kill(url: str, home: Path, run: int, *, after: float) -> list[str]:
    command = [sys.executable, "-c", _PUBLISHER, url, str(home), str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as publisher:
        assert publisher.stdout is not None
        assert publisher.stdout.readline() == "ready\n"
        time.sleep(after)
        publisher.send_signal(signal.SIGKILL)
        rest = publisher.stdout.read().splitlines(keepends=True)
    return [line.strip() for line in rest if line.endswith("\n")]
