"""People as operators and they themselves use them: accounts, tokens, membership, the audit log."""

from typing import Any

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.access.users import Token, User


class Users:
    """What people do with accounts. Operators may everything; the others their own password and tokens."""

    def empty(self) -> bool:
        """Whether nobody has been set up yet."""
        raise NotImplementedError

    def first_operator(self, name: str, password: str) -> User:
        """The first account; refused once there is one."""
        raise NotImplementedError

    def create(self, name: str, role: Role, *, password: str = "", mail: str = "", by: Identity) -> User:
        """One more account."""
        raise NotImplementedError

    def get(self, ref: str, *, by: Identity) -> User:
        """One account by id or name."""
        raise NotImplementedError

    def list(self, *, by: Identity) -> "list[User]":
        """Every account."""
        raise NotImplementedError

    def set_role(self, ref: str, role: Role, *, by: Identity) -> User:
        """Another role."""
        raise NotImplementedError

    def set_password(self, ref: str, password: str, *, by: Identity) -> None:
        """Another password: one's own, or anybody's as operator."""
        raise NotImplementedError

    def disable(self, ref: str, *, by: Identity) -> User:
        """Nothing that this account has opens a door any more."""
        raise NotImplementedError

    def sign_in(self, name: str, password: str, *, address: str = "") -> str:
        """A session token."""
        raise NotImplementedError

    def sign_out(self, token: str) -> None:
        """End a session."""
        raise NotImplementedError

    def identify(self, token: str) -> Identity | None:
        """Who a session or API token stands for."""
        raise NotImplementedError

    def make_token(self, ref: str, name: str, *, days: float = 0, by: Identity) -> str:
        """An API token, shown this once."""
        raise NotImplementedError

    def tokens(self, ref: str, *, by: Identity) -> "list[Token]":
        """The tokens of an account, without their text."""
        raise NotImplementedError

    def revoke(self, token_id: str, *, by: Identity) -> None:
        """Make a token worthless."""
        raise NotImplementedError

    def add_member(self, project: str, user: str, role: Role, *, by: Identity) -> None:
        """Let somebody into a project."""
        raise NotImplementedError

    def remove_member(self, project: str, user: str, *, by: Identity) -> None:
        """Out again."""
        raise NotImplementedError

    def members(self, project: str, *, by: Identity) -> "list[tuple[User, Role]]":
        """Who is in a project, with which role."""
        raise NotImplementedError

    def audit(self, *, limit: int = 100, offset: int = 0, who: str = "", action: str = "", by: Identity) -> "list[Any]":
        """Who did what, newest first; for operators."""
        raise NotImplementedError
