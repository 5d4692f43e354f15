"""A file of a bundle, whole and in parts."""

import httpx
import pytest

_CONTENT = b"0123456789"


@pytest.fixture(scope="module")
def file(me: httpx.Client) -> str:
    """The address of a file of ten bytes."""
    upload = me.post("/api/v1/uploads", files={"files": ("ten.bin", _CONTENT)}).json()["upload"]
    bundle = me.post("/api/v1/bundles", json={"name": "ten", "upload": upload}).json()
    return f"/api/v1/bundles/{bundle['uuid']}/files/files/0"


def test_a_part_comes_as_it_is_asked_for(me: httpx.Client, file: str) -> None:
    assert (me.get(file).status_code, me.get(file).content) == (200, _CONTENT)
    for asked, part in {"bytes=2-4": b"234", "bytes=7-": b"789", "bytes=-1": b"9"}.items():
        answer = me.get(file, headers={"Range": asked})
        assert (answer.status_code, answer.content) == (206, part)


@pytest.mark.parametrize("asked", ["nonsense", "lines=1-2", "bytes=", "bytes=5-2"])
def test_a_range_that_cannot_be_read_is_refused_in_our_words(me: httpx.Client, file: str, asked: str) -> None:
    answer = me.get(file, headers={"Range": asked})
    assert answer.status_code == 400 and answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["status"], problem["code"]) == (400, "invalid-input")
    assert asked in problem["detail"] and "bytes=0-1023" in problem["hint"]


def test_a_part_beyond_the_end_is_refused_with_how_long_the_file_is(me: httpx.Client, file: str) -> None:
    answer = me.get(file, headers={"Range": "bytes=10-"})
    assert answer.status_code == 416 and answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["content-range"] == "bytes */10"
    assert answer.json()["detail"] == "The file has 10 bytes, and 'bytes=10-' is not among them."
