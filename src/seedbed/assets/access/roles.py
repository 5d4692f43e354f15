"""Roles, and the identity that every use case is given: who is asking, and what they may do where."""

import getpass
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from seedbed.base.errors import Forbidden, NotFound


class Role(StrEnum):
    """What a person may do. Each role may do all that the ones before it may."""

    VIEWER = "viewer"
    LABELLER = "labeller"
    TRAINER = "trainer"
    OPERATOR = "operator"

    @property
    def rank(self) -> int:
        """Its place in the order, from 0."""
        return list(Role).index(self)

    def covers(self, other: "Role") -> bool:
        """Whether somebody with this role may do what the other role may."""
        return self.rank >= other.rank


@dataclass(frozen=True)
class Identity:
    """Somebody who asks: a signed-in user, or the one person of a laptop.

    Inside a project the role that they have there counts, and no other; outside projects their own role counts.
    An operator may do everything everywhere.
    """

    id: str
    name: str
    role: Role
    projects: Mapping[str, Role] = field(default_factory=dict)

    def role_in(self, project: str = "") -> Role | None:
        """The role that counts there; None: not a member, so the project is not theirs to see."""
        if not project or self.role is Role.OPERATOR:
            return self.role
        return self.projects.get(project)

    def may(self, role: Role, project: str = "") -> bool:
        """Whether they may do what that role may, in a project (its id) or outside projects."""
        held = self.role_in(project)
        return held is not None and held.covers(role)

    def require(self, role: Role, project: str = "") -> None:
        """Raise Forbidden where they may not; NotFound where they may not even know of the project."""
        held = self.role_in(project)
        if held is None:
            raise no_such_project()
        if not held.covers(role):
            where = "in this project " if project else ""
            raise Forbidden(
                f"This needs the role {role.value}; {self.name} is {held.value} {where}".rstrip() + ".",
                hint="Ask an operator for that role.",
            )


def no_such_project() -> NotFound:
    """The one answer for a project that is not there and for one that is not theirs: nobody can tell which.

    It repeats nothing of what was asked: asked by name and answered with an id, it would give the project away.
    """
    return NotFound(
        "There is no such project, or you are not a member of it.", hint="See yours: seedbed projects list."
    )


def _name_of_this_person() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # containers run under user ids that have no name
        return "you"


SOLO = Identity("solo", _name_of_this_person(), Role.OPERATOR)
"""The one person of a laptop, who may do everything."""
