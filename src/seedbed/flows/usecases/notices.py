"""Telling people that their job has ended: a webhook, or mail, by setting.

Each way is a consumer of the events with its own cursor, so that a restart neither forgets a notice nor repeats those
that got through. Where the other side does not answer, the notice is tried again for an hour and then dropped.
"""

import logging
import smtplib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from email.message import EmailMessage
from typing import Protocol

import httpx

from seedbed.assets.store.events import Event, Events
from seedbed.base.clock import Clock
from seedbed.base.errors import NotFound
from seedbed.base.settings import Settings
from seedbed.flows.naming import job_in_words
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobClass

PATIENCE = 3600.0  # seconds that an undelivered notice is tried again
ENDS = ("job.done", "job.failed", "job.cancelled")
_TIMEOUT = 10.0
_ON_THE_WAY = ("decode", "embed")  # done in the background, they are only steps to what somebody waits for
_PLAINLY = {("group", "done"): "The images of your project are grouped now: alike ones stand together."}
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Notice:
    """A job has ended: what a webhook is sent as JSON."""

    job: str
    name: str
    step: str
    state: str
    reason: str
    owner: str
    project: str
    at: float
    url: str = ""

    @property
    def title(self) -> str:
        """The job as people call it."""
        return job_in_words(self.name, self.step)

    @property
    def sentence(self) -> str:
        """For people."""
        if (self.step, self.state) in _PLAINLY:
            return _PLAINLY[self.step, self.state]
        how = {"done": "is done", "failed": "has failed", "cancelled": "was cancelled"}[self.state]
        return f"Your job '{self.title}' {how}" + (f": {self.reason}" if self.reason else ".")


class Channel(Protocol):
    """A way to tell somebody; `send` raises OSError, SMTPException or httpx's errors when it did not get through."""

    @property
    def name(self) -> str:
        """Its name, part of the name of its cursor."""
        ...

    def send(self, notice: Notice) -> None:
        """Tell it."""
        ...


@dataclass(frozen=True)
class Webhook:
    """POSTs each notice to one address."""

    address: str
    name: str = "webhook"

    def send(self, notice: Notice) -> None:
        body = {**asdict(notice), "text": notice.sentence}
        httpx.post(self.address, json=body, timeout=_TIMEOUT).raise_for_status()


@dataclass(frozen=True)
class Mail:
    """Mails the owner of the job, where an address is known."""

    server: str
    sender: str
    address_of: Callable[[str], str]
    name: str = "mail"

    def send(self, notice: Notice) -> None:
        recipient = self.address_of(notice.owner)
        if not recipient:
            return
        message = EmailMessage()
        message["From"], message["To"] = self.sender or "seedbed@localhost", recipient
        message["Subject"] = f"Seedbed: {notice.title}, {notice.state}"
        message.set_content("\n\n".join(part for part in (notice.sentence, notice.url) if part))
        host, _, port = self.server.partition(":")
        with smtplib.SMTP(host, int(port or 25), timeout=_TIMEOUT) as connection:
            connection.send_message(message)


def channels(settings: Settings, address_of: Callable[[str], str]) -> list[Channel]:
    """The ways that the settings name."""
    found: list[Channel] = []
    if settings.webhook:
        found.append(Webhook(settings.webhook))
    if settings.mail_server:
        found.append(Mail(settings.mail_server, settings.mail_from, address_of))
    return found


class Notices:
    """Follows the events and tells through every channel; `follow` is called by one thread at a time."""

    def __init__(
        self, events: Events, queue: Queue, channels: list[Channel], clock: Clock, *, public_url: str = ""
    ) -> None:
        self._events = events
        self._queue = queue
        self._channels = channels
        self._clock = clock
        self._url = public_url.rstrip("/")

    def follow(self) -> int:
        """Tell everything that has not been told yet; how many notices went out."""
        return sum(self._follow(channel) for channel in self._channels)

    def _follow(self, channel: Channel) -> int:
        consumer, sent = f"notices:{channel.name}", 0
        for event in self._events.after(self._events.cursor(consumer), kinds=ENDS):
            recent = self._clock.now() - event.at < PATIENCE
            if recent and (notice := self._notice(event)):
                try:
                    channel.send(notice)
                    sent += 1
                except (httpx.HTTPError, smtplib.SMTPException, OSError) as error:
                    _log.warning(
                        "The notice of job %s did not get through by %s: %s", event.subject, channel.name, error
                    )
                    return sent  # it stays before the cursor and is tried again
            self._events.advance(consumer, event.number)
        return sent

    def _notice(self, event: Event) -> Notice | None:
        try:
            job: Job = self._queue.get(event.subject)
        except NotFound:
            return None
        if event.kind == "job.done" and job.cls is JobClass.BE and job.step in _ON_THE_WAY:
            return None
        return Notice(
            job=job.id,
            name=job.name or job.step,
            step=job.step,
            state=event.kind.removeprefix("job."),
            reason=job.reason,
            owner=job.owner,
            project=job.project,
            at=event.at,
            url=f"{self._url}/jobs/{job.id}" if self._url else "",
        )
