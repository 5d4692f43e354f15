"""/events, /list, /doctor, /backup, /health, and the description of all this."""

import time
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import Path, Query, Request
from starlette.responses import HTMLResponse

import seedbed
from seedbed.assets.store.events import Event
from seedbed.base.errors import NotFound
from seedbed.base.files import inside
from seedbed.base.ids import new_id
from seedbed.base.registry import near_matches
from seedbed.faces.api.access import Here, Operator, Rules, Viewer
from seedbed.faces.api.paths import server_path
from seedbed.faces.api.reference import reference_page
from seedbed.faces.api.requests import BackupAsked
from seedbed.faces.api.routing import router
from seedbed.faces.api.views import CheckView, EventPage, EventView, HealthView, plain

service = router("service", path="")
_MOST_WAITING = 200
_ONE_WAIT = 2.0  # seconds that a thread waits at a time: a server that stops, or a client that went, frees it
_waiting = CapacityLimiter(_MOST_WAITING)  # those who wait for news must not take the threads of those who ask


@service.get("/health")
def health(here: Here, by: Viewer) -> HealthView:
    """Whether the service answers, and which one it is."""
    return HealthView(status="ok", version=seedbed.__version__, event=here.feed.last())


@service.get("/events")
async def events(
    request: Request,
    here: Here,
    by: Viewer,
    after: Annotated[int, Query(ge=0, le=1 << 62, description="The cursor: the last event's number.")] = 0,
    wait: Annotated[float, Query(ge=0, le=60, description="Seconds to wait for news.")] = 0.0,
) -> EventPage:
    """Events after a cursor, of what you may see; waits until something comes, or the time is over."""

    def ask(cursor: int, seconds: float) -> tuple[list[Event], int]:
        return here.feed.wait(cursor, seconds, by=by) if seconds > 0 else here.feed.after(cursor, by=by)

    until, found, cursor = time.monotonic() + wait, list[Event](), after
    while True:
        left = min(until - time.monotonic(), _ONE_WAIT)
        found, cursor = await to_thread.run_sync(ask, cursor, left, limiter=_waiting)
        if found or until <= time.monotonic() or await request.is_disconnected():
            return EventPage(events=[EventView.of(event) for event in found], cursor=cursor)


@service.get("/list")
def kinds(here: Here, by: Viewer) -> list[str]:
    """The kinds of things that can be listed."""
    return sorted(here.kinds())


@service.get("/list/{kind}")
def list_kind(kind: Annotated[str, Path(max_length=100)], here: Here, by: Viewer) -> dict[str, str]:
    """What there is of one kind: name and one line each."""
    known = here.kinds()
    if kind not in known:
        raise NotFound(f"There is no kind of thing named '{kind}'.", hint=near_matches(kind, known))
    return dict(known[kind])


@service.get("/doctor")
def doctor(here: Here, by: Operator) -> list[CheckView]:
    """What is missing or unsafe on the server's machine."""
    return [CheckView.of(check) for check in here.doctor()]


@service.post("/backup", status_code=201)
def backup(asked: BackupAsked, here: Here, rules: Rules, by: Operator) -> dict[str, Any]:
    """Write everything into one tar file of the server."""
    target = server_path(rules, asked.target) if asked.target else inside(rules.home / "backups", f"{new_id()}.tar")
    return {"target": str(target), **plain(here.backup.backup(target, by=by))}


@service.get("/openapi.json", include_in_schema=False)
def openapi(request: Request, by: Viewer) -> dict[str, Any]:
    """The OpenAPI description."""
    return dict(request.app.openapi())


@service.get("/docs", include_in_schema=False)
def docs(request: Request, by: Viewer) -> HTMLResponse:
    """The same to read; all of it from here, nothing is loaded from elsewhere."""
    return HTMLResponse(reference_page(request.app.openapi()))
