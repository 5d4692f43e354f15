"""Keeping everything, and bringing it back."""

from pathlib import Path

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.store.backup import BackupReport, backup
from seedbed.assets.store.restore import RestoreReport
from seedbed.assets.store.restore import restore as restore_store
from seedbed.assets.store.store import Store


class Backup:
    """Backups of an open home, while everything goes on."""

    def __init__(self, store: Store, audit: Audit) -> None:
        self._store = store
        self._audit = audit

    def backup(self, target: Path, *, by: Identity) -> BackupReport:
        """Write everything into one file; the report says what was damaged or missing here, and so is there."""
        by.require(Role.OPERATOR)
        report = backup(self._store, target)
        self._audit.record(by.name, "backup", str(target))
        return report


def restore(source: Path, home: Path, database_url: str = "") -> RestoreReport:
    """Bring a backup back into an empty home, and an empty database; no platform is open on it yet."""
    return restore_store(source, home, database_url)
