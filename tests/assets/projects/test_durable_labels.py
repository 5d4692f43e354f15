"""A label that was acknowledged is on disk: the process that took it may be killed at any moment after."""

import random
import subprocess
import sys

from seedbed.assets.db.engine import Database
from seedbed.assets.projects.projects import Projects

CLERK = """
import itertools, sys
from seedbed.assets.db.engine import Database
from seedbed.assets.projects.labels import LabelEvent
from seedbed.assets.projects.projects import Projects
from seedbed.assets.store.events import Events
from seedbed.base.clock import SystemClock

url, person = sys.argv[1:]
database = Database(url)
projects = Projects(database, Events(database), SystemClock())
for number in itertools.count():
    projects.add_labels("wheat", [LabelEvent(f"{person}-{number}", f"{number % 7}.jpg", "rust", person)])
    sys.stdout.write(f"{person}-{number}\\n")
    sys.stdout.flush()
"""


def acknowledged_before_the_kill(url: str, person: str, after: int) -> list[str]:
    """What a clerk acknowledged until it was killed, some lines in, while it went on writing."""
    command = [sys.executable, "-c", CLERK, url, person]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as clerk:
        assert clerk.stdout is not None
        lines = [clerk.stdout.readline() for _ in range(after)]
        clerk.kill()
        lines += clerk.stdout.readlines()
    assert clerk.returncode == -9
    return [line.strip() for line in lines if line.endswith("\n")]


def test_labels_that_were_acknowledged_survive_kill_9(database: Database, projects: Projects) -> None:
    projects.create("wheat", "ada", ["rust"])
    draw = random.Random(7)
    acknowledged: list[str] = []
    for life in range(4):
        acknowledged += acknowledged_before_the_kill(database.url, f"clerk{life}", draw.randint(1, 40))
    kept = [event.id for event in projects.history("wheat")]
    assert set(acknowledged) <= set(kept)
    assert len(kept) == len(set(kept))
    assert len(kept) <= len(acknowledged) + 4  # at most the one in flight at each kill
    assert len(projects.labels("wheat")) == min(7, len({name.split("-")[1] for name in kept}))
