"""What the store is made of, as its modules hand it to each other."""

from dataclasses import dataclass
from pathlib import Path

from seedbed.assets.db.engine import Database
from seedbed.assets.store.content import Content
from seedbed.assets.store.events import Events
from seedbed.assets.store.manifests import Manifests
from seedbed.base.clock import Clock


@dataclass(frozen=True)
class Parts:
    """The database that decides what exists, and the folders that hold it."""

    database: Database
    home: Path
    events: Events
    clock: Clock
    content: Content
    manifests: Manifests

    @property
    def leases(self) -> Path:
        """The folder of write leases."""
        return self.home / "leases"

    @classmethod
    def of(cls, database: Database, home: Path, clock: Clock) -> "Parts":
        """The parts of the store in a home."""
        content, manifests = Content(home / "files"), Manifests(home / "manifests")
        return cls(database, home, Events(database, clock), clock, content, manifests)
