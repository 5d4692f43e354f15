import pytest

from seedbed.assets.db.engine import Database
from seedbed.assets.projects.projects import Projects
from seedbed.assets.store.events import Events
from seedbed.base.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_800_000_000.0)


@pytest.fixture
def events(database: Database) -> Events:
    return Events(database)


@pytest.fixture
def projects(database: Database, events: Events, clock: ManualClock) -> Projects:
    return Projects(database, events, clock)
