"""What every pool of desks must satisfy, as functions that take one; each raises AssertionError with what it saw.

`make(row, idle=..., most=...)` gives a fresh, empty pool whose desks are made by the object that `row` names; the
checks use `ROW`, the clerk below. `CHECKS` lists them all:

    @pytest.mark.parametrize("check", desks.CHECKS)
    def test_my_desks(check):
        check(MyDesks)
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from seedbed.base.errors import Failed, NotFound, SeedbedError, Unavailable
from seedbed.runtime.desks.protocol import Answer, Question

ROW = "seedbed.testing.desks:Clerk"
PATIENCE = 30.0


class Pool(Protocol):
    """What is checked: `seedbed.runtime.desks.desks.Desks`, or one of your own."""

    def ask(self, key: str, question: Question, *, timeout: float = 30.0) -> Answer:
        """The answer of the desk of a key."""
        ...

    def processes(self) -> dict[str, int]:
        """The pid of each desk that there is, by key."""
        ...

    def close(self) -> None:
        """End all of them."""
        ...


Make = Callable[..., Pool]


class Clerk:
    """A desk for tests: it counts, repeats, rests, refuses, breaks and dies, as it is asked to."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._asked = 0

    def answer(self, question: Question) -> dict[str, Any]:
        """Do as asked."""
        self._asked += 1
        if rest := question.get("rest"):
            time.sleep(rest)
        if question.get("refuse"):
            raise NotFound("There is no such thing.", hint="Look elsewhere.", problems=["one", "two"])
        if question.get("break"):
            raise ZeroDivisionError("broken")
        if question.get("die"):
            os.kill(os.getpid(), signal.SIGKILL)
        return {"key": self._key, "pid": os.getpid(), "asked": self._asked, "said": question.get("say")}


def is_alive(pid: int) -> bool:
    """Whether a process of that pid is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(fact: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + patience
    while not fact():
        assert time.monotonic() < deadline, f"not within {patience:g} s: {what}"
        time.sleep(0.01)


def check_a_desk_stays_and_each_key_has_its_own(make: Make) -> None:
    """The same process answers again, and remembers; another key is answered by another one."""
    with _closing(make(ROW)) as pool:
        first, again, other = (pool.ask(key, {"say": key}) for key in ("a", "a", "b"))
        assert (first["asked"], again["asked"], other["asked"]) == (1, 2, 1), (first, again, other)
        assert first["pid"] == again["pid"] != other["pid"] and other["key"] == "b"
        assert pool.processes() == {"a": first["pid"], "b": other["pid"]}


def check_questions_at_once_are_never_mixed_up(make: Make) -> None:
    """Many threads ask one desk at once: each gets the answer to its own question."""
    got: dict[int, Any] = {}
    with _closing(make(ROW)) as pool:

        def ask(number: int) -> None:
            got[number] = pool.ask("a", {"say": [number] * (1 + 20_000 * (number % 3)), "rest": 0.001})["said"][-1]

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert got == {number: number for number in range(24)}, got


def check_a_large_answer_comes_whole(make: Make) -> None:
    """Some megabytes each way."""
    text = "leaf " * 600_000
    with _closing(make(ROW)) as pool:
        assert pool.ask("a", {"say": text})["said"] == text


def check_what_a_desk_refuses_is_raised_as_it_was(make: Make) -> None:
    """The same kind of error, sentence, hint and problems; the desk goes on."""
    with _closing(make(ROW)) as pool:
        error = _error_of(lambda: pool.ask("a", {"refuse": True}))
        assert isinstance(error, NotFound), error
        assert (error.message, error.hint, error.problems) == (
            "There is no such thing.",
            "Look elsewhere.",
            ("one", "two"),
        )
        broken = _error_of(lambda: pool.ask("a", {"break": True}))
        assert isinstance(broken, Failed) and "ZeroDivisionError: broken" in broken.message, broken
        assert pool.ask("a", {})["asked"] == 3


def check_a_killed_desk_is_replaced_and_nobody_notices(make: Make) -> None:
    """Killed while it rests, or in the middle of an answer: the question is answered all the same."""
    with _closing(make(ROW)) as pool:
        first = pool.ask("a", {})["pid"]
        os.kill(first, signal.SIGKILL)
        second = pool.ask("a", {"say": "again"})
        assert second["pid"] != first and second["said"] == "again"
        answers: list[Answer] = []
        asking = threading.Thread(target=lambda: answers.append(pool.ask("a", {"say": "slow", "rest": 0.5})))
        asking.start()
        time.sleep(0.2)
        os.kill(second["pid"], signal.SIGKILL)
        asking.join(PATIENCE)
        assert [answer["said"] for answer in answers] == ["slow"], answers


def check_a_question_that_kills_every_desk_is_refused(make: Make) -> None:
    """It is not asked for ever; the next question is answered."""
    with _closing(make(ROW)) as pool:
        error = _error_of(lambda: pool.ask("a", {"die": True}))
        assert isinstance(error, Failed) and error.hint, error
        assert pool.ask("a", {"say": 1})["said"] == 1


def check_a_desk_that_hangs_is_killed_and_the_question_gets_a_sentence(make: Make) -> None:
    """Who asked is told in time, the process is gone, and who waited behind is answered by a fresh one."""
    with _closing(make(ROW)) as pool:
        pid = pool.ask("a", {})["pid"]
        behind: list[Answer] = []
        errors: list[SeedbedError] = []
        hung = threading.Thread(
            target=lambda: errors.append(_error_of(lambda: pool.ask("a", {"rest": 600}, timeout=1)))
        )
        waits = threading.Thread(target=lambda: behind.append(pool.ask("a", {"say": "behind"})))
        hung.start()
        time.sleep(0.2)
        waits.start()
        hung.join(PATIENCE)
        waits.join(PATIENCE)
        (error,) = errors
        assert isinstance(error, Unavailable) and "1 seconds" in error.message and error.hint, error
        assert [answer["said"] for answer in behind] == ["behind"] and behind[0]["pid"] != pid
        wait_until(lambda: not is_alive(pid), f"the hung process {pid} is gone")


def check_a_desk_that_is_stopped_does_not_hold_up_its_asker(make: Make) -> None:
    """Nobody reads at the other end, and the question is large: the limit of time holds all the same."""
    with _closing(make(ROW)) as pool:
        pid = pool.ask("a", {})["pid"]
        os.kill(pid, signal.SIGSTOP)
        began = time.monotonic()
        error = _error_of(lambda: pool.ask("a", {"say": "x" * 4_000_000}, timeout=0.5))
        assert isinstance(error, Unavailable) and time.monotonic() - began < PATIENCE / 2, error
        assert pool.ask("a", {"say": 2})["said"] == 2


def check_a_desk_that_nobody_asks_ends_by_itself(make: Make) -> None:
    """After `idle` seconds, leaving nothing behind; the next question starts a fresh one."""
    with _closing(make(ROW, idle=0.3)) as pool:
        pid = pool.ask("a", {})["pid"]
        wait_until(lambda: not is_alive(pid), f"the idle process {pid} is gone")
        wait_until(lambda: not pool.processes(), "the idle desk is forgotten")
        assert pool.ask("a", {})["asked"] == 1


def check_of_too_many_desks_the_one_that_rested_longest_makes_room(make: Make) -> None:
    """There are never more than `most`, and a busy one is not taken."""
    with _closing(make(ROW, most=2)) as pool:
        pids = {key: pool.ask(key, {})["pid"] for key in ("a", "b")}
        pool.ask("a", {})
        pool.ask("c", {})
        assert set(pool.processes()) == {"a", "c"}
        wait_until(lambda: not is_alive(pids["b"]), "the one that made room is gone")


def check_closing_ends_every_desk_and_refuses_who_asks_then(make: Make) -> None:
    """Also one that is in the middle of an answer."""
    pool = make(ROW)
    pids = [pool.ask(key, {})["pid"] for key in ("a", "b")]
    errors: list[SeedbedError] = []
    slow = threading.Thread(target=lambda: errors.append(_error_of(lambda: pool.ask("a", {"rest": 600}))))
    slow.start()
    time.sleep(0.2)
    pool.close()
    slow.join(PATIENCE)
    assert not [pid for pid in pids if is_alive(pid)] and not pool.processes()
    assert isinstance(errors[0], Unavailable) and isinstance(_error_of(lambda: pool.ask("a", {})), Unavailable)


class _closing:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def __enter__(self) -> Pool:
        return self._pool

    def __exit__(self, *exception: object) -> None:
        self._pool.close()


def _error_of(ask: Callable[[], object]) -> SeedbedError:
    try:
        found = ask()
    except SeedbedError as error:
        return error
    raise AssertionError(f"it was answered: {found}")


CHECKS: list[Callable[[Make], None]] = [
    check_a_desk_stays_and_each_key_has_its_own,
    check_questions_at_once_are_never_mixed_up,
    check_a_large_answer_comes_whole,
    check_what_a_desk_refuses_is_raised_as_it_was,
    check_a_killed_desk_is_replaced_and_nobody_notices,
    check_a_question_that_kills_every_desk_is_refused,
    check_a_desk_that_hangs_is_killed_and_the_question_gets_a_sentence,
    check_a_desk_that_is_stopped_does_not_hold_up_its_asker,
    check_a_desk_that_nobody_asks_ends_by_itself,
    check_of_too_many_desks_the_one_that_rested_longest_makes_room,
    check_closing_ends_every_desk_and_refuses_who_asks_then,
]
