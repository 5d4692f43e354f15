"""Content-addressed files: a file's name is the sha256 of its bytes, so that no byte is stored twice."""

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from seedbed.assets.store.bundle import DraftFile, FileLink
from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.files import fsync_folder, says_when_full
from seedbed.base.ids import digest_of_file, new_id

_FICLONE = 0x40049409  # Linux: share the blocks of another file until one of the two changes
_CHUNK = 1 << 20
_ONE_BY_ONE = 8  # up to here files are synced singly; above, one call for the file system is cheaper
_READ_ONLY = 0o444
_READERS = 4


class Content:
    """The folder files/. Safe to use from several threads and processes: a file appears whole, under its digest."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.incoming = root / ".incoming"

    def path_of(self, digest: str) -> Path:
        """Where the bytes of that digest lie, or would lie."""
        return self.root / digest[:2] / digest

    def take_all(self, files: Iterable[DraftFile | FileLink], *, consume: bool) -> list[FileLink]:
        """Bring files in, in their order; what is stored already is only touched. Not durable before `sync`."""
        todo = list(files)
        with says_when_full(self.root):
            if len(todo) <= _READERS:
                return [self._take(file, consume=consume) for file in todo]
            with ThreadPoolExecutor(_READERS) as pool:
                return list(pool.map(lambda file: self._take(file, consume=consume), todo))

    def _take(self, file: DraftFile | FileLink, *, consume: bool) -> FileLink:
        if isinstance(file, FileLink):
            if not self.touch(file.digest):
                raise InvalidInput(f"The file {file.name!r} with digest {file.digest[:12]}… is not in the store.")
            return file
        if consume and (link := self._adopt(file)):
            return link
        return self._copy_in(file)

    def _adopt(self, file: DraftFile) -> FileLink | None:
        """Hash a file where it lies and give it a second name in the store; its first goes after the commit."""
        digest, size = digest_of_file(file.path), file.path.stat().st_size
        if not self.touch(digest):
            place = self._place(digest)
            file.path.chmod(_READ_ONLY)
            os.utime(file.path)
            try:
                os.link(file.path, place)
            except FileExistsError:
                self.touch(digest)
            except OSError as error:
                if error.errno in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
                    return None  # another file system, or one without links: copy
                raise
        return FileLink(file.name, digest, size)

    def _copy_in(self, file: DraftFile) -> FileLink:
        with self.receive() as draft:
            digest = copy_and_hash(file.path, draft)
            return FileLink(file.name, digest, self.admit(draft, digest))

    @contextlib.contextmanager
    def receive(self) -> Iterator[Path]:
        """A path for bytes on their way in; gone at the end of the block unless `admit` took it."""
        self.incoming.mkdir(parents=True, exist_ok=True)
        draft = self.incoming / new_id()
        try:
            yield draft
        finally:
            draft.unlink(missing_ok=True)

    def admit(self, draft: Path, digest: str) -> int:
        """Put a received file under its digest; the answer is its size."""
        size = draft.stat().st_size
        if self.touch(digest):
            draft.unlink()
        else:
            draft.chmod(_READ_ONLY)
            draft.replace(self._place(digest))
        return size

    def touch(self, digest: str) -> bool:
        """Whether a file is there; if so, gc sees that somebody needs it now."""
        try:
            os.utime(self.path_of(digest))
        except FileNotFoundError:
            return False
        return True

    def missing(self, digests: Iterable[str]) -> list[str]:
        """Those of the digests that have no file."""
        return [digest for digest in digests if not self.path_of(digest).exists()]

    def sync(self, digests: Iterable[str]) -> None:
        """Return once the files of these digests, and their names, are on disk."""
        with says_when_full(self.root):
            sync_files([self.path_of(digest) for digest in digests], self.root)

    def remove(self, digest: str) -> int:
        """Remove a file that nothing needs; the answer is the bytes that are free now."""
        path = self.path_of(digest)
        try:
            size = path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            return 0
        return size

    def copy_out(self, digest: str, target: Path, *, link: bool) -> None:
        """Give a file out: a read-only hard link for run folders, else a reflink or a copy that is the taker's own."""
        source = self.path_of(digest)
        try:
            if link and _link(source, target):
                return
            if not clone(source, target):
                shutil.copyfile(source, target)
        except FileNotFoundError:
            if source.exists():
                raise
            raise NotFound(
                f"The bytes {digest[:12]}… are not in the store.", hint="Run: seedbed store verify"
            ) from None

    def _place(self, digest: str) -> Path:
        place = self.path_of(digest)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


def copy_and_hash(source: Path, target: Path) -> str:
    """Copy a file, sharing its blocks where the file system can; the digest is that of the copy."""
    if clone(source, target):
        return digest_of_file(target)
    hasher = hashlib.sha256()
    with source.open("rb") as read, target.open("xb") as write:
        while chunk := read.read(_CHUNK):
            hasher.update(chunk)
            write.write(chunk)
    return hasher.hexdigest()


def clone(source: Path, target: Path) -> bool:
    """Make a copy that shares its blocks with the source, or say that this file system cannot."""
    with source.open("rb") as read, target.open("xb") as write:
        try:
            fcntl.ioctl(write.fileno(), _FICLONE, read.fileno())
            return True
        except OSError:
            pass
    target.unlink()
    return False


def sync_files(paths: list[Path], root: Path) -> None:
    """Make files and their names durable, in whichever way is cheaper for so many."""
    if len(paths) > _ONE_BY_ONE and _sync_filesystem(root):
        return
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    for folder in {path.parent for path in paths}:
        fsync_folder(folder)
        fsync_folder(folder.parent)


def _sync_filesystem(folder: Path) -> bool:
    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None:
        return False
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if syncfs(handle) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(folder))
    finally:
        os.close(handle)
    return True


def _link(source: Path, target: Path) -> bool:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        return False
    return True
