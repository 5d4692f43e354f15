"""/users, /session, /set-up and /audit: people, and what they did."""

from typing import Annotated

from fastapi import Path, Query, Request
from starlette.responses import JSONResponse, Response

from seedbed.faces.api.access import Anyone, Here, Operator, Viewer
from seedbed.faces.api.doors import forget_cookie, give_session, set_up_first_operator
from seedbed.faces.api.requests import (
    MailAsked,
    PasswordAsked,
    RoleAsked,
    SetUpAsked,
    SignInAsked,
    TokenAsked,
    UserAsked,
)
from seedbed.faces.api.routing import Limit, Offset, router
from seedbed.faces.api.views import AuditView, IdentityView, NewTokenView, TokenView, UserView

users = router("users")
session = router("session")
set_up = router("set-up")
audit = router("audit")
UserRef = Annotated[str, Path(description="The user's id or name.", max_length=200)]


@users.get("")
def find(here: Here, by: Operator) -> list[UserView]:
    """Every account."""
    return [UserView.of(user) for user in here.users.list(by=by)]


@users.post("", status_code=201)
def create(asked: UserAsked, here: Here, by: Operator) -> UserView:
    """One more account."""
    return UserView.of(here.users.create(asked.name, asked.role, password=asked.password, mail=asked.mail, by=by))


@users.get("/{ref}")
def show(ref: UserRef, here: Here, by: Viewer) -> UserView:
    """One account: your own, or anybody's as operator."""
    return UserView.of(here.users.get(ref, by=by))


@users.put("/{ref}/role")
def set_role(ref: UserRef, asked: RoleAsked, here: Here, by: Operator) -> UserView:
    """Another role; the last operator keeps theirs."""
    return UserView.of(here.users.set_role(ref, asked.role, by=by))


@users.put("/{ref}/password", status_code=204)
def set_password(ref: UserRef, asked: PasswordAsked, here: Here, by: Viewer) -> None:
    """Another password: your own, with the present one, or anybody else's as operator.

    It ends all sessions of the account; its API tokens stay.
    """
    here.users.set_password(ref, asked.password, present=asked.present, by=by)


@users.post("/{ref}/disable")
def disable(ref: UserRef, here: Here, by: Operator) -> UserView:
    """Nothing that this account has opens a door any more."""
    return UserView.of(here.users.disable(ref, by=by))


@users.post("/{ref}/enable")
def enable(ref: UserRef, here: Here, by: Operator) -> UserView:
    """Let a disabled account in again, also with the API tokens that it had."""
    return UserView.of(here.users.enable(ref, by=by))


@users.put("/{ref}/mail")
def set_mail(ref: UserRef, asked: MailAsked, here: Here, by: Viewer) -> UserView:
    """Where mail about ended jobs goes; empty: none."""
    return UserView.of(here.users.set_mail(ref, asked.mail, by=by))


@users.get("/{ref}/tokens")
def tokens(ref: UserRef, here: Here, by: Viewer) -> list[TokenView]:
    """The API tokens of an account, without their text."""
    return [TokenView.of(token) for token in here.users.tokens(ref, by=by)]


@users.post("/{ref}/tokens", status_code=201)
def make_token(ref: UserRef, asked: TokenAsked, here: Here, by: Viewer) -> NewTokenView:
    """A new API token; its text is shown this once."""
    return NewTokenView(token=here.users.make_token(ref, asked.name, days=asked.days, by=by))


@users.delete("/tokens/{token_id}", status_code=204)
def revoke(token_id: Annotated[str, Path(max_length=200)], here: Here, by: Viewer) -> None:
    """Make a token worthless."""
    here.users.revoke(token_id, by=by)


@session.get("")
def who(by: Viewer) -> IdentityView:
    """Who is signed in, with which role."""
    return IdentityView.of(by)


@session.post("", status_code=201)
def sign_in(asked: SignInAsked, request: Request, _: Anyone) -> Response:
    """Sign in with name and password: sets the session's cookie."""
    response = JSONResponse({"name": asked.name}, 201)
    give_session(request, response, asked.name, asked.password)
    return response


@session.delete("", status_code=204)
def sign_out(request: Request, here: Here, by: Viewer) -> Response:
    """End the session."""
    here.users.sign_out(request.scope["state"]["token"])
    response = Response(status_code=204)
    forget_cookie(request, response)
    return response


@set_up.post("", status_code=201)
def first_operator(asked: SetUpAsked, request: Request, _: Anyone) -> UserView:
    """Make the first operator, with the code that `seedbed up --team` printed."""
    return UserView.of(set_up_first_operator(request, asked.code, asked.name, asked.password))


@audit.get("")
def lines(
    here: Here,
    by: Operator,
    who: Annotated[str, Query(max_length=200)] = "",
    action: Annotated[str, Query(max_length=200)] = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[AuditView]:
    """Who did what, newest first."""
    found = here.users.audit(limit=limit, offset=offset, who=who, action=action, by=by)
    return [AuditView.of(line) for line in found]
