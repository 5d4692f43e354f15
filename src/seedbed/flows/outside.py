"""What lies outside the store: fingerprints of it, and who may read it."""

import os
from collections.abc import Sequence
from pathlib import Path

from seedbed.assets.access.roles import SOLO, Identity
from seedbed.base.errors import Forbidden
from seedbed.base.ids import digest_of
from seedbed.base.settings import Settings


def fingerprint(path: Path) -> str:
    """Digest of a file's or a folder's names, sizes and times of change: another one means that something changed.

    Contents are not read, as rsync does not: that would cost as much as the work that it may save.
    """
    if not path.is_dir():
        return digest_of([_text(path), _state(path)])
    states: list[list[str | int]] = []
    for root, folders, files in os.walk(path):
        folders.sort()
        for file in (Path(root, name) for name in sorted(files)):
            states.append([_text(file.relative_to(path)), *_state(file)])
    return digest_of([_text(path), states])


def _text(path: Path) -> str:
    """A path as text that can be hashed, also where its bytes are no text."""
    return path.as_posix().encode(errors="backslashreplace").decode()


def _state(path: Path) -> list[int]:
    try:
        state = path.stat()
    except OSError:
        return []
    return [state.st_size, state.st_mtime_ns]


def missing(paths: Sequence[Path | str]) -> list[str]:
    """A sentence for each path that a job could not read because there is nothing."""
    found = [_missing(Path(path)) for path in paths]
    return [sentence for sentence in found if sentence]


def _missing(path: Path) -> str:
    if not path.is_absolute():
        return f"'{path}' is not a whole path: jobs run in folders of their own, so write it from / on."
    try:
        path.stat()
    except OSError as error:
        return f"{path} cannot be read: {(error.strerror or str(error)).lower()}."
    except ValueError:
        return f"{str(path)!r} cannot be a path."
    return ""


class Roots:
    """Which folders of the server people may have read in: a laptop's own user any, members of a team those set.

    The service's own home is in none of them, however wide they are; only a folder of it that is set itself.
    """

    def __init__(self, settings: Settings) -> None:
        self._home = settings.home
        self._roots = settings.import_roots

    def check(self, paths: Sequence[Path | str], by: Identity) -> None:
        """Refuse paths that lead out of `import_roots` and are in no upload; uploads are named one by one."""
        if by.id == SOLO.id:
            return
        refused = [str(path) for path in paths if not self._allows(Path(path))]
        if refused:
            raise Forbidden(
                f"The server may not read {', '.join(refused[:3])} for you.",
                hint="Upload it, or ask an operator to add its folder to import_roots.",
            )

    def _allows(self, path: Path) -> bool:
        uploads = self._home / "uploads"
        if _inside(path, uploads):  # it holds those of everybody; the name of one is known to who sent it
            return not _inside(uploads, path)
        return any(_inside(path, root) and not self._bares_home(path, root) for root in self._roots)

    def _bares_home(self, path: Path, root: Path) -> bool:
        """Whether a root is so wide that the home is in it, and the path leads there: to everybody's bundles."""
        return _inside(self._home, root) and (_inside(path, self._home) or _inside(self._home, path))


def _inside(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):  # no such name can exist, or links that lead in a circle
        return False
