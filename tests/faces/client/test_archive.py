"""A folder that is sent as a tar archive while it is read."""

import io
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from seedbed.base.errors import InvalidInput
from seedbed.faces.client.archive import TarStream


def read_all(stream: TarStream) -> bytes:
    with closing(stream):
        return b"".join(iter(lambda: stream.read(1000), b""))


def test_every_file_of_the_folder_arrives_under_its_relative_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").write_bytes(b"1" * 5000)
    (tmp_path / "two.txt").write_bytes(b"")
    with tarfile.open(fileobj=io.BytesIO(read_all(TarStream(tmp_path)))) as archive:
        found = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}  # type: ignore[union-attr]
    assert found == {"a/one.txt": b"1" * 5000, "two.txt": b""}


def test_links_are_left_out_so_that_nothing_from_outside_the_folder_is_sent(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("private")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret")
    assert b"private" not in read_all(TarStream(folder))


def test_closing_early_ends_the_writing_thread(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(5_000_000))
    stream = TarStream(tmp_path)
    stream.read(10)
    stream.close()
    assert not stream._thread.is_alive()


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="not a folder"):
        TarStream(tmp_path / "file")
