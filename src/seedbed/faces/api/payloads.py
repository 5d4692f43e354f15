"""Reading what a request carries so that nothing in it can surprise the rooms below.

JSON allows, or Python's reader lets through, what a database refuses or a file name must not hold: NUL characters,
halves of surrogate pairs, NaN, numbers beyond 64 bits. They are refused here, once, for every route.
"""

import json
import math
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

_LARGEST = 1 << 63
_DEEPEST = 100
Place = tuple[str | int, ...]


class CheckedRoute(APIRoute):
    """A route whose path, query and JSON body were looked through before FastAPI reads them."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler behind our look."""
        handler = super().get_route_handler()

        async def checked(request: Request) -> Response:
            mistakes = [*_of_address(request), *await _of_body(request)]
            if mistakes:
                raise RequestValidationError(mistakes)
            return await handler(request)

        return checked


def _of_address(request: Request) -> Iterator[dict[str, Any]]:
    for name, value in request.path_params.items():
        yield from _mistakes(value, ("path", name))
    for name, value in request.query_params.multi_items():
        yield from _mistakes(name, ("query",))
        yield from _mistakes(value, ("query", name))


async def _of_body(request: Request) -> list[dict[str, Any]]:
    if not request.headers.get("content-type", "").partition(";")[0].strip().lower().endswith("json"):
        return []
    body = await request.body()
    if not body:
        return []
    try:
        value = json.loads(body)
    except RecursionError:
        return [_mistake(("body",), f"it is nested deeper than {_DEEPEST} levels")]
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"The body is not UTF-8 text: byte {error.start} does not fit.") from None
    except json.JSONDecodeError:
        return []  # FastAPI's own reader says where
    except ValueError:
        return [_mistake(("body",), "a number has too many digits")]
    return list(_mistakes(value, ("body",)))


def _mistakes(value: Any, place: Place) -> Iterator[dict[str, Any]]:
    if len(place) > _DEEPEST:
        yield _mistake(place[:3], f"it is nested deeper than {_DEEPEST} levels")
    elif isinstance(value, str):
        if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            yield _mistake(place, "the text holds a NUL character or half a character")
    elif isinstance(value, int | float):
        if not math.isfinite(value) or not -_LARGEST <= value < _LARGEST:
            yield _mistake(place, "the number is too large or not finite")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _mistakes(item, (*place, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _mistakes(key, place)
            yield from _mistakes(item, (*place, key))


def _mistake(place: Place, message: str) -> dict[str, Any]:
    return {"type": "value_error", "loc": place, "msg": message, "input": None}
