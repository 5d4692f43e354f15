"""The folders of jobs: one per attempt, and the last admitted checkpoint of each job."""

import json
import os
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.base.files import fsync_folder, inside, says_when_full
from seedbed.base.ids import new_id

KEPT_BY_A_FAILED_ATTEMPT = ("inputs",)
_SCRATCH = ("scratch", "checkpoints", "outbox", "resume")


@dataclass(frozen=True)
class JobFolders:
    """Where attempts run: `<root>/<job>/<fence>/`; what they left to go on from: `<root>/<job>/checkpoint/<name>/`.

    Only the collector of the scheduler that holds the lease writes checkpoints here; workers write into their attempt.
    """

    root: Path

    def attempt(self, job: str, fence: int) -> Path:
        """The folder of one try."""
        return inside(self.root, f"{job}/{fence}")

    def checkpoint(self, job: str, name: str) -> Path:
        """The folder of an admitted checkpoint."""
        return inside(self.root, f"{job}/checkpoint/{name}")

    def newest_checkpoint(self, job: str, fence: int) -> Path | None:
        """The newest whole checkpoint that an attempt has written."""
        folder = self.attempt(job, fence) / "checkpoints"
        whole = [path for path in folder.glob("[0-9]*") if path.is_dir()] if folder.is_dir() else []
        return max(whole, key=lambda path: path.name, default=None)

    def keep_checkpoint(self, source: Path, job: str, name: str) -> bool:
        """Take a checkpoint over by links, whole and on disk; False when the worker replaced it in the meantime.

        Workers take a checkpoint out of sight before they remove its files (see FolderRun), so if the folder is the
        same one after the last link as before the first, every file was there.
        """
        target = self.checkpoint(job, name)
        if target.exists():
            return True
        draft = target.with_name(f".{name}.{new_id()}")
        try:
            before = source.stat().st_ino
            with says_when_full(self.root):
                link_tree(source, draft)
            if source.stat().st_ino != before:
                return False
            _sync_tree(draft)
            draft.rename(target)
            fsync_folder(target.parent)
        except FileNotFoundError:
            return False
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return True

    def forget_checkpoints(self, job: str, *, but: str = "") -> None:
        """Remove the checkpoints of a job that nothing will go on from."""
        folder = inside(self.root, f"{job}/checkpoint")
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.name != but:
                shutil.rmtree(path, ignore_errors=True)

    def hand_on(self, job: str, checkpoint: str, to: str) -> str:
        """Give a new job the checkpoint of another; its name there, empty where it is gone."""
        name = f"0-{checkpoint.partition('-')[2]}"  # from before its first attempt
        return name if self.keep_checkpoint(self.checkpoint(job, checkpoint), to, name) else ""

    def lay_resume(self, job: str, fence: int, checkpoint: str) -> None:
        """Give an attempt the checkpoint to go on from; one that somebody removed by hand is begun without."""
        if checkpoint and self.checkpoint(job, checkpoint).is_dir():
            link_tree(self.checkpoint(job, checkpoint), self.attempt(job, fence) / "resume")

    def tidy(self, job: str, fence: int, *, failed: bool) -> None:
        """Remove what an ended attempt needs no more; one that failed keeps what it was given, to be looked at."""
        folder = self.attempt(job, fence)
        for name in _SCRATCH if failed else (*_SCRATCH, *KEPT_BY_A_FAILED_ATTEMPT):
            shutil.rmtree(folder / name, ignore_errors=True)

    def forget_inputs(self, uuids: Collection[str]) -> list[Path]:
        """Remove bundles from the inputs that failed attempts keep, because they were deleted; what was removed."""
        found = [path.parent for path in self.root.glob("*/*/inputs/*/bundle.json") if _uuid(path) in uuids]
        for folder in found:
            shutil.rmtree(folder, ignore_errors=True)
        return found


def _uuid(sheet: Path) -> str:
    return str(read_json(sheet).get("uuid", ""))


def link_tree(source: Path, target: Path) -> None:
    """The same files under another folder, by hard links, or copies where the file system has none."""
    target.mkdir(parents=True)
    for path in sorted(source.rglob("*")):
        place = target / path.relative_to(source)
        if path.is_symlink():
            continue  # a link could lead anywhere by the time it is followed
        if path.is_dir():
            place.mkdir()
        else:
            try:
                os.link(path, place)
            except PermissionError:
                shutil.copy2(path, place)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object, empty when there is none that can be read."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _sync_tree(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
