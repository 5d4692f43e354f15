import pytest
from argon2 import PasswordHasher

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.users import Users
from seedbed.assets.db.engine import Database
from seedbed.assets.projects.projects import Projects
from seedbed.assets.store.events import Events
from seedbed.base.clock import ManualClock

START = 1_800_000_000.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def events(database: Database) -> Events:
    return Events(database)


@pytest.fixture
def quick_hasher() -> PasswordHasher:
    """Real argon2 with little work, where the cost of a hash is not what a test is about."""
    return PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)


@pytest.fixture
def users(database: Database, events: Events, clock: ManualClock, quick_hasher: PasswordHasher) -> Users:
    return Users(database, events, clock, hasher=quick_hasher)


@pytest.fixture
def audit(database: Database, clock: ManualClock) -> Audit:
    return Audit(database, clock)


@pytest.fixture
def projects(database: Database, events: Events, clock: ManualClock) -> Projects:
    return Projects(database, events, clock)
