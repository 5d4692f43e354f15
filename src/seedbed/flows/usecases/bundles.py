"""Bundles as people use them: add files, find, look, tag, remove, move between contexts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.store import Deletion, Graph, Store


class Bundles:
    """What people do with bundles."""

    def add(
        self,
        paths: Sequence[Path],
        *,
        name: str,
        kind: str = "files",
        tags: Mapping[str, str] | None = None,
        project: str = "",
        by: Identity,
    ) -> Bundle:
        """Publish files as they are, under the array `files`."""
        raise NotImplementedError

    def find(
        self,
        name: str = "",
        *,
        kind: str = "",
        tags: Mapping[str, str] | None = None,
        project: str | None = None,
        all_versions: bool = False,
        context: str = "",
        limit: int = 100,
        offset: int = 0,
        by: Identity,
    ) -> list[Bundle]:
        """The latest of each name, or every version; newest first."""
        raise NotImplementedError

    def show(self, ref: str, *, by: Identity) -> Bundle:
        """One bundle by uuid, the beginning of a uuid, or name (the latest)."""
        raise NotImplementedError

    def lineage(self, ref: str, *, direction: str = "up", depth: int = 50, by: Identity) -> Graph:
        """What it was made from (up), or what was made from it (down)."""
        raise NotImplementedError

    def tag(self, ref: str, changes: Mapping[str, str | None], *, by: Identity) -> Bundle:
        """Set tags; None removes one."""
        raise NotImplementedError

    def remove(self, refs: Sequence[str], *, by: Identity) -> Deletion:
        """Delete bundles, and what is only derived from them; the bytes go too."""
        raise NotImplementedError

    def file(self, ref: str, array: str, index: int, *, by: Identity) -> tuple[Path, str]:
        """The path of one file of a bundle, to be read only, and its name."""
        raise NotImplementedError

    def gc(self, *, dry_run: bool = False, by: Identity) -> object:
        """Remove the files that nothing needs."""
        raise NotImplementedError

    def verify(self, *, by: Identity) -> object:
        """Read every file and say which are damaged or missing."""
        raise NotImplementedError

    def push(self, context: str = "", *, by: Identity) -> object:
        """Copy what the context's remote lacks ('' is the context in use)."""
        raise NotImplementedError

    def pull(self, context: str = "", *, by: Identity) -> object:
        """Copy what is missing here from the context's remote."""
        raise NotImplementedError
