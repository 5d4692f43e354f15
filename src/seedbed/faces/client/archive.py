"""Files as a tar archive that is made while it is sent: nothing is written to disk, nothing is held in memory."""

import os
import tarfile
import threading
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from seedbed.base.errors import InvalidInput, Unsafe
from seedbed.base.files import inside
from seedbed.base.tables import FILE_COLUMNS, FILES_HINT, Sheet

_MANIFEST = "manifest.csv"
_FEW = 20  # problems that are named


class TarStream:
    """A file-like object that reads as a tar archive of a folder, or of some files under their names in the archive.

    A thread writes the archive into a pipe and `read` empties it. There is no `fileno`, so that nobody takes the
    pipe's size (0) for the archive's. Links are followed no further than the folder itself: they are left out.
    """

    def __init__(self, folder: Path, files: Iterable[tuple[str, Path]] | None = None) -> None:
        if not folder.is_dir():
            raise InvalidInput(f"{folder} is not a folder.")
        self._folder = folder
        self._files = files
        reading, writing = os.pipe()
        self._reading = os.fdopen(reading, "rb")
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._write, args=(writing,), daemon=True)
        self._thread.start()

    def read(self, size: int = -1) -> bytes:
        """The next bytes; none at the end."""
        data = self._reading.read(size)
        if not data:
            self._thread.join()
            if self._error is not None:
                raise InvalidInput(f"{self._folder} could not be read to its end: {self._error}.") from self._error
        return data

    def close(self) -> None:
        """Stop early: the writing thread ends at its next write."""
        self._reading.close()
        self._thread.join()

    def _write(self, handle: int) -> None:
        try:
            with os.fdopen(handle, "wb") as pipe, tarfile.open(fileobj=pipe, mode="w|") as archive:
                for name, path in self._files or self._all():
                    archive.add(path, arcname=name, recursive=False)
        except BrokenPipeError:
            pass  # the reader has closed its end
        except OSError as error:
            self._error = error

    def _all(self) -> Iterable[tuple[str, Path]]:
        for path in sorted(self._folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield str(path.relative_to(self._folder)), path


def list_and_images(table: Path) -> TarStream:
    """A CSV list of images as manifest.csv, with the images that it names, under the names that it gives them.

    Names that lead out of the list's folder are refused; files that are not there are left to the server's findings.
    """
    files: dict[str, Path] = {_MANIFEST: table.resolve()}
    outside = []
    for name in _named(table):
        try:
            path = inside(table.parent, name)
        except (Unsafe, ValueError):
            outside.append(name)
            continue
        if PurePosixPath(name).is_absolute():
            outside.append(name)
        elif path.is_file():
            files.setdefault(os.path.normpath(name), path)
    if outside:
        raise Unsafe(
            f"{table.name} names {len(outside)} files outside its own folder, or by absolute paths.",
            hint="Put the CSV beside the images, or above them, and name them relative to it.",
            problems=[f"'{name}'" for name in outside[:_FEW]],
        )
    return TarStream(table.resolve().parent, list(files.items()))


def _named(table: Path) -> list[str]:
    sheet = Sheet(table.read_bytes(), table.name)
    [column] = sheet.need(FILE_COLUMNS, hint=FILES_HINT)
    return [name for row in sheet.rows() if (name := row[column].replace("\\", "/"))]
