"""Data sets as people use them: bring images in, look at them."""

from pathlib import Path
from typing import Any

from seedbed.assets.access.roles import Identity
from seedbed.assets.store.bundle import Bundle
from seedbed.runtime.jobs.queue import Job


class DataSets:
    """What people do with data sets."""

    def upload_folder(self, *, by: Identity) -> Path:
        """A fresh folder `uploads/<id>` to receive an upload; `add` it, and it goes away once it is ingested."""
        raise NotImplementedError

    def add(self, source: Path, *, name: str, project: str = "", to: str = "", size: int = 64, by: Identity) -> Job:
        """Start an ingest job over a folder, an archive or a CSV manifest; `to` adds to an existing data set."""
        raise NotImplementedError

    def list(self, *, project: str | None = None, limit: int = 100, offset: int = 0, by: Identity) -> "list[Bundle]":
        """The latest version of every data set."""
        raise NotImplementedError

    def show(self, ref: str, *, by: Identity) -> dict[str, Any]:
        """Summary: counts, classes, findings, statistics."""
        raise NotImplementedError

    def records(self, ref: str, *, offset: int = 0, limit: int = 100, by: Identity) -> "list[dict[str, Any]]":
        """The images, one record each."""
        raise NotImplementedError

    def thumbnail(self, ref: str, index: int, *, size: int = 128, by: Identity) -> bytes:
        """One image as a small JPEG."""
        raise NotImplementedError
