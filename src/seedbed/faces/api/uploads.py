"""Files that arrive as multipart/form-data, written piece by piece where they will stay: nothing is held in memory."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from anyio import to_thread
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.exceptions import HTTPException
from starlette.requests import Request

from seedbed.base.errors import InvalidInput
from seedbed.base.files import inside, says_when_full

_MOST_FILES = 1_000_000
_LONGEST_NAME = 1000


@dataclass
class Received:
    """What came: how many files, and how many bytes."""

    folder: Path
    files: int = 0
    size: int = 0


@dataclass
class Receiver:
    """Takes the pieces of one multipart body; parts without a file name are passed over."""

    folder: Path
    received: Received = field(init=False)
    _header: bytes = b""
    _value: bytes = b""
    _headers: dict[bytes, bytes] = field(default_factory=dict)
    _file: IO[bytes] | None = None

    def __post_init__(self) -> None:
        self.received = Received(self.folder)

    def parser(self, boundary: bytes) -> MultipartParser:
        """A parser that reports to this receiver."""
        return MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._on_header,
                "on_header_value": self._on_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._open,
                "on_part_data": self._data,
                "on_part_end": self.close,
            },
        )

    def close(self) -> None:
        """End the file that is being written."""
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        self._headers = {}

    def _on_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header = self._value = b""

    def _open(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if b"filename" not in options:
            return
        path = inside(self.folder, _name(options[b"filename"]))
        if path == self.folder.resolve() or path.exists():
            raise InvalidInput(f"The upload names '{path.name}' twice, or not at all.")
        if self.received.files >= _MOST_FILES:
            raise InvalidInput(f"An upload holds at most {_MOST_FILES} files.", hint="Send an archive instead.")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("xb")
        self.received.files += 1

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])
            self.received.size += end - start


async def receive_files(request: Request, folder: Path) -> Received:
    """Write the files of a multipart request into a folder; when it fails, the folder is gone again."""
    receiver = Receiver(folder)
    try:
        await _feed(request, receiver.parser(_boundary(request)), folder)
        receiver.close()
        if not receiver.received.files:
            raise InvalidInput("The upload holds no file.", hint="Send each file as a part with a file name.")
    except BaseException as error:
        receiver.close()
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, FormParserError):
            raise HTTPException(400, f"The body is not multipart/form-data: {error}.") from None
        raise
    return receiver.received


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise InvalidInput("An upload is a multipart/form-data request with at least one file.")
    return options[b"boundary"]


async def _feed(request: Request, parser: MultipartParser, folder: Path) -> None:
    def write(chunk: bytes) -> None:
        with says_when_full(folder):
            parser.write(chunk)

    try:
        async for chunk in request.stream():
            if chunk:
                await to_thread.run_sync(write, chunk)
        parser.finalize()
    except OSError as error:
        raise InvalidInput(f"A file of the upload cannot be written: {error.strerror}.") from None


def _name(raw: bytes) -> str:
    """A file's name as the sender gave it, perhaps with folders; never from outside its root."""
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        raise InvalidInput("The name of a file is not UTF-8 text.") from None
    if not name or "\0" in name or len(name) > _LONGEST_NAME:
        raise InvalidInput("The name of a file is empty, too long, or holds a NUL character.")
    return name.replace("\\", "/")
