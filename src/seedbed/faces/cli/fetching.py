"""Files of bundles onto this machine."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.base.errors import Conflict, Damaged, NotFound
from seedbed.base.files import inside, says_when_full
from seedbed.base.ids import digest_of_file
from seedbed.base.registry import near_matches
from seedbed.faces.cli.heavy import HEAVY
from seedbed.faces.cli.session import Session

if TYPE_CHECKING:
    from seedbed.faces.client.results import BundleDetail

_FEW = 5  # problems that are named


@dataclass(frozen=True)
class Wanted:
    """A file of a bundle, and where it goes."""

    array: str
    index: int
    size: int
    target: Path
    digest: str


def files_in(bundle: "BundleDetail", folder: Path, array: str = "") -> list[Wanted]:
    """The files of a bundle, or of one of its arrays, as FOLDER/ARRAY/NAME; a name that leads out is refused."""
    known = {name: its["items"] for name, its in bundle["arrays"].items() if its["type"] == "file"}
    if array and array not in known:
        raise NotFound(f"'{bundle['name']}' has no files named '{array}'.", hint=near_matches(array, known))
    if not known:
        raise NotFound(
            f"'{bundle['name']}' has no files, only values.", hint=f"See them: seedbed store show {bundle['uuid']}"
        )
    return [
        Wanted(name, index, item["size"], inside(inside(folder, name), item["name"]), item["digest"])
        for name, items in known.items()
        for index, item in enumerate(items)
        if name == array or not array
    ]


def refuse_to_overwrite(targets: Sequence[Path], *, force: bool) -> None:
    """Nothing that is there is lost unless --force says so."""
    there = [str(target) for target in targets if target.exists()]
    if there and not force:
        what = "1 file is" if len(there) == 1 else f"{len(there)} files are"
        raise Conflict(
            f"{what} already there.", hint="Choose another place, or write over them: --force.", problems=there[:_FEW]
        )


def _check(here: Session, file: Wanted, draft: Path) -> None:
    """What came over a network must be what the bundle says; in this process the store has just looked."""
    if here.platform is None and digest_of_file(draft) != file.digest:
        raise Damaged(f"{file.target.name} was damaged on its way.", hint="Try again.")


def fetch(here: Session, uuid: str, files: Sequence[Wanted], *, force: bool, quiet: bool) -> None:
    """Write files of a bundle where they go, each wholly or not at all."""
    refuse_to_overwrite([file.target for file in files], force=force)
    with HEAVY.get("Download")(sum(file.size for file in files), quiet=quiet) as bar:
        for file in files:
            bar.file(file.target.name)
            file.target.parent.mkdir(parents=True, exist_ok=True)
            draft = file.target.with_name(f".{file.target.name}.{os.getpid()}")
            try:
                with says_when_full(draft.parent):
                    here.client.bundles.download(uuid, file.array, file.index, draft, on_bytes=bar.more)
                _check(here, file, draft)
                draft.replace(file.target)
            finally:
                draft.unlink(missing_ok=True)
