"""Speaking to an ASGI app of this process."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from seedbed.faces.client.inprocess import InProcessTransport


async def echo(request: Request) -> Response:
    body = await request.body()
    return JSONResponse({"method": request.method, "query": dict(request.query_params), "size": len(body)}, 201)


async def long(request: Request) -> Response:
    async def pieces() -> Any:
        for number in range(100):
            yield f"{number}\n"

    return StreamingResponse(pieces())


async def broken(request: Request) -> Response:
    raise RuntimeError("a mistake of ours")


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    app = Starlette(routes=[Route("/echo", echo, methods=["POST"]), Route("/long", long), Route("/broken", broken)])
    with httpx.Client(base_url="http://localhost", transport=InProcessTransport(app)) as client:
        yield client


def test_a_request_body_that_comes_in_pieces_arrives_whole(client: httpx.Client) -> None:
    response = client.post("/echo?a=1", content=(bytes(1000) for _ in range(50)))
    assert response.status_code == 201
    assert response.json() == {"method": "POST", "query": {"a": "1"}, "size": 50_000}


def test_an_answer_that_comes_in_pieces_arrives_whole(client: httpx.Client) -> None:
    assert client.get("/long").text.split() == [str(number) for number in range(100)]


def test_an_answer_may_be_left_half_read(client: httpx.Client) -> None:
    with client.stream("GET", "/long") as response:
        next(response.iter_bytes())
    assert client.get("/long").status_code == 200


def test_an_app_that_fails_answers_500_and_the_next_request_works(client: httpx.Client) -> None:
    assert client.get("/broken").status_code == 500
    assert client.get("/long").status_code == 200


def test_an_app_that_gives_no_answer_is_an_error_not_a_hang() -> None:
    async def silent(scope: Any, receive: Any, send: Any) -> None:
        return

    with (
        httpx.Client(base_url="http://localhost", transport=InProcessTransport(silent)) as client,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        client.get("/")


def test_text_comes_back_as_it_was(client: httpx.Client) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse("äöü")(scope, receive, send)

    with httpx.Client(base_url="http://localhost", transport=InProcessTransport(app)) as other:
        assert other.get("/").text == "äöü"
