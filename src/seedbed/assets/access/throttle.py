"""Slows down whoever tries again and again."""

import math
import threading
from dataclasses import dataclass

from seedbed.base.clock import Clock, Instant
from seedbed.base.errors import TooOften

_MOST_KEYS = 10_000  # what is remembered is bounded, whatever names and addresses come in


@dataclass
class _Failures:
    count: int
    last: Instant


class Throttle:
    """Counts failures by key; after `free` of them each further try has to wait, twice as long each time.

    Kept in memory: a restart forgets it, which costs an attacker more than it gives. Safe to use from any thread.
    """

    def __init__(self, clock: Clock, *, free: int = 5, first: float = 1.0, longest: float = 60.0) -> None:
        self._clock = clock
        self._free = free
        self._first = first
        self._longest = longest
        self._failures: dict[str, _Failures] = {}
        self._lock = threading.Lock()

    def take(self, key: str) -> None:
        """Begin a try: it counts as failed until it is given back. Raises TooOften when this key has to wait.

        Counting first means that tries at the same moment do not slip through together.
        """
        now = self._clock.now()
        with self._lock:
            failures = self._failures.pop(key, _Failures(0, now))
            if now - failures.last > 10 * self._longest:  # a key that has been quiet for long begins anew
                failures = _Failures(0, now)
            wait = self._wait(failures, now)
            # dicts keep order, so the first key is the one that has been quiet the longest
            self._failures[key] = failures if wait > 0 else _Failures(failures.count + 1, now)
            if len(self._failures) > _MOST_KEYS:
                del self._failures[next(iter(self._failures))]
        if wait > 0:
            raise TooOften(
                f"Too many sign-ins failed; try again in {math.ceil(wait)} seconds.",
                hint="An operator can set a new password: seedbed users password NAME.",
            )

    def give_back(self, key: str) -> None:
        """The try that was taken did not fail."""
        with self._lock:
            failures = self._failures.get(key)
            if failures is not None:
                failures.count = max(0, failures.count - 1)

    def forget(self, key: str) -> None:
        """Forget every failure of this key."""
        with self._lock:
            self._failures.pop(key, None)

    def _wait(self, failures: _Failures, now: Instant) -> float:
        if failures.count < self._free:
            return 0.0
        delay = min(self._longest, self._first * 2.0 ** min(failures.count - self._free, 30))
        return failures.last + delay - now
