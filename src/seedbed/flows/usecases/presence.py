"""Who is labelling with whom: kept in memory, for half a minute."""

import threading
from dataclasses import dataclass

from seedbed.base.clock import Clock, Instant

_STAYS = 30.0  # seconds after the last sign of life


@dataclass(frozen=True)
class Person:
    """Somebody who has a project open, and the image that they are at (-1: none)."""

    name: str
    where: int
    at: Instant


class Presence:
    """Who has which project open. Safe to use from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[str, dict[str, Person]] = {}

    def note(self, project: str, name: str, where: int) -> list[Person]:
        """Somebody is here; who else is."""
        with self._lock:
            self._seen.setdefault(project, {})[name] = Person(name, where, self._clock.now())
        return self.of(project)

    def of(self, project: str) -> list[Person]:
        """Everybody who was here a moment ago, by name."""
        since = self._clock.now() - _STAYS
        with self._lock:
            here = {name: one for name, one in self._seen.get(project, {}).items() if one.at >= since}
            if here:
                self._seen[project] = here
            else:
                self._seen.pop(project, None)
        return [here[name] for name in sorted(here)]
