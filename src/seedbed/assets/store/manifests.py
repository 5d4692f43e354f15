"""Manifests: a JSON file per bundle, from which the index can be rebuilt; tombstones of those that were removed."""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seedbed.assets.store.bundle import Array, Bundle
from seedbed.assets.store.content import sync_files
from seedbed.base.errors import Conflict, Damaged, NotFound
from seedbed.base.files import fsync_folder, says_when_full, write_atomically
from seedbed.base.ids import canonical_json, digest_of_bytes


@dataclass(frozen=True)
class Written:
    """A bundle whose manifest is on disk, and the digest of the manifest's text."""

    bundle: Bundle
    manifest: str


class Manifests:
    """The folder manifests/. A manifest is written once; tags set later lie beside it in a file of their own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tombstones = root / "tombstones"

    def path_of(self, uuid: str) -> Path:
        """Where a manifest lies: spread by the end of the uuid, which is random; its start is the time."""
        return self.root / uuid[-2:] / f"{uuid}.json"

    def tags_path_of(self, uuid: str) -> Path:
        """Where tags that were set after publishing lie."""
        return self.root / uuid[-2:] / f"{uuid}.tags"

    def write_all(self, bundles: Iterable[Bundle]) -> list[Written]:
        """Write manifests; they are on disk when this returns."""
        written: list[Written] = []
        with says_when_full(self.root):
            try:
                for bundle in bundles:
                    written.append(self._write(bundle))
                sync_files([self.path_of(each.bundle.uuid) for each in written], self.root)
            except BaseException:
                self.remove(each.bundle.uuid for each in written)
                raise
        return written

    def _write(self, bundle: Bundle) -> Written:
        text = canonical_json(bundle.to_json()).encode()
        path = self.path_of(bundle.uuid)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = path.open("xb")
        except FileExistsError:
            raise Conflict(f"Bundle {bundle.uuid} is being published by somebody else.") from None
        try:
            with file:
                file.write(text)
        except OSError:
            path.unlink()
            raise
        return Written(bundle, digest_of_bytes(text))

    def rewrite(self, bundle: Bundle) -> Written:
        """Write the manifest of a bundle that exists anew, because it was lost or damaged."""
        text = canonical_json(bundle.to_json()).encode()
        write_atomically(self.path_of(bundle.uuid), text)
        return Written(bundle, digest_of_bytes(text))

    def read(self, uuid: str) -> Written:
        """A bundle as its manifest has it, with the tags set since."""
        path = self.path_of(uuid)
        try:
            text = path.read_bytes()
            bundle = Bundle.from_json(json.loads(text))
        except FileNotFoundError:
            raise NotFound(f"Bundle {uuid} has no manifest.", hint="Run: seedbed store verify") from None
        except ValueError as error:
            raise Damaged(f"The manifest {path} is not JSON: {error}.", hint="Run: seedbed store verify") from error
        tags = self.read_tags(uuid)
        return Written(bundle if tags is None else replace(bundle, tags=tags), digest_of_bytes(text))

    def write_tags(self, uuid: str, tags: Mapping[str, str]) -> None:
        """Keep tags where a rebuilt index finds them."""
        write_atomically(self.tags_path_of(uuid), canonical_json(dict(tags)).encode())

    def read_tags(self, uuid: str) -> dict[str, str] | None:
        """The tags set since publishing, or None if there were none set."""
        try:
            value: dict[str, str] = json.loads(self.tags_path_of(uuid).read_text())
        except FileNotFoundError:
            return None
        return value

    def bury(self, uuids: Iterable[str], *, at: float, by: str) -> None:
        """Leave tombstones, on disk when this returns, so that a rebuilt index does not bring these bundles back."""
        paths = []
        self.tombstones.mkdir(parents=True, exist_ok=True)
        with says_when_full(self.root):
            for uuid in uuids:
                paths.append(self.tombstones / f"{uuid}.json")
                paths[-1].write_text(canonical_json({"uuid": uuid, "at": at, "by": by}))
            sync_files(paths, self.root)

    def unbury(self, uuids: Iterable[str]) -> None:
        """Take tombstones back: the deletion did not come to pass."""
        for uuid in uuids:
            (self.tombstones / f"{uuid}.json").unlink(missing_ok=True)

    def buried(self) -> dict[str, dict[str, Any]]:
        """Every tombstone by uuid, but those torn by a crash: they are synced before a deletion comes to pass."""
        found = {}
        for uuid in self.buried_uuids():
            with contextlib.suppress(ValueError, FileNotFoundError):
                found[uuid] = json.loads((self.tombstones / f"{uuid}.json").read_text())
        return found

    def buried_uuids(self) -> list[str]:
        """The uuids of every tombstone on disk."""
        return [path.stem for path in self.tombstones.glob("*.json")] if self.tombstones.exists() else []

    def remove(self, uuids: Iterable[str]) -> None:
        """Remove manifests of bundles that do not exist."""
        folders = set()
        for uuid in uuids:
            self.path_of(uuid).unlink(missing_ok=True)
            self.tags_path_of(uuid).unlink(missing_ok=True)
            folders.add(self.path_of(uuid).parent)
        for folder in folders:
            if folder.exists():
                fsync_folder(folder)

    def uuids(self) -> Iterator[str]:
        """The uuid of every manifest on disk."""
        for folder in sorted(self.root.glob("[0-9a-f][0-9a-f]")):
            for entry in os.scandir(folder):
                if entry.name.endswith(".json") and not entry.name.startswith("."):
                    yield entry.name.removesuffix(".json")


class LazyArrays(Mapping[str, Array]):
    """The arrays of a bundle that was found: read from its manifest when somebody looks, since most are only listed."""

    def __init__(self, manifests: Manifests, uuid: str) -> None:
        self._manifests = manifests
        self._uuid = uuid
        self._arrays: Mapping[str, Array] | None = None

    def _load(self) -> Mapping[str, Array]:
        if self._arrays is None:
            self._arrays = self._manifests.read(self._uuid).bundle.arrays
        return self._arrays

    def __getitem__(self, name: str) -> Array:
        return self._load()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._load())

    def __len__(self) -> int:
        return len(self._load())

    def __repr__(self) -> str:
        return repr(dict(self._load()))
