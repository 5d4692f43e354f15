"""`seedbed store`: bundles and their files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seedbed.base.errors import Damaged, InvalidInput
from seedbed.base.resources import show_size
from seedbed.faces.cli.fetching import fetch, files_in
from seedbed.faces.cli.heavy import HEAVY
from seedbed.faces.cli.options import Json, Limit, Project, Yes, pairs, sure
from seedbed.faces.cli.output import say, short, show_json, show_record, show_table, when
from seedbed.faces.cli.session import session

if TYPE_CHECKING:
    from seedbed.faces.client.results import Deletion

app = typer.Typer(help="Bundles: add, find, look, tag, remove, copy to a remote and back.", no_args_is_help=True)
_FEW = 12  # values that are shown in full
Ref = Annotated[str, typer.Argument(help="Name, uuid, or the beginning of a uuid.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="NAME=VALUE.")]
Context = Annotated[str, typer.Option(help="A context; else the one in use.")]


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(help="Files, or one folder.")],
    name: Annotated[str, typer.Option(help="The bundle's name.")],
    kind: Annotated[str, typer.Option(help="What it is.")] = "files",
    tag: Tags = None,
    project: Project = "",
    as_json: Json = False,
) -> None:
    """Keep files as a bundle."""

    fields: dict[str, Any] = {"name": name, "kind": kind, "tags": pairs(tag, "--tag"), "project": project}
    with session() as here:
        if here.platform is not None:
            made = here.client.bundles.add([str(path.expanduser().resolve()) for path in paths], **fields)
        elif len(paths) == 1:
            made = here.client.bundles.add(upload=here.bring(paths[0], project=project)["upload"], **fields)
        else:
            raise InvalidInput("Over the network, add one file or one folder at a time.")
    show_json(made) if as_json else say(f"{made['name']}: {made['uuid']}")


@app.command()
def find(
    name: Annotated[str, typer.Argument(help="A name; all when left out.")] = "",
    kind: Annotated[str, typer.Option(help="Only of this kind.")] = "",
    tag: Tags = None,
    project: Project = "",
    context: Context = "",
    all_versions: Annotated[bool, typer.Option("--all", help="Every version, not only the latest.")] = False,
    limit: Limit = 100,
    as_json: Json = False,
) -> None:
    """Bundles, the newest first; the latest of each name."""

    with session() as here:
        found = here.client.bundles.find(
            name,
            kind=kind,
            tags=pairs(tag, "--tag"),
            project=project or None,
            all_versions=all_versions,
            context=context,
            limit=limit,
        )
    if as_json:
        show_json(found)
        return
    rows = [(short(one["uuid"]), one["name"], one["kind"], when(one["created"]), _tags(one["tags"])) for one in found]
    show_table(("id", "name", "kind", "made", "tags"), rows, empty="Nothing like that is in the store.")


@app.command()
def show(ref: Ref, as_json: Json = False) -> None:
    """One bundle with its arrays and what made it."""

    with session() as here:
        found = here.client.bundles.show(ref)
    if as_json:
        show_json(found)
        return
    arrays = {f"  {name}": _in_brief(array) for name, array in found["arrays"].items()}
    made_by = found["lineage"]["step"] or "hand"
    rest = {name: value for name, value in found.items() if name not in ("arrays", "lineage", "tags")}
    show_record({**rest, "created": when(found["created"]), "tags": _tags(found["tags"]), "made by": made_by, **arrays})


@app.command()
def get(
    ref: Ref,
    folder: Annotated[Path, typer.Argument(help="Where they go, as FOLDER/ARRAY/NAME.")],
    array: Annotated[str, typer.Option(help="Only the files of this array.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    as_json: Json = False,
) -> None:
    """Write the files of a bundle into a folder."""

    with session() as here:
        bundle = here.client.bundles.show(ref)
        files = files_in(bundle, folder.expanduser(), array)
        fetch(here, bundle["uuid"], files, force=force, quiet=as_json)
    size = sum(file.size for file in files)
    result = {"uuid": bundle["uuid"], "folder": str(folder), "files": len(files), "size": size}
    show_json(result) if as_json else say(
        f"{_many(len(files), 'file')} of {bundle['name']} ({show_size(size)}) in {folder}."
    )


@app.command()
def lineage(
    ref: Ref,
    down: Annotated[
        bool, typer.Option("--down", help="What was made from it, instead of what it was made from.")
    ] = False,
    depth: Annotated[int, typer.Option(min=1, max=1000, help="How many steps away at most.")] = 50,
    as_json: Json = False,
) -> None:
    """What a bundle was made from."""

    with session() as here:
        root = here.client.bundles.show(ref)["uuid"]
        graph = here.client.bundles.lineage(root, direction="down" if down else "up", depth=depth)
    show_json(graph) if as_json else HEAVY.get("lineage")(root, graph, down=down)


@app.command()
def tag(
    ref: Ref,
    changes: Annotated[list[str], typer.Argument(help="NAME=VALUE; NAME= removes one.")],
    as_json: Json = False,
) -> None:
    """Set or remove tags."""

    with session() as here:
        wanted = {name: value or None for name, value in pairs(changes, "A tag").items()}
        found = here.client.bundles.tag(ref, wanted)
    show_json(found) if as_json else say(f"{found['name']} ({found['uuid']}): {_tags(found['tags'])}")


@app.command()
def rm(
    refs: Annotated[list[str], typer.Argument(help="Names or uuids.")], yes: Yes = False, as_json: Json = False
) -> None:
    """Remove bundles for good, with what is only derived from them; the bytes go too."""

    with session() as here:
        found = [here.client.bundles.show(ref) for ref in refs]
        names = ", ".join(f"{one['name']} ({one['uuid']})" for one in found)
        sure(f"Remove {names} for good?", yes=yes)
        report = here.client.bundles.remove([one["uuid"] for one in found])
    if as_json:
        show_json(report)
        return
    for line in _said_of(report, len({one["uuid"] for one in found})):
        say(line)


@app.command()
def push(
    context: Annotated[str, typer.Argument(help="A context; else the one in use.")] = "", as_json: Json = False
) -> None:
    """Copy what the context's remote lacks."""
    _copy("push", context, as_json=as_json)


@app.command()
def pull(
    context: Annotated[str, typer.Argument(help="A context; else the one in use.")] = "", as_json: Json = False
) -> None:
    """Copy what is missing here from the context's remote."""
    _copy("pull", context, as_json=as_json)


@app.command()
def gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False, as_json: Json = False
) -> None:
    """Remove the files that nothing needs."""

    with session() as here:
        report = here.client.bundles.gc(dry_run=dry_run)
    show_json(report) if as_json else show_record(report)


@app.command()
def verify(as_json: Json = False) -> None:
    """Read every file and say which are damaged or missing."""

    with session() as here:
        report = here.client.bundles.verify()
    show_json(report) if as_json else show_record(report)
    if any(report.get(name) for name in ("damaged", "missing")):
        raise Damaged(
            "Some files are not what they were.", hint="Restore them: seedbed store pull, or seedbed restore."
        )


@app.command()
def rebuild(as_json: Json = False) -> None:
    """Make the index of bundles anew from the manifests, when the database is not to be trusted."""

    with session() as here:
        report = here.client.bundles.rebuild()
    show_json(report) if as_json else show_record(report)


def _copy(way: str, context: str, *, as_json: bool) -> None:

    with session() as here:
        name = context or next(one["name"] for one in here.client.contexts.list() if one["current"])
        report = here.client.contexts.push(name) if way == "push" else here.client.contexts.pull(name)
    show_json(report) if as_json else show_record(report)


def _said_of(report: "Deletion", asked: int) -> list[str]:
    """What went, which copies go elsewhere, and which bytes have to wait, a sentence each."""
    gone = len(report["bundles"])
    more = f", {gone - asked} of them derived from what was named" if gone > asked else ""
    bytes_gone = f"{_many(report['files'], 'file')} ({show_size(report['bytes'])})"
    elsewhere = [f"The copies at {', '.join(report['remotes'])} go too."] if report["remotes"] else []
    return [f"{_many(gone, 'bundle')} removed for good{more}; {bytes_gone} freed.", *elsewhere, *report["waiting"]]


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _in_brief(array: Mapping[str, Any]) -> str:
    items = array["items"]
    if array["type"] in ("file", "bundle", "link") or len(items) > _FEW:
        return f"{len(items)} {array['type']}{'' if len(items) == 1 else 's'}"
    return ", ".join(f"{item:.4g}" if isinstance(item, float) else str(item) for item in items)


def _tags(tags: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(tags.items()))
