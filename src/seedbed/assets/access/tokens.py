"""Tokens: what a browser's session and a script's API token have in common. Only their digests are kept."""

import contextlib
import math
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, delete, insert, select, update

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.db import tables
from seedbed.assets.db.engine import Database
from seedbed.base.clock import Clock, Instant
from seedbed.base.errors import DiskFull, InvalidInput, NotFound
from seedbed.base.ids import digest_of_bytes
from seedbed.base.text import problems_of_text

_ID_LENGTH = 16
_TOUCH_EVERY = 60.0  # seconds: one write per request would make reading as dear as writing
_LONGEST_TOKEN = 200
_LONGEST_LIFE = 3650  # days


class Purpose(StrEnum):
    """What a token is for."""

    API = "api"
    SESSION = "session"


@dataclass(frozen=True)
class Token:
    """What is known of a token; its text was shown once, when it was made."""

    id: str
    user: str
    purpose: Purpose
    name: str
    created: Instant
    expires: Instant  # 0: never
    used: Instant  # 0: not yet


class Tokens:
    """The tokens in the database. Safe to use from any thread."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def make(self, connection: Connection, user: str, purpose: Purpose, name: str, seconds: float) -> str:
        """A new token's text for a user (by id); 0 seconds: it never expires."""
        text = f"sb_{secrets.token_urlsafe(32)}"
        now = self._clock.now()
        expires = now + seconds if seconds else 0.0
        row = {"user": user, "purpose": purpose.value, "name": name, "created": now, "expires": expires, "used": 0.0}
        connection.execute(insert(tables.tokens).values(digest=_digest(text), **row))
        return text

    def of(self, user: str, purpose: Purpose = Purpose.API) -> list[Token]:
        """A user's tokens, the oldest first, expired ones too."""
        query = select(tables.tokens).where(tables.tokens.c.user == user, tables.tokens.c.purpose == purpose.value)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(tables.tokens.c.created, tables.tokens.c.digest)).all()
        return [
            Token(row.digest[:_ID_LENGTH], row.user, Purpose(row.purpose), row.name, row.created, row.expires, row.used)
            for row in rows
        ]

    def revoke(self, connection: Connection, token_id: str, user: str = "") -> str:
        """Remove an API token by its id, with a user only one of theirs; the id of its owner."""
        if not re.fullmatch(rf"[0-9a-f]{{{_ID_LENGTH}}}", token_id):
            raise _no_such_token(token_id)
        mine = tables.tokens.c.digest.startswith(token_id) & (tables.tokens.c.purpose == Purpose.API.value)
        owner: str | None = connection.scalar(select(tables.tokens.c.user).where(mine))
        if owner is None or user not in ("", owner):
            raise _no_such_token(token_id)
        connection.execute(delete(tables.tokens).where(mine))
        return owner

    def forget(self, text: str) -> str:
        """Remove the token with this text (signing out); the id of its user, or nothing when it was not known."""
        with self._database.write() as connection:
            user = connection.scalar(select(tables.tokens.c.user).where(tables.tokens.c.digest == _digest(text)))
            connection.execute(delete(tables.tokens).where(tables.tokens.c.digest == _digest(text)))
        return user or ""

    def end_sessions(self, connection: Connection, user: str) -> None:
        """Sign a user out everywhere."""
        tokens = tables.tokens
        ended = delete(tokens).where(tokens.c.user == user, tokens.c.purpose == Purpose.SESSION.value)
        connection.execute(ended)

    def drop_expired(self, connection: Connection) -> None:
        """Remove sessions that have ended; expired API tokens stay, so that their owner sees why they stopped."""
        tokens = tables.tokens
        gone = (tokens.c.purpose == Purpose.SESSION.value) & (tokens.c.expires <= self._clock.now())
        connection.execute(delete(tokens).where(gone, tokens.c.expires > 0))

    def identify(self, text: str) -> Identity | None:
        """Who a token stands for; None when it is not known, has expired, or its user is disabled."""
        if len(text) > _LONGEST_TOKEN:
            return None
        users, tokens, members = tables.users, tables.tokens, tables.members
        query = select(users.c.id, users.c.name, users.c.role, users.c.disabled, tokens.c.expires, tokens.c.used)
        with self._database.read() as connection:
            row = connection.execute(query.join_from(tokens, users).where(tokens.c.digest == _digest(text))).first()
            if row is None or row.disabled or 0 < row.expires <= self._clock.now():
                return None
            memberships = connection.execute(select(members.c.project, members.c.role).where(members.c.user == row.id))
            projects = {project: Role(role) for project, role in memberships}
        self._touch(_digest(text), row.used)
        return Identity(row.id, row.name, Role(row.role), projects)

    def _touch(self, digest: str, used: Instant) -> None:
        now = self._clock.now()
        if now - used < _TOUCH_EVERY:
            return
        # a full disk must not lock out the people who come to make room
        with contextlib.suppress(DiskFull), self._database.write() as connection:
            connection.execute(update(tables.tokens).where(tables.tokens.c.digest == digest).values(used=now))


def check_new_token(name: str, days: float) -> None:
    """Raise InvalidInput unless a token of this name and life can be made."""
    problems = problems_of_text("The token's name", name, longest=100)
    if not math.isfinite(days) or not 0 <= days <= _LONGEST_LIFE:
        problems.append(f"A token lives 0 (for ever) to {_LONGEST_LIFE} days, not {days}.")
    if problems:
        raise InvalidInput("The token was not made.", problems=problems)


def _no_such_token(token_id: str) -> NotFound:
    return NotFound(f"There is no token '{token_id}'.", hint="See the list of tokens for their ids.")


def _digest(text: str) -> str:
    return digest_of_bytes(text.encode("utf-8", "surrogatepass"))
