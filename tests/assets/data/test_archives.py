"""Hostile archives are refused with a sentence and leave nothing behind."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from seedbed.assets.data.archives import unpack
from seedbed.assets.data.ingest import ingest
from seedbed.assets.data.limits import Limits
from seedbed.base.errors import InvalidInput, SeedbedError, TooLarge, Unsafe
from tests.assets.data.conftest import Save

SMALL = Limits(files=50, total_bytes=20 << 20, ratio=100, ratio_floor=1 << 20)


def zip_with(name: str, data: bytes = b"x", *, mode: int = 0) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("good.jpg", b"good")
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = mode << 16
            packed.writestr(entry, data)

    return write


def tar_with(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with tarfile.open(path, "w:gz") as packed:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, link, size
            packed.addfile(member, io.BytesIO(bytes(size)))

    return write


def many(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as packed:
        for number in range(60):
            packed.writestr(f"{number}.jpg", b"x")


def lying(path: Path) -> None:
    """A zip whose headers claim 10 bytes for an entry that unpacks to 3 MiB."""
    zip_with("bomb.jpg", bytes(3 << 20))(path)
    data = path.read_bytes()
    path.write_bytes(data.replace((3 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little")))


def header_bomb(path: Path) -> None:
    """A tar whose extended header claims a gigabyte."""
    member = tarfile.TarInfo("pax")
    member.type, member.size = tarfile.XHDTYPE, 1 << 30
    with gzip.open(path, "wb") as out:
        out.write(member.tobuf(tarfile.USTAR_FORMAT) + bytes(1 << 20))


HOSTILE = {
    "climbing.zip": (zip_with("../../evil.jpg"), Unsafe, "leads out"),
    "absolute.zip": (zip_with("/evil.jpg"), Unsafe, "leads out"),
    "backslash.zip": (zip_with("..\\evil.jpg"), Unsafe, "leads out"),
    "drive.zip": (zip_with("C:/evil.jpg"), Unsafe, "leads out"),
    "symlink.zip": (zip_with("evil.jpg", b"/etc/passwd", mode=0o120777), Unsafe, "link"),
    "ratio.zip": (zip_with("bomb.jpg", bytes(4 << 20)), TooLarge, "zip bomb"),
    "total.zip": (zip_with("bomb.jpg", bytes(21 << 20)), TooLarge, "unpacks to more"),
    "many.zip": (many, TooLarge, "more than 50 files"),
    "noise.zip": (lambda path: path.write_bytes(b"PK\x03\x04" + bytes(50)), InvalidInput, "not a zip or tar"),
    "climbing.tar.gz": (tar_with("../evil.jpg"), Unsafe, "leads out"),
    "absolute.tar.gz": (tar_with("/etc/evil.jpg"), Unsafe, "leads out"),
    "symlink.tar.gz": (tar_with("evil.jpg", tarfile.SYMTYPE, "/etc/passwd"), Unsafe, "link"),
    "hardlink.tar.gz": (tar_with("evil.jpg", tarfile.LNKTYPE, "/etc/passwd"), Unsafe, "link"),
    "device.tar.gz": (tar_with("evil.jpg", tarfile.CHRTYPE), Unsafe, "device"),
    "fifo.tar.gz": (tar_with("evil.jpg", tarfile.FIFOTYPE), Unsafe, "device"),
    "ratio.tar.gz": (tar_with("bomb.jpg", size=4 << 20), TooLarge, "zip bomb"),
    "header.tar.gz": (header_bomb, Unsafe, "larger than any honest"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_and_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    write, error, sentence = HOSTILE[name]
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / name)
    with pytest.raises(error, match=sentence) as refused:
        ingest(tmp_path / "in" / name, tmp_path / "home" / "out", name="x", limits=SMALL)
    assert isinstance(refused.value, SeedbedError) and name in refused.value.message
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [name]
    assert not (tmp_path / "home" / "out").exists()


def test_an_entry_that_lies_about_its_size_cannot_write_more_than_it_said(save: Save, tmp_path: Path) -> None:
    lying(tmp_path / "lying.zip")
    with pytest.raises(InvalidInput):  # neither entry is an image: what matters is that no flood was written
        ingest(tmp_path / "lying.zip", tmp_path / "out", name="x", limits=SMALL)
    assert not (tmp_path / "out").exists()


def test_an_upload_with_one_hostile_archive_is_refused_whole(save: Save, tmp_path: Path) -> None:
    save("good.jpg", 0)
    zip_with("../evil.jpg")(tmp_path / "source" / "bad.zip")
    with pytest.raises(Unsafe):
        ingest(tmp_path / "source", tmp_path / "out", name="x")
    assert not (tmp_path / "out").exists()


def test_an_encrypted_zip_says_so(tmp_path: Path) -> None:
    zip_with("a.jpg")(tmp_path / "a.zip")
    data = bytearray((tmp_path / "a.zip").read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.rindex(mark) + offset] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(InvalidInput, match="encrypted"):
        ingest(tmp_path / "a.zip", tmp_path / "out", name="x")


def test_a_tar_of_the_folder_it_was_called_in_is_no_attempt_to_break_out(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jpg").write_bytes(b"x")
    with tarfile.open(tmp_path / "all.tar", "w") as tar:
        tar.add(tmp_path / "in", ".")
    assert unpack(tmp_path / "all.tar", tmp_path / "out", Limits()) == []
    assert (tmp_path / "out" / "a.jpg").read_bytes() == b"x"
