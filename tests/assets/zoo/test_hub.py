import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from seedbed.assets.zoo.hub import answers, may_give


class Refusing(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.send_response(403)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def silent():
    """An address that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_server_that_refuses_has_answered(server):
    assert answers(server)


def test_one_that_is_silent_or_is_not_there_has_not(silent):
    assert not answers(silent, seconds=0.2)
    assert not answers("http://127.0.0.1:1")
    assert not answers("no address")


def test_what_was_fetched_before_is_worth_asking_for_without_a_hub(tmp_path, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert not may_give("timm/some.net")
    (tmp_path / "models--timm--some.net").mkdir()
    assert may_give("timm/some.net")
    assert not may_give("timm/other.net")
