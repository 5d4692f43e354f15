"""Every refusal is one problem document (RFC 9457, application/problem+json)."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from seedbed.base.errors import InvalidInput, NotFound, SeedbedError, TooLarge, family
from seedbed.base.ids import new_id
from seedbed.base.mistakes import allowed_by, shown

MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger(__name__)


class Problem(BaseModel):
    """Why something was refused, in words, and what can be done."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:seedbed:problem:not-found",
                    "title": "Not found",
                    "status": 404,
                    "detail": "There is no job '0192'.",
                    "hint": "seedbed jobs list shows all of them.",
                    "problems": [],
                    "code": "not-found",
                }
            ]
        }
    )

    type: str = Field(description="Names the kind of problem; ends with its code.")
    title: str = Field(description="The kind of problem in a few words.")
    status: int = Field(description="The HTTP status of the answer.")
    detail: str = Field(description="What is wrong here, as a sentence.")
    hint: str = Field("", description="What to do about it.")
    problems: list[str] = Field(default_factory=list, description="Everything wrong with the input, at once.")
    code: str = Field(description="The anchor of its section in docs/errors.md.")


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of those statuses: each is a problem document."""
    return {
        status: {
            "description": _TITLES.get(status, "Refused"),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in statuses
    }


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    hint: str = "",
    problems: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A response that carries one problem document."""
    document = Problem(
        type=f"urn:seedbed:problem:{code}",
        title=code.replace("-", " ").capitalize(),
        status=status,
        detail=detail,
        hint=hint,
        problems=list(problems),
        code=code,
    )
    return JSONResponse(document.model_dump(), status, media_type=MEDIA_TYPE, headers=headers)


def problem_of(error: SeedbedError) -> Response:
    """The document of one of our own errors."""
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
    return problem(error.status, error.code, error.message, hint=error.hint, problems=error.problems, headers=headers)


def install(app: FastAPI) -> None:
    """Make every exception of the app answer with a problem document."""
    app.add_exception_handler(SeedbedError, _own)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


async def _own(request: Request, error: Exception) -> Response:
    assert isinstance(error, SeedbedError)
    if error.status >= 500:
        _log.warning("%s %s: %s", request.method, request.url.path, error)
    return problem_of(error)


async def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = [_sentence(mistake) for mistake in error.errors()]
    count = "one mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
    return problem_of(InvalidInput(f"The request has {count}.", problems=problems))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        message = f"There is nothing at {request.url.path}."
        return problem_of(NotFound(message, hint="GET /api/v1/openapi.json lists every route."))
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        detail = f"{request.method} is not possible at {request.url.path}."
        hint = f"Possible: {allowed}." if allowed else ""
        return problem(405, "method-not-allowed", detail, hint=hint, headers=error.headers)
    code = _CODES.get(error.status_code, "invalid-input" if error.status_code < 500 else "error")
    return problem(error.status_code, code, str(error.detail), headers=error.headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    number = new_id()
    _log.error("%s %s failed (%s)", request.method, request.url.path, number, exc_info=error)
    detail = "Something went wrong that Seedbed did not foresee; nothing that was acknowledged is lost."
    return problem(500, "error", detail, hint=f"The server's log has the details under {number}.")


def too_large(limit: int) -> HTTPException:
    """Raised while a body is read: FastAPI lets its own kind of exception through, and turns others into 400."""
    return HTTPException(TooLarge.status, f"The request is larger than the limit of {limit} bytes.")


def _sentence(mistake: Mapping[str, Any]) -> str:
    loc = mistake["loc"]
    place = ".".join(str(part) for part in loc if part != "body") or "body"
    if mistake["type"] == "json_invalid":
        place = f"body, character {loc[-1]}"
    given = mistake.get("input")
    said = "" if given is None or isinstance(given, dict | list) else f" (given: {shown(given)})"
    return f"{place}: {_readable(mistake)}{said}"


def _readable(mistake: Mapping[str, Any]) -> str:
    if mistake["type"] == "json_invalid":
        return f"this is not JSON: {mistake.get('ctx', {}).get('error', '')}"
    if mistake["type"] == "extra_forbidden":
        return "there is no such field"
    allowed = allowed_by(mistake)
    return f"it must be {allowed}" if allowed else str(mistake["msg"])


_CODES = {member.status: member.code for member in reversed(family())}
_TITLES = {
    400: "The request cannot be read",
    401: "Nobody is signed in",
    403: "The role does not allow this",
    404: "No such thing",
    409: "It clashes with what is there",
    413: "Too large",
    416: "No such part of the file",
    422: "The input cannot be used",
    503: "Something that is needed cannot be reached",
    507: "The disk is full",
}
