"""Unpacking archives that may be hostile: zip, and tar with gzip, bzip2, xz or nothing.

Every entry's name, kind and size is checked before a byte of it is written, and the bytes are counted as they come,
since headers lie. A refused archive leaves nothing behind.
"""

import bz2
import errno
import gzip
import io
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from seedbed.assets.data.limits import Limits
from seedbed.base.errors import InvalidInput, TooLarge, Unsafe
from seedbed.base.files import says_when_full
from seedbed.base.resources import show_size
from seedbed.base.text import readable

_CHUNK = 1 << 20
_LONGEST_READ = 16 << 20  # tarfile reads extended headers in one go; an honest one is a few KiB
_NO_NAME_HERE = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)  # names that this file system cannot have
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError)


def is_archive(path: Path) -> bool:
    """Whether a file is named like an archive that can be unpacked."""
    name = path.name.lower()
    return name.endswith((".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz"))


def unpack(archive: Path, folder: Path, limits: Limits) -> list[str]:
    """Unpack into a new folder; returns the names of entries whose bytes are damaged and so were left out."""
    folder.mkdir(parents=True)
    unpacker = _Unpacker(archive, folder, limits)
    try:
        with says_when_full(folder):
            if zipfile.is_zipfile(archive):
                unpacker.unpack_zip()
            else:
                unpacker.unpack_tar()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return unpacker.damaged


class _Unpacker:
    def __init__(self, archive: Path, folder: Path, limits: Limits) -> None:
        self.archive = archive
        self.folder = folder
        self.limits = limits
        self.damaged: list[str] = []
        self._packed = archive.stat().st_size
        self._count = 0
        self._written = 0

    def unpack_zip(self) -> None:
        try:
            with zipfile.ZipFile(self.archive) as zipped:
                entries = [entry for entry in zipped.infolist() if not entry.is_dir()]
                for entry in entries:
                    self._check_zip_entry(entry)
                self._check_amount(sum(entry.file_size for entry in entries))
                for entry in entries:
                    self._extract_zip_entry(zipped, entry)
        except zipfile.BadZipFile as error:
            raise self._unreadable(error) from error

    def _check_zip_entry(self, entry: zipfile.ZipInfo) -> None:
        self._check_name(entry.filename)
        mode = entry.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise self._unsafe(entry.filename, "is a link or a device, not a file")
        if entry.flag_bits & 0x1:
            raise InvalidInput(f"{self.archive.name} is encrypted.", hint="Unpack it and give the folder instead.")

    def _extract_zip_entry(self, zipped: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
        try:
            with zipped.open(entry) as source:
                self._write(entry.filename, source)
        except _BROKEN as error:
            self._note_damage(entry.filename, error)

    def unpack_tar(self) -> None:
        try:
            with _decompressed(self.archive) as stream:
                counted = cast(IO[bytes], _Counted(stream, self))
                with tarfile.open(fileobj=counted, mode="r:") as tar:
                    for member in _members(tar):
                        self._extract_member(tar, member)
        except (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile, UnicodeError) as error:
            raise self._unreadable(error) from error

    def _extract_member(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        self._check_name(member.name, folder=member.isdir())
        if member.isdir():
            return
        if not member.isreg() or member.issparse():
            raise self._unsafe(member.name, "is a link, a device or a sparse file, not a plain file")
        source = tar.extractfile(member)
        if source is not None:
            self._write(member.name, source)

    def _check_name(self, name: str, *, folder: bool = False) -> None:
        self._count += 1
        if self._count > self.limits.files:
            raise TooLarge(f"{self.archive.name} holds more than {self.limits.files:,} files.", hint="Divide it.")
        path = PurePosixPath(name.replace("\\", "/"))
        drive = bool(path.parts) and path.parts[0].endswith(":")
        nameless = not path.parts and not folder  # "." is the folder that tar was called in
        if path.is_absolute() or ".." in path.parts or "\0" in name or drive or nameless:
            raise self._unsafe(name, "leads out of the archive's folder")

    def _check_amount(self, size: int) -> None:
        """Refuse what is too much, or unpacks to far more than it was packed from."""
        if size > self.limits.total_bytes:
            limit = show_size(self.limits.total_bytes)
            raise TooLarge(f"{self.archive.name} unpacks to more than {limit}.", hint="Divide it, or give a folder.")
        if size > self.limits.ratio_floor and size > self.limits.ratio * self._packed:
            raise TooLarge(
                f"{self.archive.name} ({show_size(self._packed)}) unpacks to over {self.limits.ratio:.0f} times its "
                "size, as a zip bomb does.",
                hint="If it is honest, unpack it and give the folder instead.",
            )

    def _write(self, name: str, source: IO[bytes]) -> None:
        place = self.folder / PurePosixPath(name.replace("\\", "/"))
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                while chunk := source.read(_CHUNK):
                    self._written += len(chunk)
                    self._check_amount(self._written)
                    file.write(chunk)
        except (FileExistsError, NotADirectoryError):  # a second entry of that name: the first one counts
            self.damaged.append(name)
        except OSError as error:
            if error.errno not in _NO_NAME_HERE:
                raise
            self.damaged.append(name)

    def _note_damage(self, name: str, error: Exception) -> None:
        if isinstance(error, OSError) and error.errno is not None:
            raise error
        (self.folder / PurePosixPath(name.replace("\\", "/"))).unlink(missing_ok=True)
        self.damaged.append(name)

    def _unsafe(self, name: str, why: str) -> Unsafe:
        return Unsafe(
            f"{self.archive.name} was refused: its entry '{readable(name)}' {why}.",
            hint="Nothing of it was kept. Pack the images as plain files, or give the folder instead.",
        )

    def _unreadable(self, error: Exception) -> InvalidInput:
        return InvalidInput(
            f"{self.archive.name} is not a zip or tar archive that can be read ({error}).",
            hint="It may be cut short: download or pack it again.",
        )


class _Counted(io.RawIOBase):
    """A decompressed stream that refuses to run past the limits."""

    def __init__(self, stream: IO[bytes], unpacker: _Unpacker) -> None:
        self._stream = stream
        self._unpacker = unpacker

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > _LONGEST_READ:
            raise self._unpacker._unsafe("(a header)", "claims to be larger than any honest one")
        data = self._stream.read(size)
        self._unpacker._check_amount(self.tell())
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        while whence == io.SEEK_SET and self.tell() + _CHUNK < offset:
            if not self.read(_CHUNK):
                break
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()


def _decompressed(archive: Path) -> IO[bytes]:
    with archive.open("rb") as file:
        magic = file.read(6)
    openers: list[tuple[bytes, Any]] = [(b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open)]
    for start, opener in openers:
        if magic.startswith(start):
            return cast(IO[bytes], opener(archive, "rb"))
    return archive.open("rb")


def _members(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Members one by one, forgetting them: a tar of a million entries must not fill the memory."""
    while (member := tar.next()) is not None:
        tar.members.clear()  # type: ignore[attr-defined]
        yield member
