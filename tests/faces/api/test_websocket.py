"""A websocket lives no longer than the session that opened it."""

from typing import Any

import pytest
from starlette.types import Message

from seedbed.assets.access.roles import Identity, Role
from seedbed.base.settings import Settings
from seedbed.faces.api import guard
from seedbed.faces.api.guard import Door, Guard
from seedbed.faces.api.hosts import Hosts

ADA = Identity("1", "ada", Role.VIEWER)


class Sessions:
    """Who a token stands for, until it is ended."""

    def __init__(self) -> None:
        self.known = {"session": ADA}

    def identify(self, token: str) -> Identity | None:
        return self.known.get(token)


async def converse(sessions: Sessions, *, end_after: int) -> list[Message]:
    """What an app behind the guard receives of five messages, when the session ends after some of them."""
    received: list[Message] = []
    sent = 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while not received or received[-1]["type"] != "websocket.disconnect":
            received.append(await receive())

    async def receive() -> Message:
        nonlocal sent
        sent += 1
        if sent == end_after:
            sessions.known.clear()
        return {"type": "websocket.receive", "text": str(sent)} if sent < 6 else {"type": "websocket.disconnect"}

    async def send(message: Message) -> None:
        received.append(message)

    door = Door(Hosts.of(Settings()), sessions.identify, lambda *_: None)
    scope = {
        "type": "websocket",
        "path": "/x",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"authorization", b"Bearer session")],
        "server": ("127.0.0.1", 80),
    }
    await Guard(app, door)(scope, receive, send)
    return received


async def test_messages_pass_while_the_session_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_LOOK_AGAIN", 0.0)
    received = await converse(Sessions(), end_after=99)
    assert [message.get("text") for message in received] == ["1", "2", "3", "4", "5", None]


async def test_an_ended_session_ends_its_websocket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_LOOK_AGAIN", 0.0)
    received = await converse(Sessions(), end_after=3)
    assert [message.get("text") for message in received] == ["1", "2", None]
    assert received[-1]["code"] == 1008


async def test_the_identity_is_found_by_what_stands_behind_the_guard() -> None:
    found: list[object] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        found.append(scope["state"]["identity"])

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    door = Door(Hosts.of(Settings()), Sessions().identify, lambda *_: None)
    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer session")]
    await Guard(app, door)({"type": "websocket", "path": "/x", "headers": headers}, receive, send)
    assert found == [ADA]
