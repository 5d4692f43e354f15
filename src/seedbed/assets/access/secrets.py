"""Secrets that the service makes for itself, such as the key that signs cookies; they outlive a restart."""

import contextlib
import secrets

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from seedbed.assets.db import tables
from seedbed.assets.db.engine import Database


class Secrets:
    """Random bytes by name, made when they are first asked for. Safe to use from any thread and process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> bytes:
        """The 32 bytes of this name; the same for everybody who asks."""
        kept = self._kept(name)
        if kept is None:
            # somebody else may have made it in the meantime: then theirs counts
            with contextlib.suppress(IntegrityError), self._database.write() as connection:
                connection.execute(insert(tables.settings).values(name=name, value=secrets.token_bytes(32)))
            kept = self._kept(name)
        return kept or b""

    def _kept(self, name: str) -> bytes | None:
        with self._database.read() as connection:
            value: bytes | None = connection.scalar(
                select(tables.settings.c.value).where(tables.settings.c.name == name)
            )
        return value
