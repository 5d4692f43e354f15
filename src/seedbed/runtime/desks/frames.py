"""JSON objects over a socket, each behind its length; late and gone are told apart."""

import json
import socket
import struct
import time
from typing import Any

LARGEST = 256 << 20  # bytes of one object: more than any question or answer has
_HEAD = struct.Struct(">I")


class Gone(Exception):
    """There is nobody at the other end any more."""


def send(channel: socket.socket, value: Any, *, until: float | None = None) -> None:
    """Send an object, before a moment of the monotonic clock if one is given; TimeoutError when it comes."""
    body = json.dumps(value).encode()
    if len(body) > LARGEST:
        raise ValueError(f"{len(body):,} bytes are more than a desk takes at once ({LARGEST:,}).")
    try:
        channel.settimeout(_left(until))
        channel.sendall(_HEAD.pack(len(body)) + body)
    except TimeoutError:
        raise
    except OSError as error:
        raise Gone from error


def receive(channel: socket.socket, *, until: float | None = None) -> Any:
    """The next object; TimeoutError when the moment has come."""
    (length,) = _HEAD.unpack(_exactly(channel, _HEAD.size, until))
    if length > LARGEST:
        raise Gone
    return json.loads(_exactly(channel, length, until))


def _exactly(channel: socket.socket, count: int, until: float | None) -> bytes:
    body = bytearray(count)
    view, have = memoryview(body), 0
    while have < count:
        try:
            channel.settimeout(_left(until))
            read = channel.recv_into(view[have:])
        except TimeoutError:
            raise
        except OSError as error:
            raise Gone from error
        if not read:
            raise Gone
        have += read
    return bytes(body)


def _left(until: float | None) -> float | None:
    if until is None:
        return None
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
