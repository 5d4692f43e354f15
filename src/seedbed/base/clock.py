"""Time comes in from outside, so that rules about time can be tested without waiting."""

import time
from typing import Protocol

Instant = float  # seconds since the epoch, UTC


class Clock(Protocol):
    """Tells the time; called from any thread."""

    def now(self) -> Instant: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> Instant:
        return time.time()


class ManualClock:
    """A clock that somebody sets: for simulators and tests."""

    def __init__(self, start: Instant = 0.0) -> None:
        self._now = start

    def now(self) -> Instant:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds
