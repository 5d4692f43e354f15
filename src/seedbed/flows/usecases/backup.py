"""Keeping everything, and bringing it back."""

from pathlib import Path

from seedbed.assets.access.roles import Identity


class Backup:
    """Backup of a home; restoring happens into an empty home, before a platform is opened."""

    def backup(self, target: Path, *, by: Identity) -> object:
        """Write everything into a folder."""
        raise NotImplementedError


def restore(source: Path, home: Path) -> object:
    """Bring a backup back into an empty home."""
    raise NotImplementedError
