"""Who asks, and what a route needs: the guard finds the identity, each route declares its role with `requires`.

The dependencies are coroutines though they wait for nothing: FastAPI would run plain functions in threads.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.requests import HTTPConnection

from seedbed.assets.access.roles import Identity, Role
from seedbed.base.errors import Unauthenticated
from seedbed.base.settings import Settings
from seedbed.flows.platform import Platform


def identity_of(connection: HTTPConnection) -> Identity:
    """The identity that the guard found for this request or websocket; pages use it too.

    Raises Unauthenticated on the few open paths (sign-in, set-up) when nobody is signed in.
    """
    found = connection.scope.get("state", {}).get("identity")
    if not isinstance(found, Identity):
        raise Unauthenticated("Nobody is signed in.", hint="Sign in, or send the token: Authorization: Bearer TOKEN.")
    return found


@dataclass(frozen=True)
class Requires:
    """A dependency: lets through whoever has the role, and gives their identity to the handler.

    The role counts where it is held outside projects or in any one project: which project a request is about is often
    known only to the use case, which checks the role there. `role` None marks a route that is open to everybody.
    """

    role: Role | None

    async def __call__(self, request: Request) -> Identity | None:
        if self.role is None:
            return None
        identity = identity_of(request)
        if not any(held.covers(self.role) for held in identity.projects.values()):
            identity.require(self.role)
        return identity


def requires(role: Role | None) -> Requires:
    """Declare the role that a route needs; a test walks every route and fails where none is declared."""
    return Requires(role)


async def platform_of(request: Request) -> Platform:
    """The platform that the app was made with."""
    platform: Platform = request.app.state.platform
    return platform


async def settings_of(request: Request) -> Settings:
    """The settings that the app was made with."""
    settings: Settings = request.app.state.settings
    return settings


Here = Annotated[Platform, Depends(platform_of)]
Rules = Annotated[Settings, Depends(settings_of)]
Anyone = Annotated[None, Depends(requires(None))]
Viewer = Annotated[Identity, Depends(requires(Role.VIEWER))]
Labeller = Annotated[Identity, Depends(requires(Role.LABELLER))]
Trainer = Annotated[Identity, Depends(requires(Role.TRAINER))]
Operator = Annotated[Identity, Depends(requires(Role.OPERATOR))]
