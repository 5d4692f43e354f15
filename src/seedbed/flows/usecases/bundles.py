"""Bundles as people use them: add files, find, look, tag, remove, move between contexts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.bundle import Bundle, Draft, DraftArray, Lineage
from seedbed.assets.store.deletion import Deletion, Keeper
from seedbed.assets.store.gc import DAY, Garbage, collect_garbage
from seedbed.assets.store.lineage import HIDDEN, Direction, Graph
from seedbed.assets.store.rebuild import Rebuilt, rebuild
from seedbed.assets.store.store import Store
from seedbed.assets.store.transfer import Transfer
from seedbed.assets.store.verify import Verification, verify
from seedbed.base.errors import InvalidInput, NotFound
from seedbed.flows.kinds import KINDS
from seedbed.flows.kinds.labels import Files
from seedbed.flows.outside import Roots
from seedbed.flows.usecases.contexts import Contexts, Progress
from seedbed.flows.usecases.left_behind import LeftBehind
from seedbed.flows.usecases.pages import may_see, require_project, visible_projects
from seedbed.flows.usecases.uploads import Uploads
from seedbed.runtime.jobs.folders import JobFolders


class Bundles:
    """What people do with bundles."""

    def __init__(
        self,
        store: Store,
        projects: KeptProjects,
        contexts: Contexts,
        roots: Roots,
        audit: Audit,
        uploads: Uploads,
        left_behind: LeftBehind,
        *,
        gc_grace: float = DAY,
    ) -> None:
        self._store = store
        self._projects = projects
        self._contexts = contexts
        self._gc_grace = gc_grace
        self._roots = roots
        self._audit = audit
        self._uploads = uploads
        self._left_behind = left_behind

    def add(
        self,
        paths: Sequence[Path],
        *,
        name: str,
        kind: str = Files.kind,
        tags: Mapping[str, str] | None = None,
        project: str = "",
        by: Identity,
    ) -> Bundle:
        """Publish files as they are, under the array `files`; of a folder all that is in it."""
        place = self._projects.get(project).id if project else ""
        by.require(Role.TRAINER, place)
        if kind in KINDS and kind != Files.kind:
            raise InvalidInput(
                f"'{kind}' is a kind of bundle that steps make; files as they are cannot be one.",
                hint="Name one of your own, or none. Images: seedbed data add. Weights: seedbed zoo import.",
            )
        files = _named(paths)
        self._roots.check(list(files.values()), by)
        draft = Draft(
            name=name,
            kind=kind,
            arrays={"files": DraftArray.of_files(files)},
            tags=dict(tags or {}),
            lineage=Lineage(step="add"),
            project=place,
        )
        bundle = self._store.publish(draft)
        self._audit.record(by.name, "bundle.add", bundle.uuid, data={"name": name})
        return bundle

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
        """The latest of each name, or every version; newest first; '' as project is outside all projects."""
        return self._store.find(
            name,
            kind=kind,
            tags=tags,
            project=self._places(project, by),
            all_versions=all_versions,
            context=context,
            limit=limit,
            offset=offset,
        )

    def show(self, ref: str, *, by: Identity) -> Bundle:
        """One bundle by uuid, the beginning of a uuid, or name (the latest)."""
        return self._require(ref, Role.VIEWER, by)

    def lineage(self, ref: str, *, direction: Direction = "up", depth: int = 50, by: Identity) -> Graph:
        """What it was made from (up), or what was made from it (down); of others' projects only that it is there."""
        graph = self._store.lineage(self._require(ref, Role.VIEWER, by).uuid, direction=direction, depth=depth)
        return graph.hiding(partial(may_see, by))

    def tag(self, ref: str, changes: Mapping[str, str | None], *, by: Identity) -> Bundle:
        """Set tags; None removes one."""
        bundle = self._require(ref, Role.LABELLER, by)
        tagged = self._store.tag(bundle.uuid, changes)
        self._audit.record(by.name, "bundle.tag", bundle.uuid, data={"tags": dict(changes)})
        return tagged

    def remove(self, refs: Sequence[str], *, by: Identity) -> Deletion:
        """Delete bundles, and what is derived from them; the bytes go too, but those that other bundles have."""
        doomed = [self._require(ref, Role.TRAINER, by) for ref in refs]
        deletion = self._store.delete([bundle.uuid for bundle in doomed], by=by.name)
        JobFolders(self._store.home / "jobs").forget_inputs({bundle.uuid for bundle in deletion.bundles})
        for bundle in deletion.bundles:
            self._audit.record(by.name, "bundle.remove", bundle.uuid, data={"name": bundle.name})
        return replace(deletion, keepers=tuple(_hiding(deletion.keepers, by)))

    def file(self, ref: str, array: str, index: int, *, by: Identity) -> tuple[Path, str]:
        """The path of one file of a bundle, to be read only, and its name; every byte was compared with its digest."""
        bundle = self._require(ref, Role.VIEWER, by)
        files = bundle.arrays[array].files if array in bundle.arrays else ()
        if not 0 <= index < len(files):
            known = ", ".join(f"{name} ({len(its.files)})" for name, its in bundle.arrays.items() if its.files)
            raise NotFound(f"'{bundle.name}' has no file {index} in '{array}'.", hint=f"Its files: {known or 'none'}.")
        return self._store.checked_path_of(files[index].digest), files[index].name

    def gc(self, *, dry_run: bool = False, by: Identity) -> Garbage:
        """Remove the files that nothing needs, such as uploads that nobody used, and what failed jobs read or left."""
        by.require(Role.OPERATOR)
        if not dry_run:
            self._audit.record(by.name, "store.gc", "")
        found = collect_garbage(self._store, grace=self._gc_grace, dry_run=dry_run)
        for leavings in (self._uploads, self._left_behind):
            files, size = leavings.collect(grace=self._gc_grace, dry_run=dry_run)
            found = replace(found, files=found.files + files, bytes=found.bytes + size)
        return found

    def rebuild(self, *, by: Identity) -> Rebuilt:
        """Make the index of the store anew from its manifests; what was deleted stays deleted."""
        by.require(Role.OPERATOR)
        self._audit.record(by.name, "store.rebuild", "")
        return rebuild(self._store)

    def verify(self, *, on_progress: Progress | None = None, by: Identity) -> Verification:
        """Read every file and say which are damaged or missing."""
        by.require(Role.OPERATOR)
        return verify(self._store, on_progress=on_progress)

    def push(
        self, context: str = "", *, check: bool = False, on_progress: Progress | None = None, by: Identity
    ) -> Transfer:
        """Copy what the context's remote lacks ('' is the context in use)."""
        return self._contexts.push(context, check=check, on_progress=on_progress, by=by)

    def pull(
        self, context: str = "", *, check: bool = False, on_progress: Progress | None = None, by: Identity
    ) -> Transfer:
        """Copy what is missing or damaged here from the context's remote."""
        return self._contexts.pull(context, check=check, on_progress=on_progress, by=by)

    def _places(self, project: str | None, by: Identity) -> str | list[str] | None:
        if project:
            place = self._projects.get(project).id
            by.require(Role.VIEWER, place)
            return place
        return visible_projects(by) if project is None else project

    def _require(self, ref: str, role: Role, by: Identity) -> Bundle:
        bundle = self._store.get(ref)
        require_project(by, role, bundle.project, what=f"bundle '{ref}'")
        return bundle


def _hiding(keepers: Sequence[Keeper], by: Identity) -> Iterator[Keeper]:
    """Of bundles in others' projects only that they are there."""
    yield from (keeper for keeper in keepers if may_see(by, keeper.project))
    yield from (Keeper(HIDDEN, keeper.uuid, "") for keeper in keepers if not may_see(by, keeper.project))


def _named(paths: Sequence[Path]) -> dict[str, Path]:
    missing = [str(path) for path in paths if not path.exists()]
    if missing or not paths:
        raise InvalidInput("Some files to add are not there." if missing else "No files to add.", problems=missing)
    files: dict[str, Path] = {}
    for path in paths:
        inner = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in inner:
            name = file.relative_to(path.parent).as_posix() if path.is_dir() else file.name
            if name in files:
                raise InvalidInput(f"Two of the files are named '{name}'.", hint="Add their folder instead.")
            files[name] = file
    return files
