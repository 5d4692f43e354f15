"""Every way Seedbed says no: a sentence for the person who sees it, and what to do.

One small family. Each class carries a code (the anchor of its section in docs/errors.md), the HTTP status that
the API answers with and the exit code of the command line; a test keeps the three and the page equal.
"""

from collections.abc import Sequence
from typing import ClassVar


class SeedbedError(Exception):
    """The family. Raise one of its members, with a sentence and, where something can be done, a hint.

    `problems` lists everything wrong with one input at once, when that is more than the message says.
    """

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "", problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.problems = tuple(problems)

    def __str__(self) -> str:
        lines = [self.message, *(f"  - {problem}" for problem in self.problems)]
        return "\n".join([*lines, self.hint] if self.hint else lines)

    def in_a_line(self, most: int = 5) -> str:
        """The message and its first problems as one sentence: "It cannot be used: this is wrong; that is missing."."""
        told = [problem.rstrip(". ") for problem in self.problems[:most]]
        if not told:
            return self.message
        more = ["and more"] if len(self.problems) > most else []  # no count: who raised it may have cut the list too
        return f"{self.message.rstrip('.: ')}: {'; '.join([*told, *more])}."


class InvalidInput(SeedbedError):
    """What was given cannot be used: which argument, what was given, what is allowed."""

    code, status, exit_code = "invalid-input", 422, 2


class Unauthenticated(SeedbedError):
    """Nobody is signed in, or the token is not known."""

    code, status, exit_code = "unauthenticated", 401, 3


class Forbidden(SeedbedError):
    """Somebody is signed in, but their role does not allow this."""

    code, status, exit_code = "forbidden", 403, 4


class NotFound(SeedbedError):
    """No such thing; the hint names the near matches."""

    code, status, exit_code = "not-found", 404, 5


class Conflict(SeedbedError):
    """It clashes with what is already there, or with the state that a thing is in."""

    code, status, exit_code = "conflict", 409, 6


class TooLarge(SeedbedError):
    """It passes a limit that a setting sets."""

    code, status, exit_code = "too-large", 413, 7


class Unsafe(SeedbedError):
    """It would reach outside its place: a path out of its root, a hostile archive, a pickle."""

    code, status, exit_code = "unsafe", 422, 8


class Unavailable(SeedbedError):
    """Something that is needed cannot be reached now: a hub, a remote store, a server."""

    code, status, exit_code = "unavailable", 503, 9


class Damaged(SeedbedError):
    """Bytes on disk are not what they were when they were written."""

    code, status, exit_code = "damaged", 500, 10


class DiskFull(SeedbedError):
    """There is no room to write; nothing that was acknowledged is lost."""

    code, status, exit_code = "disk-full", 507, 11


class WrongVersion(SeedbedError):
    """The home was written by a newer Seedbed than this one."""

    code, status, exit_code = "wrong-version", 409, 12


class Failed(SeedbedError):
    """Work that was started did not come to a good end."""

    code, status, exit_code = "failed", 500, 13


class TooOften(SeedbedError):
    """It was tried too often in a short time; the sentence says when to try again."""

    code, status, exit_code = "too-often", 429, 14


def family() -> list[type[SeedbedError]]:
    """Every member, in the order of their exit codes."""
    return sorted(SeedbedError.__subclasses__(), key=lambda member: member.exit_code)
