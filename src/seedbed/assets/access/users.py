"""Users: who they are, how they sign in, what they are members of."""

import contextlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from argon2 import PasswordHasher
from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.passwords import Passwords, problems_of_password
from seedbed.assets.access.roles import Identity, Role, no_such_project
from seedbed.assets.access.throttle import Throttle
from seedbed.assets.access.tokens import Purpose, Token, Tokens, check_new_token
from seedbed.assets.db import tables
from seedbed.assets.db.engine import Database
from seedbed.assets.store.events import Events
from seedbed.base.clock import Clock, Instant
from seedbed.base.errors import Conflict, InvalidInput, NotFound, Unauthenticated
from seedbed.base.ids import new_id
from seedbed.base.text import is_plain, problems_of_text

_NAME = re.compile(r"[\w][\w.@+-]{0,62}")
_LIKE_AN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RESERVED = {"solo", "system", "unknown"}
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class User:
    """A person who may sign in. What is kept of the password is not part of it."""

    id: str
    name: str
    role: Role
    mail: str
    created: Instant
    disabled: bool
    has_password: bool


@dataclass(frozen=True)
class Member:
    """A user in a project, with the role that they have there."""

    user: str
    name: str
    role: Role


class Users:
    """The users in the database. Safe to use from any thread.

    A user is referred to by id or by name; names are compared without regard to case. Every change takes the feed's
    lock first and holds it to the commit, so that rules about all users at once (there is one first operator, there
    is always a last one) hold between transactions that run at the same time.
    """

    def __init__(
        self,
        database: Database,
        events: Events,
        clock: Clock,
        *,
        session_hours: float = 12.0,
        hasher: PasswordHasher | None = None,
    ) -> None:
        self._database = database
        self._events = events
        self._clock = clock
        self._session_seconds = session_hours * 3600
        self._passwords = Passwords(hasher)
        self._tokens = Tokens(database, clock)
        self._audit = Audit(database, clock)
        self._by_name = Throttle(clock)
        self._by_address = Throttle(clock, free=20)

    # --- who there is -----------------------------------------------------------------------------------------------

    def create(self, name: str, role: Role, password: str = "", mail: str = "") -> User:
        """A new user; without a password they can only use tokens."""
        row = self._new_row(name, role, password, mail)
        with self._change() as connection:
            self._insert(connection, row)
        return self.get(row["id"])

    def first_operator(self, name: str, password: str) -> User:
        """The operator who is set up on the first start; refused as soon as there is any user."""
        if not password:
            raise InvalidInput("The first operator needs a password.", hint="Choose one of at least 10 characters.")
        row = self._new_row(name, Role.OPERATOR, password, "")
        with self._change() as connection:
            self._insert(connection, row)
            if connection.scalar(select(func.count()).select_from(tables.users)) != 1:
                raise Conflict("The first operator is set up already.", hint="Sign in, or ask an operator.")
        return self.get(row["id"])

    def are_none(self) -> bool:
        """Whether there is no user yet, so that the first operator has still to be set up."""
        with self._database.read() as connection:
            return connection.execute(select(tables.users.c.id).limit(1)).first() is None

    def get(self, reference: str) -> User:
        """The user of this id or name."""
        with self._database.read() as connection:
            return _user(self._find(connection, reference))

    def list(self) -> list[User]:
        """Every user, by name."""
        with self._database.read() as connection:
            return [_user(row) for row in connection.execute(select(tables.users).order_by(tables.users.c.name))]

    def set_role(self, reference: str, role: Role) -> User:
        """Give another role; the last operator keeps theirs."""
        return self._update(reference, "role", role=role.value)

    def set_password(self, reference: str, password: str) -> User:
        """Give a new password; it signs the user out everywhere. Their API tokens stay."""
        name = self.get(reference).name
        _refuse("The password was not set.", problems_of_password(password, name))
        user = self._update(reference, "password", password=self._passwords.hash(password))
        self._by_name.forget(name)
        return user

    def set_mail(self, reference: str, mail: str) -> User:
        """Give another mail address, or none."""
        _refuse("The mail address was not set.", _problems_of_mail(mail))
        return self._update(reference, "mail", mail=mail)

    def disable(self, reference: str) -> User:
        """Let a user in no longer: sessions end, tokens stop; what they did stays theirs."""
        return self._update(reference, "disabled", disabled=True)

    def enable(self, reference: str) -> User:
        """Let a disabled user in again, also with the API tokens that they had."""
        return self._update(reference, "enabled", disabled=False)

    def remove(self, reference: str) -> None:
        """Remove a user with their tokens and memberships; label events and the audit log keep the name."""
        with self._change() as connection:
            user = self._find(connection, reference)
            self._events.append(connection, "user.removed", user.id, {"name": user.name})
            with _keeping_an_operator(connection):
                connection.execute(delete(tables.users).where(tables.users.c.id == user.id))

    # --- letting them in --------------------------------------------------------------------------------------------

    def sign_in(self, name: str, password: str, address: str = "") -> str:
        """A session's token for a name and password.

        Every refusal has the same words and costs the same time. After some failures of one name or from one address
        (of the network) further tries have to wait.
        """
        name = _canonical(name)
        self._by_address.take(address)
        self._by_name.take(name)
        row = self._row_of_name(name)
        usable = row.password if row is not None and not row.disabled else ""
        if not self._passwords.match(usable, password) or row is None:
            # what was typed as a name may be a password: only the names of users are written down
            self._audit.record(row.name if row else _UNKNOWN, "sign-in", "", "refused", {"address": address})
            raise Unauthenticated("The name or the password is not right.", hint="An operator can set a new password.")
        self._by_name.forget(name)
        self._by_address.give_back(address)
        return self._open_session(row, password, address)

    def is_password_of(self, reference: str, password: str) -> bool:
        """Whether this is the user's present password; who guesses has to wait, as at the sign-in."""
        with self._database.read() as connection:
            row = self._find(connection, reference)
        self._by_name.take(row.name)
        if not self._passwords.match(row.password, password):
            return False
        self._by_name.forget(row.name)
        return True

    def sign_out(self, token: str) -> None:
        """End a session; a token that is not known is no mistake."""
        user = self._tokens.forget(token)
        if user:
            self._audit.record(self.get(user).name, "sign-out", "")

    def identify(self, token: str) -> Identity | None:
        """Who a session's or an API token stands for; None: not known, expired, or disabled."""
        return self._tokens.identify(token)

    def make_token(self, reference: str, name: str, days: float = 0) -> str:
        """An API token's text, which is shown this once; 0 days: it does not expire."""
        check_new_token(name, days)
        with self._change() as connection:
            user = self._find(connection, reference)
            self._events.append(connection, "user.token-made", user.id, {"name": user.name, "token": name})
            return self._tokens.make(connection, user.id, Purpose.API, name, days * 86400)

    def tokens(self, reference: str) -> Sequence[Token]:
        """The API tokens of a user."""
        return self._tokens.of(self.get(reference).id)

    def revoke(self, token_id: str, *, user: str = "") -> None:
        """Remove an API token by its id; with a user (an id), only one of theirs."""
        with self._change() as connection:
            owner = self._tokens.revoke(connection, token_id, user)
            self._events.append(connection, "user.token-revoked", owner, {"token": token_id})

    # --- membership -------------------------------------------------------------------------------------------------

    def add_member(self, project: str, reference: str, role: Role) -> Member:
        """Make a user a member of a project (its id), or give a member another role."""
        members = tables.members
        with self._change() as connection:
            _require_project(connection, project)
            user = self._find(connection, reference)
            data = {"user": user.id, "name": user.name, "role": role.value}
            self._events.append(connection, "project.member-added", project, data, project=project)
            connection.execute(delete(members).where(members.c.project == project, members.c.user == user.id))
            connection.execute(insert(members).values(project=project, user=user.id, role=role.value))
        return Member(user.id, user.name, role)

    def remove_member(self, project: str, reference: str) -> None:
        """End a user's membership of a project."""
        members = tables.members
        with self._change() as connection:
            _require_project(connection, project)
            user = self._find(connection, reference)
            data = {"user": user.id, "name": user.name}
            self._events.append(connection, "project.member-removed", project, data, project=project)
            gone = delete(members).where(members.c.project == project, members.c.user == user.id)
            if connection.execute(gone).rowcount == 0:
                raise NotFound(f"{user.name} is not a member of this project.", hint="See the project's members.")

    def members(self, project: str) -> Sequence[Member]:
        """The members of a project (its id), by name."""
        users, members = tables.users, tables.members
        query = select(users.c.id, users.c.name, members.c.role).join_from(members, users)
        with self._database.read() as connection:
            _require_project(connection, project)
            rows = connection.execute(query.where(members.c.project == project).order_by(users.c.name)).all()
        return [Member(user, name, Role(role)) for user, name, role in rows]

    # --- inside -----------------------------------------------------------------------------------------------------

    def _new_row(self, name: str, role: Role, password: str, mail: str) -> dict[str, Any]:
        name = _canonical(name)
        problems = [*_problems_of_name(name), *_problems_of_mail(mail)]
        if password:
            problems += problems_of_password(password, name)
        _refuse("The user was not made.", problems)
        kept = self._passwords.hash(password) if password else ""
        row = {"id": new_id(), "name": name, "role": role.value, "password": kept, "mail": mail}
        return {**row, "created": self._clock.now(), "disabled": False}

    @contextlib.contextmanager
    def _change(self) -> Iterator[Connection]:
        with self._database.write() as connection:
            self._events.lock(connection)
            yield connection

    def _insert(self, connection: Connection, row: dict[str, Any]) -> None:
        if connection.execute(select(tables.users.c.id).where(tables.users.c.name == row["name"])).first():
            raise Conflict(f"There is already a user named '{row['name']}'.", hint="Choose another name.")
        connection.execute(insert(tables.users).values(row))
        self._events.append(connection, "user.created", row["id"], {"name": row["name"], "role": row["role"]})

    def _update(self, reference: str, change: str, **values: Any) -> User:
        with self._change() as connection:
            user = self._find(connection, reference)
            self._events.append(connection, "user.changed", user.id, {"name": user.name, "change": change})
            with _keeping_an_operator(connection):
                connection.execute(update(tables.users).where(tables.users.c.id == user.id).values(values))
            if change in ("password", "disabled"):
                self._tokens.end_sessions(connection, user.id)
            return _user(self._find(connection, user.id))

    def _find(self, connection: Connection, reference: str) -> Row[Any]:
        users = tables.users
        name = _canonical(reference)
        row = None
        if is_plain(reference):
            row = connection.execute(select(users).where(or_(users.c.id == reference, users.c.name == name))).first()
        if row is None:
            raise NotFound(f"There is no user '{reference}'.", hint="See who there is: seedbed users list.")
        return row

    def _row_of_name(self, name: str) -> Row[Any] | None:
        if not is_plain(name):
            return None
        with self._database.read() as connection:
            return connection.execute(select(tables.users).where(tables.users.c.name == name)).first()

    def _open_session(self, user: Row[Any], password: str, address: str) -> str:
        users = tables.users
        renewed = self._passwords.hash(password) if self._passwords.is_outdated(user.password) else user.password
        with self._database.write() as connection:
            # a password that was changed since it was checked opens nothing
            same = (users.c.id == user.id) & (users.c.password == user.password)
            if connection.execute(update(users).where(same).values(password=renewed)).rowcount != 1:
                raise Unauthenticated("The password has just been changed.", hint="Sign in with the new one.")
            self._tokens.drop_expired(connection)
            self._audit.record(user.name, "sign-in", "", data={"address": address}, connection=connection)
            return self._tokens.make(connection, user.id, Purpose.SESSION, "", self._session_seconds)


def _user(row: Row[Any]) -> User:
    return User(row.id, row.name, Role(row.role), row.mail, row.created, row.disabled, bool(row.password))


def _canonical(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _problems_of_name(name: str) -> list[str]:
    problems = problems_of_text("The user's name", name, longest=63)
    if not problems and not _NAME.fullmatch(name):
        problems.append(
            f"'{name}' is not a user's name: letters, digits and . _ @ + - are allowed, a letter or digit first."
        )
    if name in _RESERVED or _LIKE_AN_ID.fullmatch(name):
        problems.append(f"'{name}' is kept for the service itself.")
    return problems


def _problems_of_mail(mail: str) -> list[str]:
    if mail and (not is_plain(mail) or len(mail) > 254 or not re.fullmatch(r"[^@\s]+@[^@\s]+", mail)):
        return [f"'{mail[:80]!s}' is not a mail address."]
    return []


def _refuse(message: str, problems: Sequence[str]) -> None:
    if problems:
        raise InvalidInput(message, problems=problems)


def _require_project(connection: Connection, project: str) -> None:
    known = select(tables.projects.c.id).where(tables.projects.c.id == project)
    if not is_plain(project) or connection.scalar(known) is None:
        raise no_such_project()


@contextlib.contextmanager
def _keeping_an_operator(connection: Connection) -> Iterator[None]:
    before = _has_operator(connection)
    yield
    if before and not _has_operator(connection):
        raise Conflict(
            "This is the last operator who can sign in; without one nobody could manage this service.",
            hint="Make somebody else operator first.",
        )


def _has_operator(connection: Connection) -> bool:
    users = tables.users
    operators = select(users.c.id).where(users.c.role == Role.OPERATOR.value, users.c.disabled.is_(False))
    return connection.execute(operators.limit(1)).first() is not None
