"""The app: every router, the problem documents, and the guard around all of it."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp

import seedbed
from seedbed.assets.access.roles import Identity
from seedbed.base.settings import Settings
from seedbed.faces.api.access import Requires, Viewer
from seedbed.faces.api.doors import doors
from seedbed.faces.api.guard import Door, Guard
from seedbed.faces.api.hosts import Hosts
from seedbed.faces.api.problems import Problem, install
from seedbed.faces.api.routes import (
    bundles,
    classes,
    contexts,
    data,
    jobs,
    labelling,
    labels,
    models,
    projects,
    service,
    users,
    zoo,
)
from seedbed.flows.platform import Platform

_ROUTERS = (
    jobs.jobs,
    bundles.bundles,
    bundles.store,
    contexts.contexts,
    data.uploads,
    data.data,
    projects.projects,
    classes.classes,
    labels.labels,
    labelling.labelling,
    models.models,
    models.recipes,
    zoo.zoo,
    users.users,
    users.session,
    users.set_up,
    users.audit,
    service.service,
    doors,
)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Service(FastAPI):
    """A FastAPI app that stands behind the guard, whatever is mounted or added to it later."""

    def build_middleware_stack(self) -> ASGIApp:
        """The guard outermost: it also covers what other middleware answers."""
        return Guard(super().build_middleware_stack(), self.state.door)

    def openapi(self) -> dict[str, Any]:
        """The description, with the role of each operation and the problem document in it."""
        if self.openapi_schema is None:
            description = super().openapi()
            schemas = description.setdefault("components", {}).setdefault("schemas", {})
            schemas["Problem"] = Problem.model_json_schema()
            for route in self.routes:
                if isinstance(route, APIRoute) and route.include_in_schema:
                    _declare_role(description, route)
        assert self.openapi_schema is not None
        return self.openapi_schema


def create_app(
    platform: Platform, *, settings: Settings, solo_token: str | None, set_up_code: str | None = None
) -> FastAPI:
    """The REST service over a platform.

    With `solo_token`, whoever has it is the one person and may do everything; without, users sign in, and
    `set_up_code` lets the first operator be made. Pages are mounted on the result; they read `identity_of(request)`.
    """
    routes: list[BaseRoute] = [route for router in _ROUTERS for route in router.routes]
    app = Service(
        title="Seedbed",
        version=seedbed.__version__,
        description="A few labelled images in, a served and watched model out, at the lowest cost.",
        routes=routes,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    app.add_api_route(
        "/api/{rest:path}", _nothing_here, methods=list(_METHODS), include_in_schema=False, name="nothing_here"
    )
    app.state.platform = platform
    app.state.settings = settings
    app.state.set_up_code = set_up_code
    app.state.door = _door(platform, settings, solo_token)
    install(app)
    return app


def role_of(route: APIRoute) -> Requires | None:
    """What a route declares with `requires`; None: nothing, which a test refuses."""
    found = (dependency.call for dependency in route.dependant.dependencies)
    return next((call for call in found if isinstance(call, Requires)), None)


def _door(platform: Platform, settings: Settings, solo_token: str | None) -> Door:
    def record_refusal(identity: Identity, action: str, subject: str, address: str) -> None:
        platform.audit.record(identity.name, action, subject, "refused", {"address": address})

    return Door(
        hosts=Hosts.of(settings),
        identify=platform.users.identify,
        record_refusal=record_refusal,
        solo_token=solo_token,
        upload_limit=settings.upload_limit,
        session_seconds=int(settings.session_hours * 3600),
    )


def _declare_role(description: dict[str, Any], route: APIRoute) -> None:
    declared = role_of(route)
    role = "anyone" if declared is None or declared.role is None else declared.role.value
    for method in route.methods or ():
        operation = description["paths"].get(route.path_format, {}).get(method.lower())
        if operation is not None:
            operation["x-role"] = role


def _nothing_here(request: Request, rest: str, by: Viewer) -> None:
    """Under /api nothing falls through to the pages: an unknown path is a problem document, as is a wrong method."""
    allowed: set[str] = set()
    for route in request.app.routes:
        if isinstance(route, APIRoute) and route.name != "nothing_here":
            match, _ = route.matches({**request.scope, "type": "http"})
            if match is Match.PARTIAL:
                allowed |= route.methods or set()
    if allowed:
        raise HTTPException(405, headers={"Allow": ", ".join(sorted(allowed))})
    raise HTTPException(404)
