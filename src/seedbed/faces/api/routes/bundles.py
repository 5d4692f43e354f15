"""/bundles: add, find, look, tag, remove, fetch files; /store: clean up, verify, rebuild."""

from typing import Annotated, Any, Literal

from fastapi import Body, Path, Query

from seedbed.base.errors import InvalidInput
from seedbed.faces.api.access import Here, Labeller, Operator, Rules, Trainer, Viewer
from seedbed.faces.api.files import RangedFile
from seedbed.faces.api.paths import drop_upload, existing_path, files_of_upload
from seedbed.faces.api.problems import responses
from seedbed.faces.api.requests import BundleAsked, GcAsked, RemoveAsked
from seedbed.faces.api.routing import Limit, Offset, router
from seedbed.faces.api.views import BundleDetail, BundleView, DeletionView, GraphView, plain

bundles = router("bundles")
store = router("store")
BundleRef = Annotated[str, Path(description="uuid, the beginning of one, or a name (its latest).", max_length=500)]
Tag = Annotated[str, Query(max_length=500)]


@bundles.post("", status_code=201)
def add(asked: BundleAsked, here: Here, rules: Rules, by: Trainer) -> BundleDetail:
    """Publish files of the server, or of an upload, as they are."""
    if bool(asked.paths) == bool(asked.upload):
        raise InvalidInput("Give either 'paths' (files of the server) or 'upload' (the id of an upload).")
    uploaded = files_of_upload(rules, asked.upload) if asked.upload else []
    paths = uploaded or [existing_path(rules, path) for path in asked.paths]
    made = here.bundles.add(paths, name=asked.name, kind=asked.kind, tags=asked.tags, project=asked.project, by=by)
    drop_upload(rules, asked.upload)
    return BundleDetail.of(made)


@bundles.get("")
def find(
    here: Here,
    by: Viewer,
    name: Annotated[str, Query(max_length=200)] = "",
    kind: Annotated[str, Query(max_length=200)] = "",
    tag: Annotated[list[Tag] | None, Query(max_length=20, description="name=value")] = None,
    project: Annotated[str | None, Query(max_length=500)] = None,
    all_versions: Annotated[bool, Query(alias="all", description="Every version, not only the latest.")] = False,
    context: Annotated[str, Query(max_length=200, description="Only of this context; empty: of all.")] = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[BundleView]:
    """Bundles, the newest first; the latest of each name unless all are asked for."""
    found = here.bundles.find(
        name,
        kind=kind,
        tags=_tags(tag or []),
        project=project,
        all_versions=all_versions,
        context=context,
        limit=limit,
        offset=offset,
        by=by,
    )
    return [BundleView.of(bundle) for bundle in found]


@bundles.get("/{ref}")
def show(ref: BundleRef, here: Here, by: Viewer) -> BundleDetail:
    """One bundle with its arrays and what made it."""
    return BundleDetail.of(here.bundles.show(ref, by=by))


@bundles.get("/{ref}/lineage")
def lineage(
    ref: BundleRef,
    here: Here,
    by: Viewer,
    direction: Literal["up", "down"] = "up",
    depth: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> GraphView:
    """What it was made from (up), or what was made from it (down)."""
    return GraphView.of(here.bundles.lineage(ref, direction=direction, depth=depth, by=by))


@bundles.patch("/{ref}/tags")
def tag(
    ref: BundleRef,
    changes: Annotated[dict[str, str | None], Body(examples=[{"season": "2025", "old": None}])],
    here: Here,
    by: Labeller,
) -> BundleView:
    """Set tags; null removes one."""
    return BundleView.of(here.bundles.tag(ref, changes, by=by))


@bundles.post("/remove")
def remove(asked: RemoveAsked, here: Here, by: Trainer) -> DeletionView:
    """Delete bundles for good, with what is only derived from them."""
    return DeletionView.of(here.bundles.remove(asked.refs, by=by))


@bundles.get("/{ref}/files/{array}/{index}", response_class=RangedFile, responses=responses(416))
def file(
    ref: BundleRef,
    array: Annotated[str, Path(max_length=200)],
    index: Annotated[int, Path(ge=0, le=1 << 31)],
    here: Here,
    by: Viewer,
    called: Annotated[
        str, Query(alias="as", max_length=200, description="What it is saved as; left out: its own name.")
    ] = "",
) -> RangedFile:
    """One file of a bundle. Never shown in place: a page inside a file must not run as ours."""
    path, name = here.bundles.file(ref, array, index, by=by)
    headers = {"Content-Security-Policy": "sandbox; default-src 'none'", "Cache-Control": "private, immutable"}
    return RangedFile(path, filename=called or name, media_type="application/octet-stream", headers=headers)


@store.post("/gc")
def gc(asked: GcAsked, here: Here, by: Operator) -> dict[str, Any]:
    """Remove the files that nothing needs."""
    return plain(here.bundles.gc(dry_run=asked.dry_run, by=by))


@store.post("/verify")
def verify(here: Here, by: Operator) -> dict[str, Any]:
    """Read every file and say which are damaged or missing."""
    return plain(here.bundles.verify(by=by))


@store.post("/rebuild")
def rebuild(here: Here, by: Operator) -> dict[str, Any]:
    """Make the index of bundles anew from the manifests, when the database is not to be trusted."""
    return plain(here.bundles.rebuild(by=by))


def _tags(given: list[str]) -> dict[str, str]:
    wrong = [text for text in given if "=" not in text]
    if wrong:
        raise InvalidInput("Tags are written name=value.", problems=[f"'{text}' has no '='." for text in wrong])
    return dict(text.split("=", 1) for text in given)
