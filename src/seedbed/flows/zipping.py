"""Many files as one zip archive, made while it is sent: nothing of it lies on disk or in memory."""

import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, cast

from seedbed.assets.projects.formats.format import Part

_CHUNK = 1 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same files give the same archive


class _Pipe:
    """What `zipfile` writes into; the pieces are taken out as they come."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes, /) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None: ...

    def taken(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def zipped(parts: Iterable[Part], path_of: Callable[[str], Path]) -> Iterator[bytes]:
    """The pieces of an archive; an image's bytes are where `path_of` its id says."""
    pipe = _Pipe()
    with zipfile.ZipFile(cast(IO[bytes], pipe), "w", zipfile.ZIP_STORED) as archive:
        for part in parts:
            info = zipfile.ZipInfo(part.name, _EPOCH)
            info.external_attr = 0o644 << 16
            with archive.open(info, "w") as target:
                for piece in _content(part, path_of):
                    target.write(piece)
                    yield pipe.taken()
    yield pipe.taken()


def _content(part: Part, path_of: Callable[[str], Path]) -> Iterator[bytes]:
    if not part.image:
        yield part.content
        return
    with path_of(part.image).open("rb") as file:
        while piece := file.read(_CHUNK):
            yield piece
