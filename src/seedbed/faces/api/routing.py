"""How a noun's routes begin: prefix, checks, documented refusals, a name for each operation."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.routing import APIRoute

from seedbed.faces.api.payloads import CheckedRoute
from seedbed.faces.api.problems import responses

PREFIX = "/api/v1"
_MOST = 1000
_LAST = 1 << 40

Limit = Annotated[int, Query(ge=1, le=_MOST, description="How many at most.")]
Offset = Annotated[int, Query(ge=0, le=_LAST, description="How many to pass over.")]


def router(noun: str, path: str | None = None) -> APIRouter:
    """A router under /api/v1 for one noun."""
    return APIRouter(
        prefix=f"{PREFIX}/{noun if path is None else path}".rstrip("/"),
        tags=[noun],
        route_class=CheckedRoute,
        responses=responses(400, 401, 403, 404, 409, 413, 422, 429, 503, 507),
        generate_unique_id_function=_operation,
    )


def _operation(route: APIRoute) -> str:
    return f"{(route.tags or ['api'])[0]}.{route.name}"
