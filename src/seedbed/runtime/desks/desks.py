"""Desks: one resident worker process per key, started when it is first asked, gone when nobody asks."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from seedbed.base.errors import Failed, SeedbedError, Unavailable, family
from seedbed.runtime.desks.frames import Gone, receive, send
from seedbed.runtime.desks.protocol import Answer, Question

_DEATHS = 3  # of the desk in the middle of one question, after which the question is to blame
_GRACE = 2.0  # seconds that a process has to end by itself
_BY_CODE = {member.code: member for member in family()}


class Desks:
    """The desks of one server. Safe to use from any thread; close it in the end.

    `row` names the maker of what answers (`protocol.Maker`) as `"module:object"`. A desk answers one question at a
    time, others wait for their turn; desks of different keys do not wait for each other. One that was asked nothing
    for `idle` seconds ends by itself; of more than `most` the one that rested longest makes room. A desk that dies is
    replaced, and what it was asked is asked again. One that does not answer in time is killed.
    """

    def __init__(
        self, row: str, *, idle: float = 900.0, most: int = 8, environment: Mapping[str, str] | None = None
    ) -> None:
        self._row = row
        self._idle = idle
        self._most = most
        self._environment = dict(environment or {})
        self._desks: dict[str, _Process] = {}
        self._lock = threading.Lock()
        self._closed = False

    def ask(self, key: str, question: Question, *, timeout: float = 30.0) -> Answer:
        """The answer of the desk of a key, which is started if need be.

        What the desk refuses is raised as it raised it. Unavailable: it did not answer within `timeout` seconds,
        which the wait for its turn is part of. Failed: it died of this question more than once.
        """
        until = time.monotonic() + timeout
        deaths = 0
        while deaths < _DEATHS:
            desk = self._desk_of(key)
            try:
                return _answer_of(desk.ask(question, until))
            except _NotAsked:
                pass  # it ended before its turn came
            except Gone:
                deaths += 1
            except TimeoutError:
                self._end(desk)
                raise _late(timeout) from None
            self._end(desk)
        raise Failed(
            f"The worker process that was to answer ended {deaths} times in the middle of it.",
            hint="The server's log may say why; often the machine has too little memory.",
        )

    def processes(self) -> dict[str, int]:
        """The pid of each desk that there is, by key."""
        with self._lock:
            return {key: desk.pid for key, desk in self._desks.items() if desk.alive}

    def close(self) -> None:
        """End all of them; questions that are being answered are refused."""
        with self._lock:
            self._closed = True
            ending = list(self._desks.values())
            self._desks.clear()
        for desk in ending:
            desk.leave()
        for desk in ending:
            desk.end(_GRACE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _desk_of(self, key: str) -> "_Process":
        with self._lock:
            if self._closed:
                raise Unavailable("The server is stopping.", hint="Ask again once it is back.")
            desk = self._desks.get(key)
            if desk is None or not desk.alive:
                self._desks.pop(key, None)
                self._make_room()
                desk = self._desks[key] = _Process([self._row, key, str(self._idle)], self._environment)
            desk.used = time.monotonic()
            return desk

    def _make_room(self) -> None:
        self._desks = {key: desk for key, desk in self._desks.items() if desk.alive}
        while len(self._desks) >= self._most:
            resting = [key for key, desk in self._desks.items() if not desk.busy]
            if not resting:
                raise Unavailable(
                    f"All {self._most} desks of this server are busy.",
                    hint="Ask again in a moment, or set desks higher.",
                )
            self._desks.pop(min(resting, key=lambda key: self._desks[key].used)).leave()

    def _end(self, desk: "_Process") -> None:
        with self._lock:
            self._desks = {key: known for key, known in self._desks.items() if known is not desk}
        desk.end(0.0)


class _NotAsked(Exception):
    """The desk had ended before the question was put to it."""


class _Process:
    """One desk: its process, and the channel to it. Who holds its turn may use the channel."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str]) -> None:
        self.used = time.monotonic()
        self._turn = threading.Lock()
        self._number = 0
        self._left = False
        self._channel, self._process = _started(arguments, environment)
        threading.Thread(target=self._see_off, name=f"desk {self.pid}", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self._left and self._process.returncode is None

    @property
    def busy(self) -> bool:
        return self._turn.locked()

    def ask(self, question: Question, until: float) -> dict[str, Any]:
        with self._in_turn(until):
            if not self.alive:
                raise _NotAsked
            self._number += 1
            send(self._channel, {"number": self._number, "question": dict(question)}, until=until)
            answer: dict[str, Any] = receive(self._channel, until=until)
            if answer["number"] != self._number:  # nobody may ever get what another one asked for
                raise Gone
            return answer

    @contextlib.contextmanager
    def _in_turn(self, until: float) -> Iterator[None]:
        if not self._turn.acquire(timeout=max(until - time.monotonic(), 0.0)):
            raise Unavailable("Others asked before, and are being answered.", hint="Ask again in a moment.")
        try:
            yield
        finally:
            self._turn.release()

    def leave(self) -> None:
        """Close the channel, at which the process ends by itself."""
        self._left = True
        with contextlib.suppress(OSError):  # who waits for an answer is wakened too
            self._channel.shutdown(socket.SHUT_RDWR)

    def end(self, grace: float) -> None:
        """See to it that the process is gone."""
        self.leave()
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _see_off(self) -> None:
        """Somebody must hear of its end, or it stays in the table of processes."""
        self._process.wait()
        self.leave()
        with self._turn:
            self._channel.close()


def _started(arguments: list[str], environment: Mapping[str, str]) -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "seedbed.runtime.desks.process", str(theirs.fileno()), *arguments]
    try:
        with theirs:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **environment},
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C in the terminal is the server's
            )
    except OSError as error:
        ours.close()
        raise Unavailable(f"No worker process could be started: {error.strerror or error}.") from error
    return ours, process


def _answer_of(told: Mapping[str, Any]) -> Answer:
    if refused := told.get("error"):
        member = _BY_CODE.get(refused["code"], SeedbedError)
        raise member(refused["message"], hint=refused["hint"], problems=refused["problems"])
    answer: Answer = told["answer"]
    return answer


def _late(timeout: float) -> Unavailable:
    return Unavailable(
        f"There was no answer within {timeout:g} seconds, so the worker process that was asked has been ended.",
        hint="Ask again: a fresh one is started.",
    )
