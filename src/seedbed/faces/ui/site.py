"""How a page is declared: its address, the role that it needs, and a builder that is given the visit.

    @page("/jobs/{job_id}", role=Role.VIEWER)
    async def job(visit: Visit, job_id: str) -> None: ...

The role is a dependency of the route, as on every route of the API, so that the same test walks both. What goes wrong
while a page is built becomes a page of its own, with the sentence and the right status.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

from anyio import to_thread
from fastapi import Depends, Request, Response
from nicegui import Client, ui

from seedbed.assets.access.roles import Identity, Role
from seedbed.base.errors import SeedbedError, Unauthenticated
from seedbed.faces.api.access import identity_of, requires
from seedbed.faces.ui.live import Live
from seedbed.faces.ui.refusal import crash, refusal
from seedbed.flows.platform import Platform

P = ParamSpec("P")
R = TypeVar("R")
_log = logging.getLogger(__name__)
Builder = Callable[..., Awaitable[None]]
_PATIENCE = 30.0  # seconds that a page may take to be built; a slow disk is no reason to refuse it


@dataclass(frozen=True)
class Site:
    """What all pages share."""

    platform: Platform
    live: Live
    who: Callable[[str], Awaitable[Identity | None]]  # whom a token stands for now


@dataclass(frozen=True)
class Visit:
    """One person who looks at one page."""

    site: Site
    by: Identity
    client: Client
    here: str  # the path that was asked for
    token: str  # the key that let them in

    @property
    def platform(self) -> Platform:
        """Where the use cases are."""
        return self.site.platform

    async def ask(self, usecase: Callable[..., R], *args: Any, **options: Any) -> R:
        """Call a use case as this person, in a thread."""
        return await to_thread.run_sync(partial(usecase, *args, by=await self.person(), **options))

    async def shared(self, usecase: Callable[..., R], *args: Any, **options: Any) -> R:
        """The same, but pages of one person that ask the same within one beat get one answer."""
        by = await self.person()
        key = (by.id, getattr(usecase, "__qualname__", ""), args, tuple(sorted(options.items())))
        found: R = await self.site.live.shared(key, partial(usecase, *args, by=by, **options))
        return found

    async def person(self) -> Identity:
        """Who they are now: a page stays open for long, and roles and sessions end."""
        found = await self.site.who(self.token)
        if found is None:
            raise Unauthenticated("The session is over.", hint="Sign in again.")
        return found


@dataclass(frozen=True)
class Page:
    """A declared page."""

    path: str
    role: Role
    build: Builder


PAGES: dict[str, Page] = {}


def page(path: str, *, role: Role) -> Callable[[Builder], Builder]:
    """Declare a page."""

    def declare(build: Builder) -> Builder:
        if path in PAGES:
            raise ValueError(f"Two pages want the address {path}.")
        PAGES[path] = Page(path, role, build)
        return build

    return declare


def register(declared: Page, site: Site) -> None:
    """Hang a declared page into NiceGUI."""

    async def serve(request: Request, client: Client, **arguments: Any) -> Response | None:
        try:
            token = request.scope["state"]["token"]
            await declared.build(Visit(site, identity_of(request), client, request.url.path, token), **arguments)
        except SeedbedError as error:
            return refusal(error)
        except Exception:
            _log.exception("The page %s could not be built", request.url.path)
            return crash()
        return None

    given = [one for one in inspect.signature(declared.build).parameters.values() if one.name != "visit"]
    fixed = [
        inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request),
        inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, annotation=Client),
    ]
    asked = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in given]
    serve.__signature__ = inspect.Signature([*fixed, *asked])  # type: ignore[attr-defined]
    serve.__name__ = declared.build.__name__
    ui.page(declared.path, response_timeout=_PATIENCE, dependencies=[Depends(requires(declared.role))])(serve)
