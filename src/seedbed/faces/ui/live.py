"""News for open pages: one waiter per server follows the events and feeds every page that is open.

Nothing polls per browser. The waiter wakes when something happened, and otherwise once a second for what moves without
events (the steps and curves of running jobs). What several pages ask for within one beat is fetched once per person.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from anyio import CapacityLimiter, to_thread
from nicegui import Client, background_tasks

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.assets.store.events import Event
from seedbed.base.errors import SeedbedError, Unauthenticated
from seedbed.flows.platform import Platform

BEAT = 1.0  # seconds between two looks at what moves without events
_REST = 0.25  # seconds of rest between two beats: a burst of events is one beat
_log = logging.getLogger(__name__)

Refresh = Callable[[Sequence[Event]], Awaitable[None]]
JOINED, LEFT = "project.member-added", "project.member-removed"


@dataclass(eq=False)
class Watcher:
    """One open page: whom it shows things to, and how it brings itself up to date.

    `moving` says whether it also wants the beats without events. `refresh` never runs twice at once for one page.
    """

    client: Client
    by: Identity
    refresh: Refresh
    moving: Callable[[], bool] = field(default=lambda: False)
    new: bool = True  # what happened while it was being built, nobody told it yet
    busy: bool = False
    missed: list[Event] = field(default_factory=list)

    def hears(self, event: Event) -> bool:
        """Whether an event is theirs to know. That they were let into a project or taken out is, and counts from then.

        Pages stay open for long: what somebody may see when one was opened is not what they may see for good.
        """
        if event.kind not in (JOINED, LEFT) or event.data.get("user") != self.by.id:
            return self.by.may(Role.VIEWER, event.project)
        others = {project: role for project, role in self.by.projects.items() if project != event.project}
        mine = {event.project: Role(str(event.data["role"]))} if event.kind == JOINED else {}
        self.by = replace(self.by, projects={**others, **mine})
        return True


class Live:
    """The waiter and the pages that it feeds. `start` belongs to the server's event loop, as do all calls."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._watchers: set[Watcher] = set()
        self._shared: dict[Hashable, tuple[float, asyncio.Future[Any]]] = {}
        self._somebody = asyncio.Event()
        self._waiter: asyncio.Task[None] | None = None
        self._limiter = CapacityLimiter(1)  # its own thread: it must not take one from those who ask

    def start(self) -> None:
        """Begin to follow the events."""
        self._waiter = asyncio.get_running_loop().create_task(self._follow(), name="seedbed pages: events")

    async def stop(self) -> None:
        """End within a beat."""
        if self._waiter is not None:
            self._waiter.cancel()
            await asyncio.gather(self._waiter, return_exceptions=True)

    def watch(self, client: Client, by: Identity, refresh: Refresh, moving: Callable[[], bool] | None = None) -> None:
        """Feed a page until its browser goes away."""
        watcher = Watcher(client, by, refresh, moving or (lambda: False))
        self._watchers.add(watcher)
        self._somebody.set()
        client.on_delete(lambda: self._watchers.discard(watcher))

    async def shared(self, key: Hashable, ask: Callable[[], Any]) -> Any:
        """The answer to a question that several pages have in one beat, asked once, in a thread."""
        now = asyncio.get_running_loop().time()
        born, answer = self._shared.get(key, (-1.0, None))
        if answer is None or now - born > _REST:
            answer = asyncio.ensure_future(to_thread.run_sync(ask))
            self._shared[key] = now, answer
        return await asyncio.shield(answer)

    async def _follow(self) -> None:
        cursor = await to_thread.run_sync(self._platform.feed.last)
        while True:
            try:
                events, cursor = await self._wait(cursor)
                self._beat(events)
            except Exception:  # a database that is away for a moment must not end the news for good
                _log.exception("The pages' feed of events stumbled; it goes on.")
                await asyncio.sleep(BEAT)
            await asyncio.sleep(_REST)

    async def _wait(self, cursor: int) -> tuple[list[Event], int]:
        if not self._watchers:
            self._somebody.clear()
            await self._somebody.wait()
            return [], await to_thread.run_sync(self._platform.feed.last, limiter=self._limiter)
        return await to_thread.run_sync(
            lambda: self._platform.feed.wait(cursor, BEAT, by=SOLO), abandon_on_cancel=True, limiter=self._limiter
        )

    def _beat(self, events: Sequence[Event]) -> None:
        self._shared.clear()
        for watcher in list(self._watchers):
            theirs = [event for event in events if watcher.hears(event)]
            if watcher.busy:
                watcher.missed += theirs
            elif theirs or watcher.missed or watcher.new or watcher.moving():
                news, watcher.missed = [*watcher.missed, *theirs], []
                watcher.busy = True
                background_tasks.create(self._tell(watcher, news), name="seedbed pages: refresh")

    async def _tell(self, watcher: Watcher, events: Sequence[Event]) -> None:
        try:
            if watcher.client.has_socket_connection:
                watcher.new = False
                with watcher.client:
                    await watcher.refresh(events)
            else:
                watcher.missed = [*events, *watcher.missed]  # not connected yet, or for a moment
        except Unauthenticated:
            watcher.client.run_javascript("location.reload()")  # the guard then shows the way in
        except SeedbedError as error:  # what it showed is gone, or no longer theirs
            _log.info("A page could not be brought up to date: %s", error)
        finally:
            watcher.busy = False
