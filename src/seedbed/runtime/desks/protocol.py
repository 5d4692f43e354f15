"""What sits at a desk: the object that answers, in a process of its own."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

Question = Mapping[str, Any]  # a JSON object
Answer = Mapping[str, Any]  # a JSON object


class Desk(Protocol):
    """Answers questions on one thing, such as an open project.

    It is made in a worker process with the key that the questions name, and called from that process's main thread,
    one question after the other. It may keep what it has read and computed, to be quicker next time, but nothing that
    would be missed: its process can be killed at any moment, and the question is then asked again of a fresh one. So
    the same question has the same answer, whatever was asked before. It refuses by raising an error of
    `seedbed.base.errors`, which reaches whoever asked.
    """

    def answer(self, question: Question) -> Answer:
        """The answer, a JSON object."""
        ...


Maker = Callable[[str], Desk]
"""Makes the desk of a key; `Desks` is told of it as `"module:object"`, and loads it only in the worker."""
