"""Content-addressed files: a file's name is the sha256 of its bytes, so that no byte is stored twice."""

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from seedbed.assets.store.bundle import DraftFile, FileLink
from seedbed.base.errors import Damaged, InvalidInput
from seedbed.base.files import fsync_folder, says_when_full
from seedbed.base.ids import digest_of_file, new_id

_FICLONE = 0x40049409  # Linux: share the blocks of another file until one of the two changes
_CHUNK = 1 << 20
_ONE_BY_ONE = 8  # up to here files are synced singly; above, one call for the file system is cheaper
_READ_ONLY = 0o444
_READERS = 4
_AT_ONCE = 64  # files that a reader takes from the pile at most: a turn of its own for each costs more than a link does
HEAL = (
    "Bring it back: seedbed store pull, or seedbed store add FOLDER --name NAME with the folder that it came from and "
    "any name; what a job made, seedbed jobs rerun JOB --again makes again. seedbed store verify names all that is "
    "damaged."
)


class Content:
    """The folder files/. Safe to use from several threads and processes: a file appears whole, under its digest.

    Disks forget: a file that was found to be damaged is noted in .damaged/ until whole bytes have taken its place.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.incoming = root / ".incoming"
        self.damaged = root / ".damaged"

    def path_of(self, digest: str) -> Path:
        """Where the bytes of that digest lie, or would lie."""
        return self.root / digest[:2] / digest

    def take_all(self, files: Iterable[DraftFile | FileLink], *, consume: bool) -> list[FileLink]:
        """Bring files in, in their order; no byte is stored twice. Not durable before `sync`."""
        todo = list(files)
        with says_when_full(self.root):
            if len(todo) <= _READERS:
                return [self._take(file, consume=consume) for file in todo]
            some = min(_AT_ONCE, -(-len(todo) // (4 * _READERS)))
            pieces = [todo[start : start + some] for start in range(0, len(todo), some)]
            with ThreadPoolExecutor(_READERS) as pool:
                taken = pool.map(lambda piece: [self._take(file, consume=consume) for file in piece], pieces)
                return [link for piece in taken for link in piece]

    def _take(self, file: DraftFile | FileLink, *, consume: bool) -> FileLink:
        if isinstance(file, FileLink):
            if not self.touch(file.digest):
                raise InvalidInput(f"The file {file.name!r} with digest {file.digest[:12]}… is not in the store.")
            if not self.holds(file.digest, file.size):
                raise Damaged(f"The stored file {file.name!r} ({file.digest[:12]}…) is damaged.", hint=HEAL)
            return file
        if consume and (link := self._adopt(file)):
            return link
        return self._copy_in(file)

    def _adopt(self, file: DraftFile) -> FileLink | None:
        """Hash a file where it lies and give it a second name in the store; its first goes after the commit."""
        digest, size = digest_of_file(file.path), file.path.stat().st_size
        if not self._has(digest, file.path):
            file.path.chmod(_READ_ONLY)
            os.utime(file.path)
            try:
                with self.receive() as draft:
                    os.link(file.path, draft)
                    self._put(draft, digest)
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
        """Put a received file, whose digest was checked, under its digest; the answer is its size."""
        size = draft.stat().st_size
        if self._has(digest, draft):
            draft.unlink()
        else:
            draft.chmod(_READ_ONLY)
            self._put(draft, digest)
        return size

    def _has(self, digest: str, incoming: Path) -> bool:
        """Whether the stored file has the bytes of an incoming one; if not, the incoming one takes its place.

        Whoever brings bytes again relies on what lies here afterwards. The incoming ones have just been hashed, so
        that comparing with them tells as much as a second hash would, and costs only the reading.
        """
        if not self.touch(digest):
            return False
        try:
            same = _same_bytes(self.path_of(digest), incoming)
        except OSError:  # such as a sector that cannot be read
            return False
        if same:
            self.trust(digest)
        return same

    def _put(self, draft: Path, digest: str) -> None:
        draft.replace(self._place(digest))
        self.trust(digest)

    def touch(self, digest: str) -> bool:
        """Whether a file is there; if so, gc sees that somebody needs it now."""
        try:
            os.utime(self.path_of(digest))
        except FileNotFoundError:
            return False
        return True

    def holds(self, digest: str, size: int) -> bool:
        """Whether a file is there, of its size and not known to be damaged: all that can be said without reading."""
        try:
            there = self.path_of(digest).stat().st_size == size
        except OSError:
            return False
        return there and not (self.damaged / digest).exists()

    def check(self, digest: str) -> Path:
        """The path of a file whose every byte was just read and compared with its digest; raises Damaged."""
        path = self.path_of(digest)
        try:
            found = digest_of_file(path)
        except OSError as error:
            raise self._damaged(digest, f"cannot be read: {error.strerror}") from None
        if found != digest:
            raise self._damaged(digest)
        self.trust(digest)
        return path

    def suspect(self, digest: str) -> None:
        """Note that a file is not what it was: nobody works with it, and the next pull brings it back."""
        if self.path_of(digest).exists():  # one that is missing needs no note
            with contextlib.suppress(OSError):  # on a disk that takes no more, the finding itself still counts
                self.damaged.mkdir(parents=True, exist_ok=True)
                (self.damaged / digest).touch()

    def trust(self, digest: str) -> None:
        """Take that note away: the file has been read and is whole."""
        (self.damaged / digest).unlink(missing_ok=True)

    def _damaged(self, digest: str, how: str = "is not what it was when it was written") -> Damaged:
        self.suspect(digest)
        return Damaged(f"The stored file {digest[:12]}… {how}.", hint=HEAL)

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
        finally:
            self.trust(digest)
        return size

    def copy_out(self, file: FileLink, target: Path, *, link: bool) -> None:
        """Give a file out: a read-only hard link for run folders, else a reflink or a copy that is the taker's own.

        A copy is compared with its digest on the way. A link is not, since reading all of a large data set before each
        job may take longer than the job: only its size and what is known to be damaged are looked at.
        """
        source = self.path_of(file.digest)
        if link and self.holds(file.digest, file.size) and _link(source, target):
            return
        if not source.exists():
            raise self._damaged(file.digest, "is missing")
        if copy_and_hash(source, target) != file.digest:
            target.unlink()
            raise self._damaged(file.digest)
        self.trust(file.digest)

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


def _same_bytes(one: Path, other: Path) -> bool:
    with one.open("rb") as left, other.open("rb") as right:
        if os.fstat(left.fileno()).st_size != os.fstat(right.fileno()).st_size:
            return False
        while chunk := left.read(_CHUNK):
            if chunk != right.read(_CHUNK):
                return False
    return True


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
