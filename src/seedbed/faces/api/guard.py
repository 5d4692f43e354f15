"""The one door: a plain ASGI middleware around everything, for HTTP and for websockets.

In this order: is the Host one of our names (DNS rebinding), is the Origin ours (other sites' pages), who is it (cookie,
bearer token, or `?token=` once, answered by a redirect that sets the cookie), may a cookie do this (CSRF), is the body
within its limit. Nothing passes without an identity but the sign-in and set-up doors. Only the token of a one-person
server may stand in an address: a team's would let one person sign another one in unawares.

Against CSRF three things stand together, and no extra header is needed: the cookie is SameSite=Strict; an Origin that
is sent must be ours; and an unsafe request, or a websocket, that is let in by a cookie must prove where it comes from,
by an Origin of ours or by Sec-Fetch-Site: same-origin. Every browser sends one of the two. A bearer token is never
sent by a browser on its own, so requests with one need no such proof.
"""

import hmac
import html
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, quote, urlencode

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seedbed.assets.access.roles import SOLO, Identity
from seedbed.base.errors import Forbidden, SeedbedError, TooLarge, Unauthenticated
from seedbed.faces.api.hosts import Hosts
from seedbed.faces.api.problems import problem_of, too_large

OPEN_PATHS = frozenset({"/sign-in", "/set-up", "/api/v1/session", "/api/v1/set-up"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_BODY_LIMIT = 16 << 20  # of requests that are no uploads
_UPLOADS = ("/api/v1/uploads", "/_nicegui/")
_LOOK_AGAIN = 30.0  # seconds after which an open websocket's session is looked at again

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # The pages compile their templates in the browser, hence eval; nothing is ever loaded from elsewhere.
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Visitor:
    """Who came in, and by which key: `cookie`, `bearer`, or '' for nobody at an open door."""

    identity: Identity | None
    by: str = ""
    token: str = ""


@dataclass(frozen=True)
class Door:
    """What the guard knows: our names, the keys, and the limits. `solo_token` None: a team, with users and sessions."""

    hosts: Hosts
    identify: Callable[[str], Identity | None]
    record_refusal: Callable[[Identity, str, str, str], None]  # who, action, subject, address
    solo_token: str | None = None
    upload_limit: int = 8 << 30
    session_seconds: int = 12 * 3600

    def opens(self, token: str) -> Identity | None:
        """Whom a token stands for."""
        if self.solo_token is not None:
            return SOLO if hmac.compare_digest(token.encode(), self.solo_token.encode()) else None
        return self.identify(token)

    async def who(self, token: str) -> Identity | None:
        """The same, without holding up the event loop where the database is asked."""
        return self.opens(token) if self.solo_token is not None else await to_thread.run_sync(self.opens, token)


def cookie_name(scope: Scope) -> str:
    """Cookies ignore ports, so two servers of one machine would share one: the port is part of the name."""
    server = scope.get("server")
    return f"seedbed-{server[1] if server else 0}"


def set_cookie(response: Response, scope: Scope, token: str, *, seconds: int, secure: bool) -> None:
    """Give a browser its key."""
    response.set_cookie(
        cookie_name(scope), token, max_age=seconds, httponly=True, samesite="strict", secure=secure, path="/"
    )


class Guard:
    """The middleware; see the module's text for what it checks."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request or a websocket in, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check_origin(headers)
            if redirect := self._redirect(scope):
                await redirect(scope, receive, _hardened(send, scope))
                return
            visitor = await self._visitor(scope, headers)
            self._check_forgery(scope, headers, visitor)
            self._check_length(scope, headers)
        except SeedbedError as error:
            await _refuse(error, scope, headers, receive, send)
            return
        scope.setdefault("state", {})["identity"] = visitor.identity
        scope["state"]["token"] = visitor.token
        if scope["type"] == "websocket":
            await self.app(scope, self._watched(receive, visitor), send)
        else:
            await self._serve(scope, self._counted(scope, receive), send, visitor)

    def _check_origin(self, headers: Headers) -> None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._door.hosts.knows(host):
            raise Forbidden(
                f"This server does not answer to the name '{host}'.",
                hint="Set public_url (SEEDBED_PUBLIC_URL) to the address that people use.",
            )
        if origin is not None and not self._door.hosts.same_origin(origin, host):
            raise Forbidden(f"Pages of '{origin}' may not use this server.", hint="Open Seedbed's own page.")

    def _redirect(self, scope: Scope) -> Response | None:
        """The answer to an address with the token in it: the cookie, and the address without the token."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or self._door.solo_token is None:
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = next((value for name, value in query if name == "token"), None)
        if token is None or self._door.opens(token) is None:
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # a path that begins with two slashes would be read as another host's address
        path = "/" + quote(scope["path"].lstrip("/\\"), safe="/:@!$&'()*+,;=~")
        response = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
        seconds, secure = self._door.session_seconds, self._door.hosts.secure
        set_cookie(response, scope, token, seconds=seconds, secure=secure)
        return response

    async def _visitor(self, scope: Scope, headers: Headers) -> Visitor:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        by, token = ("bearer", bearer.strip()) if scheme.lower() == "bearer" else ("cookie", _cookie(scope, headers))
        identity = await self._door.who(token) if token else None
        if identity is not None:
            return Visitor(identity, by, token)
        if scope["type"] == "http" and scope["path"] in OPEN_PATHS:
            return Visitor(None)
        if token:
            raise Unauthenticated("This token or session is not known, or no longer valid.", hint=self._how_to_enter())
        raise Unauthenticated("Nothing is served without a token.", hint=self._how_to_enter())

    def _how_to_enter(self) -> str:
        if self._door.solo_token is None:
            return "Sign in at /sign-in, or send an API token: Authorization: Bearer TOKEN."
        return "Open the address that `seedbed up` printed: it carries the token."

    def _check_forgery(self, scope: Scope, headers: Headers, visitor: Visitor) -> None:
        safe = scope["type"] == "http" and scope["method"] in SAFE_METHODS
        if visitor.by != "cookie" or safe or "origin" in headers or headers.get("sec-fetch-site") == "same-origin":
            return  # an Origin that is there was checked already
        raise Forbidden(
            "A request with a cookie must say which page it comes from.",
            hint="Send the Origin header, or use a token: Authorization: Bearer TOKEN.",
        )

    def _limit(self, scope: Scope) -> int:
        return self._door.upload_limit if scope["path"].startswith(_UPLOADS) else _BODY_LIMIT

    def _check_length(self, scope: Scope, headers: Headers) -> None:
        length, limit = headers.get("content-length", ""), self._limit(scope)
        if length.isdecimal() and int(length[:20]) > limit:
            raise TooLarge(
                f"The request is larger than the limit of {limit} bytes.", hint="The setting upload_limit sets it."
            )

    def _counted(self, scope: Scope, receive: Receive) -> Receive:
        limit, seen = self._limit(scope), 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise too_large(limit)
            return message

        return counted

    def _watched(self, receive: Receive, visitor: Visitor) -> Receive:
        """A websocket may outlive its session: once in a while the key is tried again."""
        looked = time.monotonic()

        async def watched() -> Message:
            nonlocal looked
            message = await receive()
            if time.monotonic() - looked > _LOOK_AGAIN:
                looked = time.monotonic()
                if await self._door.who(visitor.token) is None:
                    return {"type": "websocket.disconnect", "code": 1008, "reason": "The session is over."}
            return message

        return watched

    async def _serve(self, scope: Scope, receive: Receive, send: Send, visitor: Visitor) -> None:
        async def noted(message: Message) -> None:
            refused = message["type"] == "http.response.start" and message["status"] == Forbidden.status
            if refused and visitor.identity is not None and scope["method"] not in SAFE_METHODS:
                await self._note(scope, visitor.identity)
            await send(message)

        await self.app(scope, receive, _hardened(noted, scope))

    async def _note(self, scope: Scope, identity: Identity) -> None:
        """The use cases write down what is done; what a role did not allow never reaches them."""
        action = getattr(scope.get("route"), "unique_id", scope["method"].lower())
        address = (scope.get("client") or ("",))[0]
        try:
            await to_thread.run_sync(self._door.record_refusal, identity, action, scope["path"], address)
        except SeedbedError as error:
            _log.warning("The audit log missed %s %s: %s", scope["method"], scope["path"], error)


def _cookie(scope: Scope, headers: Headers) -> str:
    try:
        jar = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    morsel = jar.get(cookie_name(scope))
    return morsel.value if morsel else ""


def _hardened(send: Send, scope: Scope) -> Send:
    more = {"Cache-Control": "no-store"} if scope["path"].startswith("/api/") else {}

    async def hardened(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in {**_HEADERS, **more}.items():
                headers.setdefault(name, value)
        await send(message)

    return hardened


async def _refuse(error: SeedbedError, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": error.message})
        return
    wants_page = not scope["path"].startswith("/api/") and "text/html" in headers.get("accept", "")
    await (_page(error, scope) if wants_page else problem_of(error))(scope, receive, _hardened(send, scope))


def _page(error: SeedbedError, scope: Scope) -> Response:
    if isinstance(error, Unauthenticated) and scope["method"] in SAFE_METHODS:
        return RedirectResponse("/sign-in?" + urlencode({"next": scope["path"]}), 303)
    text = f"<p>{html.escape(error.message)}</p><p>{html.escape(error.hint)}</p>"
    return HTMLResponse(f"<!doctype html><html lang=en><title>Seedbed</title><main>{text}</main>", error.status)
