"""The platform: every part of one home, put together. Imports no torch: that lives in worker processes."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from seedbed.assets.store.events import Events
from seedbed.assets.store.store import Store
from seedbed.base.settings import Settings
from seedbed.flows.usecases.backup import Backup
from seedbed.flows.usecases.bundles import Bundles
from seedbed.flows.usecases.contexts import Contexts
from seedbed.flows.usecases.datasets import DataSets
from seedbed.flows.usecases.doctor import Check
from seedbed.flows.usecases.feed import Feed
from seedbed.flows.usecases.jobs import Jobs
from seedbed.flows.usecases.models import Models
from seedbed.flows.usecases.projects import Projects
from seedbed.flows.usecases.users import Users
from seedbed.runtime.jobs.queue import Job


class Platform:
    """One open home. Safe to use from any thread; close it in the end (or use it as a context manager)."""

    settings: Settings
    store: Store
    events: Events
    jobs: Jobs
    bundles: Bundles
    contexts: Contexts
    data: DataSets
    models: Models
    projects: Projects
    users: Users
    feed: Feed
    backup: Backup

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open the home of the settings: made if absent, migrated if old, refused if newer."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the database; running attempts go on."""
        raise NotImplementedError

    def doctor(self) -> list[Check]:
        """What is missing or unsafe."""
        raise NotImplementedError

    def kinds(self) -> dict[str, dict[str, str]]:
        """For `seedbed list <kind>`: kind of thing -> name -> one line, from the registries."""
        raise NotImplementedError

    def serve_scheduler(self, stop: threading.Event) -> None:
        """Schedule, collect and follow events until told to stop; waits while another process does."""
        raise NotImplementedError

    def run_until_done(
        self, job_ids: Sequence[str], on_change: Callable[[list[Job]], None] | None = None, *, poll: float = 0.5
    ) -> list[Job]:
        """Schedule in this process until these jobs have ended; `on_change` sees them whenever something moved."""
        raise NotImplementedError

    def load_job_file(self, path: Path) -> list[object]:
        """The jobs of a YAML file."""
        raise NotImplementedError
