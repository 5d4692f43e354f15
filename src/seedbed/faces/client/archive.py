"""A folder as a tar archive that is made while it is sent: nothing is written to disk, nothing is held in memory."""

import os
import tarfile
import threading
from pathlib import Path

from seedbed.base.errors import InvalidInput


class TarStream:
    """A file-like object that reads as a tar archive of a folder.

    A thread writes the archive into a pipe and `read` empties it. There is no `fileno`, so that nobody takes the
    pipe's size (0) for the archive's. Links are followed no further than the folder itself: they are left out.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InvalidInput(f"{folder} is not a folder.")
        self._folder = folder
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
                for path in sorted(self._folder.rglob("*")):
                    if path.is_file() and not path.is_symlink():
                        archive.add(path, arcname=str(path.relative_to(self._folder)), recursive=False)
        except BrokenPipeError:
            pass  # the reader has closed its end
        except OSError as error:
            self._error = error
