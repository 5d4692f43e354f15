"""Writing so that a crash leaves the old file or the new one, and staying inside a root."""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from seedbed.base.errors import DiskFull, Unsafe
from seedbed.base.ids import new_id
from seedbed.base.resources import show_size


def fsync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that is either wholly there, on disk, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{new_id()}")
    try:
        with says_when_full(path.parent), draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    fsync_folder(path.parent)


@contextlib.contextmanager
def says_when_full(where: Path) -> Iterator[None]:
    """Turn the operating system's 'no space' into a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            free = shutil.disk_usage(where).free
            raise DiskFull(
                f"The disk that holds {where} is full ({show_size(free)} free); nothing was kept of this write.",
                hint="Make room (seedbed store gc) or move SEEDBED_HOME to a larger disk; what was kept is safe.",
            ) from error
        raise


def inside(root: Path, name: str | os.PathLike[str]) -> Path:
    """The path of a name from outside, refused when it leads out of its root (.., absolute, symlink)."""
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        raise Unsafe(f"'{name}' leads out of {root}.", hint="Name a file inside that folder.")
    return path


def expanded(path: str | os.PathLike[str]) -> Path:
    """A path with ~ made a home folder; one of a user who does not exist stays as it is, and is then not found."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises where this leaves the text alone
