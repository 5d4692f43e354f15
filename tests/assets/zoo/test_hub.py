"""What timm's hub gives, from a real one of our own on this machine; and what is said where there is none."""

import os
import socket
import subprocess
import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from seedbed.assets.zoo.builder import empty_network, hub_network
from seedbed.assets.zoo.hub import answers, fetched_before, may_give
from seedbed.assets.zoo.records import WEIGHTS_FILE, read_card
from seedbed.base.errors import InvalidInput

OFFERED = "test_resnet.r160_in1k"  # timm's smallest
_ASKING = """
import json, sys
from pathlib import Path
from seedbed.assets.zoo.importers import About, keep_from_hub
from seedbed.base.errors import Unavailable
for number, name in enumerate(sys.argv[2:]):
    try:
        keep_from_hub(name, Path(sys.argv[1]) / str(number), About("x"))
        print("kept")
    except Unavailable as error:
        print(error.in_a_line())
"""


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


class Hub(BaseHTTPRequestHandler):
    """Gives the files of one repository as the hub does, and says 404 of all others."""

    def __init__(self, content: bytes, asked: list[str], *args: object) -> None:
        self._content, self._asked = content, asked
        super().__init__(*args)  # type: ignore[arg-type]

    def do_HEAD(self):
        self._asked.append(f"{self.command} {self.path}")
        known = self.path == f"/timm/{OFFERED}/resolve/main/model.safetensors"
        self.send_response(200 if known else 404)
        found = {"ETag": '"one"', "X-Repo-Commit": "c" * 40} if known else {"X-Error-Code": "RepoNotFound"}
        for name, value in {**found, "Content-Length": len(self._content) if known else 0}.items():
            self.send_header(name, str(value))
        self.end_headers()
        return known

    def do_GET(self):
        if self.do_HEAD():
            self.wfile.write(self._content)

    def log_message(self, *_):
        pass


def ask(folder: Path, address: str, *names: str) -> list[str]:
    """What keeping each of these from the hub at an address comes to, in a process that knows no other."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    environment = {**kept, "HF_ENDPOINT": address, "HF_HOME": str(folder / "hf"), "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, "-c", _ASKING, str(folder), *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_weights_of_the_hub_are_kept_as_they_are_and_fetched_once(tmp_path: Path) -> None:
    torch.manual_seed(5)
    offered = {
        name: value + 0.5 if value.is_floating_point() else value
        for name, value in empty_network("test_resnet", 1000).state_dict().items()
    }
    save_file(offered, tmp_path / "offered")
    asked: list[str] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Hub, (tmp_path / "offered").read_bytes(), asked)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        said = ask(tmp_path, f"http://127.0.0.1:{server.server_address[1]}", OFFERED, OFFERED, "test_vit.r160_in1k")
        server.shutdown()
        thread.join()
    assert said[:2] == ["kept", "kept"]
    assert said[2] == "The hub has not given the weights of 'test_vit.r160_in1k': 404 Client Error."
    assert sum(line.startswith(f"GET /timm/{OFFERED}/") for line in asked) == 1
    for number in ("0", "1"):
        found, card = load_file(tmp_path / number / WEIGHTS_FILE), read_card(tmp_path / number / "card.json")
        assert found.keys() == offered.keys() and all(torch.equal(found[name], offered[name]) for name in offered)
        assert (card.outputs, card.licence, card.preprocessing.size) == (1000, "apache-2.0", 160)


def test_half_a_download_and_no_hub_is_a_sentence_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    folder = tmp_path / "models--timm--some.net"
    (folder / "refs").mkdir(parents=True)
    assert fetched_before("timm/some.net") is None and not may_give()
    (folder / "refs" / "main").write_text("abc")
    assert fetched_before("timm/some.net") is None  # its blob is still on the way
    (folder / "snapshots" / "abc").mkdir(parents=True)
    (folder / "snapshots" / "abc" / "model.safetensors").write_bytes(b"x")
    assert fetched_before("timm/some.net") == folder / "snapshots" / "abc" / "model.safetensors"
    assert fetched_before("timm/other.net") is None


def test_a_hub_that_was_forbidden_is_not_asked(server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    assert may_give()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert not may_give()


def test_weights_that_nobody_offers_are_refused_and_not_waited_for() -> None:
    with pytest.raises(InvalidInput, match="Nobody offers pretrained weights of 'botnet50ts_256'"):
        hub_network("botnet50ts_256")
