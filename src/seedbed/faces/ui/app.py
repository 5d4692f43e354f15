"""Mount the pages on the service: `seedbed up` calls `mount`."""

from functools import partial
from importlib import import_module
from typing import Any

import nicegui
from fastapi import FastAPI, Request
from nicegui import ui
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response

from seedbed.base.errors import SeedbedError
from seedbed.faces.ui import theme
from seedbed.faces.ui.live import Live
from seedbed.faces.ui.refusal import nothing_here, refusal
from seedbed.faces.ui.site import PAGES, Site, register
from seedbed.flows.platform import Platform

_MODULES = (
    *("home", "queue", "job", "compare", "bundles", "bundle", "data", "users", "you", "doctor"),
    *("new", "project", "label", "results", "review", "takeaway"),
    *("zoo", "similarity", "ranking"),
)
_YEAR = 31_536_000  # seconds that browsers keep what has a digest in its address
_QUICKLY = 4  # of 9: nobody is answered while a file is packed; twice as quick as 9, and hardly larger


def declare() -> None:
    """Import every module of pages, so that `PAGES` is complete."""
    for name in _MODULES:
        import_module(f"seedbed.faces.ui.pages.{name}")


def mount(app: FastAPI, platform: Platform) -> None:
    """Put the pages under `app`, behind its guard. NiceGUI is one per process, so this can be done once."""
    declare()
    site = Site(platform, Live(platform), app.state.door.who)
    pages: Any = nicegui.app
    pages.on_startup(site.live.start)
    pages.on_shutdown(site.live.stop)
    pages.add_static_files(theme.ADDRESS, theme.ASSETS, max_cache_age=_YEAR)
    pages.add_api_route(theme.labelling_address(), _labelling_script)
    pages.add_exception_handler(SeedbedError, _refused)
    pages.add_exception_handler(404, _not_found)
    for declared in PAGES.values():
        register(declared, site)
    ui.run_with(
        app,
        title="Seedbed",
        favicon=theme.favicon(),
        dark=None,
        language="en-US",
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=30.0,
        binding_refresh_interval=None,
        gzip_middleware_factory=partial(GZipMiddleware, compresslevel=_QUICKLY),
    )


async def _labelling_script() -> Response:
    kept = {"Cache-Control": f"public, max-age={_YEAR}"}
    return Response(theme.labelling_script(), media_type="text/javascript", headers=kept)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, SeedbedError)
    return refusal(error)


async def _not_found(request: Request, error: Exception) -> Response:
    return nothing_here()
