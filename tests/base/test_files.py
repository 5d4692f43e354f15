"""Writing whole files and staying inside a root."""

import errno
from pathlib import Path

import pytest

from seedbed.base.errors import DiskFull, Unsafe
from seedbed.base.files import expanded, inside, says_when_full, write_atomically


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a" / "f", b"one")
    write_atomically(tmp_path / "a" / "f", b"two")
    assert (tmp_path / "a" / "f").read_bytes() == b"two"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["f"]


def test_a_write_that_fails_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    write_atomically(tmp_path / "f", b"old")
    with pytest.raises(TypeError):
        write_atomically(tmp_path / "f", "not bytes")  # type: ignore[arg-type]
    assert (tmp_path / "f").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_a_sentence(tmp_path: Path, number: int) -> None:
    with pytest.raises(DiskFull, match="is full"), says_when_full(tmp_path):
        raise OSError(number, "no room")


def test_other_failures_of_the_disk_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), says_when_full(tmp_path):
        raise PermissionError


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/passwd", "link/x", "..", "a/b/../../.."])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(Unsafe, match="leads out"):
        inside(root, name)


@pytest.mark.parametrize("name", ["x", "a/b", "a/../b", "."])
def test_a_name_inside_is_resolved(tmp_path: Path, name: str) -> None:
    assert inside(tmp_path, name) == (tmp_path / name).resolve()


def test_a_home_of_nobody_is_a_plain_name() -> None:
    assert expanded("~nobody-by-this-name/x") == Path("~nobody-by-this-name/x")
    assert expanded("~") == Path.home()
