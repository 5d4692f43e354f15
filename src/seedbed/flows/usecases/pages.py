"""Pages of a listing that leave out what a person may not see."""

from collections.abc import Callable
from typing import TypeVar

from seedbed.assets.access.roles import Identity, Role

T = TypeVar("T")
_CHUNK = 500


def may_see(by: Identity, project: str) -> bool:
    """Whether somebody may look at things of a project ('' is outside all projects)."""
    return by.may(Role.VIEWER, project)


def visible_page(
    fetch: Callable[[int, int], list[T]], project_of: Callable[[T], str], *, by: Identity, limit: int, offset: int
) -> list[T]:
    """Items `offset` to `offset + limit` of those that `by` may see; `fetch(limit, offset)` knows no persons."""
    if by.may(Role.OPERATOR):
        return fetch(limit, offset)
    found: list[T] = []
    start = 0
    while len(found) < offset + limit:
        chunk = fetch(_CHUNK, start)
        found += [item for item in chunk if may_see(by, project_of(item))]
        start += len(chunk)
        if len(chunk) < _CHUNK:
            break
    return found[offset : offset + limit]
