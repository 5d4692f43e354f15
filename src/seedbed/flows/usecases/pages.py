"""What a person may see; the rest is answered as if it were not there."""

from seedbed.assets.access.roles import Identity, Role
from seedbed.base.errors import NotFound


def may_see(by: Identity, project: str) -> bool:
    """Whether somebody may look at things of a project ('' is outside all projects)."""
    return by.may(Role.VIEWER, project)


def require_project(by: Identity, role: Role, project: str, *, what: str = "") -> None:
    """Refuse who may not; a thing of a project that is not theirs is answered as if it were not there."""
    if what and not may_see(by, project):
        raise NotFound(f"There is no {what}.")
    by.require(role, project)


def visible_projects(by: Identity) -> list[str] | None:
    """The ids of the projects whose things `by` may see, '' among them for things outside projects; None: all."""
    if by.may(Role.OPERATOR):
        return None
    return [project for project in ("", *by.projects) if may_see(by, project)]
