"""People as operators and they themselves use them: accounts, tokens, membership, the audit log."""

from collections.abc import Sequence

from seedbed.assets.access.audit import Audit, AuditLine
from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.assets.access.tokens import Token
from seedbed.assets.access.users import Member, User
from seedbed.assets.access.users import Users as KeptUsers
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.base.errors import Forbidden, InvalidInput, NotFound


class Users:
    """What people do with accounts. Operators may everything; the others their own password and tokens."""

    def __init__(self, kept: KeptUsers, projects: KeptProjects, audit: Audit) -> None:
        self._kept = kept
        self._projects = projects
        self._audit = audit

    def empty(self) -> bool:
        """Whether nobody has been set up yet."""
        return self._kept.are_none()

    def first_operator(self, name: str, password: str) -> User:
        """The first account; refused once there is one."""
        user = self._kept.first_operator(name, password)
        self._audit.record(user.name, "user.first-operator", user.id)
        return user

    def create(self, name: str, role: Role, *, password: str = "", mail: str = "", by: Identity) -> User:
        """One more account."""
        by.require(Role.OPERATOR)
        user = self._kept.create(name, role, password, mail)
        self._audit.record(by.name, "user.create", user.id, data={"name": user.name, "role": role.value})
        return user

    def get(self, ref: str, *, by: Identity) -> User:
        """One account by id or name: one's own, or anybody's as operator."""
        return self._own(ref, by)

    def list(self, *, by: Identity) -> "list[User]":
        """Every account; for operators."""
        by.require(Role.OPERATOR)
        return self._kept.list()

    def set_role(self, ref: str, role: Role, *, by: Identity) -> User:
        """Another role."""
        by.require(Role.OPERATOR)
        user = self._kept.set_role(ref, role)
        self._audit.record(by.name, "user.set-role", user.id, data={"role": role.value})
        return user

    def set_password(self, ref: str, password: str, *, present: str = "", by: Identity) -> None:
        """Another password: one's own, by who knows the `present` one, or anybody else's as operator.

        A browser that was left open, or a token that got out, is thus not enough to lock somebody out.
        """
        user = self._own(ref, by)
        if user.id == by.id and user.has_password:
            self._confirm(user, present)
        self._kept.set_password(user.id, password)
        self._audit.record(by.name, "user.set-password", user.id)

    def set_mail(self, ref: str, mail: str, *, by: Identity) -> User:
        """Where mail about ended jobs goes: one's own, or anybody's as operator."""
        user = self._own(ref, by)
        made = self._kept.set_mail(user.id, mail)
        self._audit.record(by.name, "user.set-mail", user.id)
        return made

    def disable(self, ref: str, *, by: Identity) -> User:
        """Nothing that this account has opens a door any more."""
        by.require(Role.OPERATOR)
        user = self._kept.disable(ref)
        self._audit.record(by.name, "user.disable", user.id)
        return user

    def enable(self, ref: str, *, by: Identity) -> User:
        """Let a disabled account in again, also with the API tokens that it had."""
        by.require(Role.OPERATOR)
        user = self._kept.enable(ref)
        self._audit.record(by.name, "user.enable", user.id)
        return user

    def sign_in(self, name: str, password: str, *, address: str = "") -> str:
        """A session token."""
        return self._kept.sign_in(name, password, address)

    def sign_out(self, token: str) -> None:
        """End a session."""
        self._kept.sign_out(token)

    def identify(self, token: str) -> Identity | None:
        """Who a session or API token stands for."""
        return self._kept.identify(token)

    def make_token(self, ref: str, name: str, *, days: float = 0, by: Identity) -> str:
        """An API token, shown this once."""
        user = self._own(ref, by)
        text = self._kept.make_token(user.id, name, days)
        self._audit.record(by.name, "user.make-token", user.id, data={"label": name})
        return text

    def tokens(self, ref: str, *, by: Identity) -> Sequence[Token]:
        """The tokens of an account, without their text."""
        return self._kept.tokens(self._own(ref, by).id)

    def revoke(self, token_id: str, *, by: Identity) -> None:
        """Make a token worthless: one's own, or anybody's as operator."""
        self._kept.revoke(token_id, user="" if by.may(Role.OPERATOR) else by.id)
        self._audit.record(by.name, "user.revoke-token", token_id)

    def add_member(self, project: str, user: str, role: Role, *, by: Identity) -> Member:
        """Let somebody into a project, or give a member another role; for those who run the project."""
        found = self._projects.get(project)
        by.require(Role.OPERATOR, found.id)
        member = self._kept.add_member(found.id, user, role)
        self._audit.record(by.name, "project.add-member", found.id, data={"user": member.name, "role": role.value})
        return member

    def remove_member(self, project: str, user: str, *, by: Identity) -> None:
        """Out again."""
        found = self._projects.get(project)
        by.require(Role.OPERATOR, found.id)
        self._kept.remove_member(found.id, user)
        self._audit.record(by.name, "project.remove-member", found.id, data={"user": user})

    def members(self, project: str, *, by: Identity) -> Sequence[Member]:
        """Who is in a project, with which role."""
        found = self._projects.get(project)
        by.require(Role.VIEWER, found.id)
        return self._kept.members(found.id)

    def could_join(self, project: str, *, by: Identity) -> Sequence[str]:
        """The names of those who can sign in and are not in a project yet; for those who run the project."""
        found = self._projects.get(project)
        by.require(Role.OPERATOR, found.id)
        inside = {member.user for member in self._kept.members(found.id)}
        return [user.name for user in self._kept.list() if user.id not in inside and not user.disabled]

    def audit(
        self, *, limit: int = 100, offset: int = 0, who: str = "", action: str = "", by: Identity
    ) -> Sequence[AuditLine]:
        """Who did what, newest first; for operators."""
        by.require(Role.OPERATOR)
        return self._audit.list(limit, offset, who, action)

    def acting_for(self, project: Project) -> Identity | None:
        """The owner of a project as somebody who acts in it; None where they are gone or disabled."""
        if project.owner == SOLO.id:
            return SOLO
        try:
            user = self._kept.get(project.owner)
        except NotFound:
            return None
        held = {member.user: member.role for member in self._kept.members(project.id)}.get(user.id)
        return None if user.disabled else Identity(user.id, user.name, user.role, {project.id: held} if held else {})

    def mail_of(self, owner: str) -> str:
        """The mail address of a job's owner, '' where none is known."""
        try:
            user = self._kept.get(owner)
        except NotFound:
            return ""
        return "" if user.disabled else user.mail

    def _confirm(self, user: User, present: str) -> None:
        if not present:
            raise InvalidInput("A new password of your own needs the present one too.", hint="Give both.")
        if not self._kept.is_password_of(user.id, present):
            self._audit.record(user.name, "user.set-password", user.id, "refused")
            raise InvalidInput("That is not your present password.", hint="If you forgot it, ask an operator.")

    def _own(self, ref: str, by: Identity) -> User:
        if not by.may(Role.OPERATOR) and ref not in (by.id, by.name):
            raise Forbidden("This is somebody else's account.", hint="Ask an operator.")
        return self._kept.get(ref)
