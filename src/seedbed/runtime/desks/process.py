"""A desk's process: `python -m seedbed.runtime.desks.process CHANNEL MODULE:OBJECT KEY IDLE`.

It answers what comes over the channel, a socket that it inherits, one question after the other. It ends when it has
been asked nothing for IDLE seconds, and at once when the other end closes, which the operating system does when the
server ends, even by kill -9.
"""

import logging
import os
import queue
import signal
import socket
import sys
import threading
from typing import Any

from seedbed.base.errors import Failed, SeedbedError
from seedbed.base.registry import Registry
from seedbed.runtime.desks.frames import Gone, receive, send
from seedbed.runtime.desks.protocol import Desk, Maker

_log = logging.getLogger(__name__)


def main(arguments: list[str]) -> int:
    """Sit at the desk until nobody asks any more."""
    handle, row, key, idle = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = socket.socket(fileno=int(handle))
    questions: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_listen, args=(channel, questions), daemon=True).start()
    seat = _Seat(Registry("desk", {"desk": row}), key)
    while True:
        try:
            asked = questions.get(timeout=float(idle))
        except queue.Empty:
            return 0  # a question that comes at this very moment is asked again of a fresh desk
        try:
            send(channel, {"number": asked["number"], **seat.outcome(asked["question"])})
        except Gone:
            return 0


def _listen(channel: socket.socket, questions: "queue.Queue[dict[str, Any]]") -> None:
    """Read ahead, in a thread of its own: so the end of the server is seen in the middle of an answer too."""
    try:
        while True:
            questions.put(receive(channel))
    except Gone:
        os._exit(0)  # whatever is being computed: nobody waits for it


class _Seat:
    """Whoever answers; made with the first question, so that trouble with it is an answer too."""

    def __init__(self, makers: "Registry[Maker]", key: str) -> None:
        self._makers = makers
        self._key = key
        self._desk: Desk | None = None

    def outcome(self, question: dict[str, Any]) -> dict[str, Any]:
        try:
            if self._desk is None:
                self._desk = self._makers.get("desk")(self._key)
            return {"answer": dict(self._desk.answer(question))}
        except SeedbedError as error:
            return {"error": _told(error)}
        except Exception as error:
            _log.exception("A question could not be answered.")
            words = f"{type(error).__name__}: {error}".rstrip(": ")
            return {"error": _told(Failed(f"The question could not be answered: {words}."))}


def _told(error: SeedbedError) -> dict[str, Any]:
    return {"code": error.code, "message": error.message, "hint": error.hint, "problems": list(error.problems)}


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    sys.exit(main(sys.argv[1:]))
