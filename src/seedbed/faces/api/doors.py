"""The two doors that are open to everybody: sign-in, and the set-up of the first operator. Plain pages, no script."""

import hmac
from html import escape
from urllib.parse import quote

from fastapi import APIRouter, Form, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from seedbed.assets.access.users import User
from seedbed.base.errors import Forbidden, InvalidInput, SeedbedError, Unauthenticated
from seedbed.faces.api.access import Anyone, Here, Viewer
from seedbed.faces.api.guard import Door, cookie_name, set_cookie
from seedbed.faces.api.payloads import CheckedRoute

doors = APIRouter(route_class=CheckedRoute, include_in_schema=False)

_STYLE = """
:root { color-scheme: light dark; --ground: #f6f7f3; --paper: #fff; --line: #e1e5dc; --ink: #1b231d; --soft: #59665d;
  --leaf: #2c7a4b; --on-leaf: #fff; --red: #b3261e; --wash: #fbe9e7 }
@media (prefers-color-scheme: dark) { :root { --ground: #101411; --paper: #181e1a; --line: #2b352e; --ink: #e5ebe6;
  --soft: #9caaa0; --leaf: #6fc78f; --on-leaf: #0d1a12; --red: #f28b82; --wash: #391c1a } }
* { box-sizing: border-box } body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.55
  -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif }
main { max-width: 24rem; margin: 14vh auto 0; padding: 0 1rem } h1 { font-size: 1.4rem; margin: 0 0 1.2rem }
.brand { color: var(--leaf); font-weight: 700; margin: 0 0 1rem; letter-spacing: -.01em }
form, .wrong { background: var(--paper); border: 1px solid var(--line); border-radius: 14px; padding: 1.4rem }
label { display: block; margin: 0 0 1rem; color: var(--soft); font-size: 13px }
input, button { font: inherit; width: 100%; padding: .55rem .8rem; border: 1px solid var(--line); border-radius: 9px;
  background: var(--paper); color: var(--ink); margin-top: .3rem; font-size: 15px }
button { background: var(--leaf); border-color: var(--leaf); color: var(--on-leaf); font-weight: 600; cursor: pointer }
form p { margin: .4rem 0 0 } :focus-visible { outline: 3px solid var(--leaf); outline-offset: 2px }
.wrong { background: var(--wash); color: var(--red); border-color: transparent; margin: 0 0 1rem;
  padding: .8rem 1.2rem } .wrong ul { margin: .3rem 0; padding-left: 1.2rem }
"""


def give_session(request: Request, response: Response, name: str, password: str) -> None:
    """Check name and password, and put the session's cookie on the response."""
    door: Door = request.app.state.door
    if door.solo_token is not None:
        raise InvalidInput("This server has no users: it opens with its token.", hint="seedbed up --team has users.")
    address = request.client.host if request.client else ""
    token = request.app.state.platform.users.sign_in(name, password, address=address)
    set_cookie(response, request.scope, token, seconds=door.session_seconds, secure=door.hosts.secure)


def forget_cookie(request: Request, response: Response) -> None:
    """Take the cookie back."""
    response.delete_cookie(cookie_name(request.scope), path="/", httponly=True, samesite="strict")


def set_up_first_operator(request: Request, code: str, name: str, password: str) -> User:
    """Make the first operator for whoever holds the code that the server printed."""
    expected: str | None = request.app.state.set_up_code
    if expected is None or not hmac.compare_digest(code.encode(), expected.encode()):
        raise Forbidden(
            "This set-up link is not valid, or was used already.", hint="seedbed up --team prints a new one."
        )
    user: User = request.app.state.platform.users.first_operator(name, password)
    request.app.state.set_up_code = None
    return user


@doors.get("/sign-in")
def sign_in_page(request: Request, _: Anyone, next: str = "/") -> Response:
    """Where a browser without a key ends up."""
    return _sign_in_page(request, next)


@doors.post("/sign-in")
def sign_in(
    request: Request,
    _: Anyone,
    name: str = Form("", max_length=200),
    password: str = Form("", max_length=1024),
    token: str = Form("", max_length=1024),
    next: str = Form("/", max_length=2000),
) -> Response:
    """Name and password, or the token of a one-person server, for the cookie."""
    response = RedirectResponse(_local(next), 303)
    door: Door = request.app.state.door
    try:
        if door.solo_token is None:
            give_session(request, response, name, password)
        elif door.opens(token) is not None:
            set_cookie(response, request.scope, token, seconds=door.session_seconds, secure=door.hosts.secure)
        else:
            raise Unauthenticated("This is not the token.", hint="`seedbed up` printed it.")
    except SeedbedError as error:
        return _sign_in_page(request, next, error)
    return response


@doors.post("/sign-out")
def sign_out(request: Request, here: Here, by: Viewer) -> Response:
    """End the session and go back to the door."""
    if request.app.state.door.solo_token is None:
        here.users.sign_out(request.scope["state"]["token"])
    response = RedirectResponse("/sign-in", 303)
    forget_cookie(request, response)
    return response


@doors.get("/set-up")
def set_up_page(request: Request, _: Anyone, code: str = "") -> Response:
    """Where the link that `seedbed up --team` printed leads."""
    return _set_up_page(code)


@doors.post("/set-up")
def set_up(
    request: Request,
    _: Anyone,
    code: str = Form("", max_length=200),
    name: str = Form("", max_length=200),
    password: str = Form("", max_length=1024),
) -> Response:
    """Make the first operator, and sign them in."""
    response = RedirectResponse("/", 303)
    try:
        set_up_first_operator(request, code, name, password)
        give_session(request, response, name, password)
    except SeedbedError as error:
        return _set_up_page(code, error)
    return response


def _sign_in_page(request: Request, following: str, error: SeedbedError | None = None) -> Response:
    keep = f"<input type=hidden name=next value='{escape(_local(following), quote=True)}'>"
    if request.app.state.door.solo_token is None:
        fields = _field("Name", "name", "text", "username") + _field("Password", "password", "password")
    else:
        fields = _field("Token, as `seedbed up` printed it", "token", "password")
    return _page("Sign in", "/sign-in", keep + fields, "Sign in", error)


def _set_up_page(code: str, error: SeedbedError | None = None) -> Response:
    keep = f"<input type=hidden name=code value='{escape(code, quote=True)}'>"
    fields = _field("Your name", "name", "text", "username") + _field("A password", "password", "password")
    return _page("Set up the first operator", "/set-up", keep + fields, "Make me the operator", error)


def _field(label: str, name: str, kind: str, complete: str = "current-password") -> str:
    return f"<label>{label}<input name={name} type={kind} autocomplete={complete} required></label>"


def _page(title: str, action: str, fields: str, button: str, error: SeedbedError | None) -> Response:
    wrong = f"<div class=wrong role=alert>{_said(error)}</div>" if error else ""
    body = (
        f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<link rel=icon href='data:,'><title>Seedbed: {title}</title><style>{_STYLE}</style>"
        f"<main><p class=brand>Seedbed</p><h1>{title}</h1>{wrong}"
        f"<form method=post action={action}>{fields}<p><button>{button}</button></form></main>"
    )
    return HTMLResponse(body, error.status if error else 200, headers={"Cache-Control": "no-store"})


def _said(error: SeedbedError) -> str:
    """A mistake with all its problems, one below another."""
    problems = "".join(f"<li>{escape(problem)}" for problem in error.problems)
    listed = f"<ul>{problems}</ul>" if problems else ""
    return f"{escape(error.message)}{listed} {escape(error.hint)}"


def _local(following: str) -> str:
    """A path of ours: never another site's address, however it is spelt."""
    return quote("/" + following.lstrip("/\\ \t\r\n"), safe="/?=&%:@!$'()*+,;~#-._")
