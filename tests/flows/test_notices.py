"""People hear when their job ends: through a real HTTP server and a real SMTP conversation."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from seedbed.assets.access.roles import SOLO, Role
from seedbed.base.clock import ManualClock
from seedbed.base.settings import Settings
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.notices import PATIENCE, Mail, Notices, Webhook
from tests.flows.conftest import count


class Hook(HTTPServer):
    """Keeps what is posted; answers 500 while `broken`."""

    def __init__(self) -> None:
        self.posts: list[dict[str, object]] = []
        self.broken = False
        super().__init__(("127.0.0.1", 0), Answer)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/told"


class Answer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Hook)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.server.broken:
            self.server.posts.append(body)
        self.send_response(500 if self.server.broken else 204)
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Quiet."""


@pytest.fixture
def hook() -> Iterator[Hook]:
    server = Hook()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


class Post:
    """A tiny SMTP server: says yes to everything and keeps each letter with its recipient."""

    def __init__(self) -> None:
        self.letters: list[tuple[str, str]] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> "Post":
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        server = self._loop.run_until_complete(asyncio.start_server(self._talk, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        self._loop.run_until_complete(server.wait_closed())
        self._loop.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        recipient = ""
        while line := (await reader.readline()).decode().strip():
            word = line[:4].upper()
            if word == "RCPT":
                recipient = line.partition("<")[2].rstrip(">")
            if word == "DATA":
                writer.write(b"354 go on\r\n")
                letter = (await reader.readuntil(b"\r\n.\r\n")).decode()
                self.letters.append((recipient, letter))
            writer.write(b"221 bye\r\n" if word == "QUIT" else b"250 yes\r\n")
            if word == "QUIT":
                break
        writer.close()


def cancelled(platform: Platform, name: str) -> str:
    job = platform.jobs.submit(count(name=name), by=SOLO)
    platform.jobs.cancel(job.id, by=SOLO)
    return job.id


def test_a_webhook_hears_of_each_job_once(platform: Platform, hook: Hook) -> None:
    channel = Webhook(hook.address)
    first = cancelled(platform, "first")
    told = Notices(platform.events, platform.queue, [channel], platform.clock, public_url="https://here/")
    assert told.follow() == 1 and told.follow() == 0
    cancelled(platform, "second")
    # another process, after a restart, goes on where the last one was
    assert Notices(platform.events, platform.queue, [channel], platform.clock).follow() == 1
    assert [post["name"] for post in hook.posts] == ["first", "second"]
    assert hook.posts[0]["state"] == "cancelled" and hook.posts[0]["url"] == f"https://here/jobs/{first}"
    assert "Your job 'first' was cancelled" in str(hook.posts[0]["text"])


def test_people_are_told_what_was_done_and_programs_the_names(platform: Platform, hook: Hook) -> None:
    cancelled(platform, "wheat.sleep-and-count")
    Notices(platform.events, platform.queue, [Webhook(hook.address)], platform.clock).follow()
    (post,) = hook.posts
    assert str(post["text"]).startswith("Your job 'Counting for wheat' was cancelled")
    assert (post["name"], post["step"]) == ("wheat.sleep-and-count", "sleep-and-count")


def test_a_notice_that_does_not_get_through_is_tried_again(platform: Platform, hook: Hook) -> None:
    told = Notices(platform.events, platform.queue, [Webhook(hook.address)], platform.clock)
    hook.broken = True
    cancelled(platform, "first")
    assert told.follow() == 0
    hook.broken = False
    assert told.follow() == 1 and hook.posts[0]["name"] == "first"


def test_a_notice_is_dropped_in_the_end_and_old_news_is_not_told(platform: Platform, hook: Hook) -> None:
    cancelled(platform, "old")
    clock = ManualClock(platform.clock.now() + PATIENCE + 1)
    told = Notices(platform.events, platform.queue, [Webhook(hook.address)], clock)
    assert told.follow() == 0 and hook.posts == []


def test_the_owner_of_a_job_gets_a_letter_if_there_is_an_address(platform: Platform) -> None:
    user = platform.users.create("ada", Role.TRAINER, mail="ada@farm.example", by=SOLO)
    token = platform.users.make_token(user.id, "script", by=SOLO)
    ada = platform.users.identify(token)
    assert ada is not None
    job = platform.jobs.submit(count(name="barley"), by=ada)
    platform.jobs.cancel(job.id, by=ada)
    cancelled(platform, "of nobody")
    with Post() as post:
        channel = Mail(f"127.0.0.1:{post.port}", "seedbed@farm.example", platform.users.mail_of)
        Notices(platform.events, platform.queue, [channel], platform.clock).follow()
    ((recipient, letter),) = post.letters
    assert recipient == "ada@farm.example"
    assert "Subject: Seedbed: barley, cancelled" in letter and "Your job 'barley' was cancelled" in letter


def test_a_running_platform_tells_by_itself(settings: Settings, hook: Hook) -> None:
    with Platform.open(settings.model_copy(update={"webhook": hook.address})) as platform:
        job = platform.jobs.submit(count(name="counted"), by=SOLO)
        platform.run_until_done([job.id])
    assert [(post["name"], post["state"]) for post in hook.posts] == [("counted", "done")]
