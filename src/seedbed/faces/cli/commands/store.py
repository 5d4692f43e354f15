"""`seedbed store`: bundles and their files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seedbed.base.errors import Damaged, InvalidInput
from seedbed.base.resources import show_size
from seedbed.faces.cli.completion import BUNDLES, CONTEXTS, KINDS
from seedbed.faces.cli.fetching import fetch, files_in
from seedbed.faces.cli.heavy import HEAVY
from seedbed.faces.cli.options import Json, Limit, Project, Yes, pairs, sure
from seedbed.faces.cli.output import say, short, show_json, show_record, show_table, when
from seedbed.faces.cli.session import Session, session

if TYPE_CHECKING:
    from seedbed.faces.client.results import BundleDetail, Deletion

app = typer.Typer(help="Bundles: add, find, look, tag, remove, copy to a remote and back.", no_args_is_help=True)
_FEW = 12  # values that are shown in full
_PAGE = 1000
Ref = Annotated[str, typer.Argument(help="Name, uuid, or the beginning of a uuid.", autocompletion=BUNDLES)]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="NAME=VALUE.")]
Context = Annotated[str, typer.Option(help="A context; else the one in use.", autocompletion=CONTEXTS)]


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
    name: Annotated[str, typer.Argument(help="A name; all when left out.", autocompletion=BUNDLES)] = "",
    kind: Annotated[str, typer.Option(help="Only of this kind.", autocompletion=KINDS)] = "",
    tag: Tags = None,
    project: Project = "",
    context: Context = "",
    all_contexts: Annotated[bool, typer.Option("--all-contexts", help="Of every context.")] = False,
    all_versions: Annotated[bool, typer.Option("--all", help="Every version, not only the latest.")] = False,
    limit: Limit = 100,
    as_json: Json = False,
) -> None:
    """Bundles of a context, the newest first; the latest of each name."""

    if context and all_contexts:
        raise InvalidInput("Give either --context or --all-contexts.")
    with session() as here:
        place = "" if all_contexts else context or _in_use(here)
        found = here.client.bundles.find(
            name,
            kind=kind,
            tags=pairs(tag, "--tag"),
            project=project or None,
            all_versions=all_versions,
            context=place,
            limit=limit,
        )
    if as_json:
        show_json(found)
        return
    rows = [(short(one["uuid"]), one["name"], one["kind"], when(one["created"]), _tags(one["tags"])) for one in found]
    where = f"in the context '{place}'; in every one: --all-contexts" if place else "in the store"
    show_table(("id", "name", "kind", "made", "tags"), rows, empty=f"Nothing like that is {where}.")


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
    refs: Annotated[list[str], typer.Argument(help="Names (the newest version) or uuids.", autocompletion=BUNDLES)],
    all_versions: Annotated[bool, typer.Option("--all-versions", help="Of a name, the older versions too.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Remove bundles for good, with what can be made from them again, such as caches; the bytes go too.

    What was learnt or measured from them stays, and so do files that other bundles have too: it says which.
    """

    with session() as here:
        named = {one["uuid"]: one for one in (here.client.bundles.show(ref) for ref in refs)}
        older = {one["name"]: _older(here, one) for one in named.values() if one["name"] in refs}
        doomed = dict.fromkeys([*named, *(uuid for uuids in older.values() for uuid in uuids if all_versions)])
        names = ", ".join(f"{one['name']} ({one['uuid']})" for one in named.values())
        staying = {} if all_versions else {name: len(uuids) for name, uuids in older.items() if uuids}
        more = f" and {_many(len(doomed) - len(named), 'older version')}" if len(doomed) > len(named) else ""
        sure(f"Remove {names}{more} for good?", yes=yes)
        report = here.client.bundles.remove(list(doomed))
    if as_json:
        show_json(report)
        return
    for line in [*_said_of(report, len(doomed)), *_said_of_older(staying)]:
        say(line)


@app.command()
def push(
    context: Annotated[str, typer.Argument(help="A context; else the one in use.", autocompletion=CONTEXTS)] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Read back what is there; send again what is damaged.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Copy what the context's remote lacks."""
    _copy("push", context, check=check, as_json=as_json)


@app.command()
def pull(
    context: Annotated[str, typer.Argument(help="A context; else the one in use.", autocompletion=CONTEXTS)] = "",
    check: Annotated[bool, typer.Option("--check", help="Read every file here; fetch again what is damaged.")] = False,
    as_json: Json = False,
) -> None:
    """Copy what is missing here, or known to be damaged, from the context's remote."""
    _copy("pull", context, check=check, as_json=as_json)


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
    findings = report["findings"]
    if as_json:
        show_json(report)
    else:
        read = f"{_many(report['bundles'], 'bundle')} with {_many(report['files'], 'file')}"
        say(f"{read} ({show_size(report['bytes'])}) looked at{'' if findings else '; all are as they were written'}.")
        for one in findings:
            say(f"  - {one['name']} ({one['bundle']}): {one['what']}")
    if findings:
        raise Damaged(
            f"{_many(len(findings), 'thing')} in the store {'is' if len(findings) == 1 else 'are'} not as written.",
            hint="Bring back from a remote: seedbed store pull. Or add the same files again: "
            "seedbed store add FOLDER --name NAME. From a backup: restore it into another home, and push from there.",
        )


@app.command()
def rebuild(as_json: Json = False) -> None:
    """Make the index of bundles anew from the manifests, when the database is not to be trusted."""

    with session() as here:
        report = here.client.bundles.rebuild()
    show_json(report) if as_json else show_record(report)


def _copy(way: str, context: str, *, check: bool, as_json: bool) -> None:

    with session() as here:
        copy = here.client.contexts.push if way == "push" else here.client.contexts.pull
        report = copy(context or _in_use(here), check=check)
    show_json(report) if as_json else show_record(report)


def _in_use(here: Session) -> str:
    return next(one["name"] for one in here.client.contexts.list() if one["current"])


def _older(here: Session, newest: "BundleDetail") -> list[str]:
    """The uuids of the other versions of a name, in the same project."""
    found: list[str] = []
    while True:
        page = here.client.bundles.find(
            newest["name"], project=newest["project"], all_versions=True, limit=_PAGE, offset=len(found)
        )
        found += [one["uuid"] for one in page]
        if len(page) < _PAGE:
            return [uuid for uuid in found if uuid != newest["uuid"]]


def _said_of(report: "Deletion", asked: int) -> list[str]:
    """What went, which copies go elsewhere, and which bytes have to wait, a sentence each."""
    gone = len(report["bundles"])
    more = f", {gone - asked} of them derived from what was named" if gone > asked else ""
    bytes_gone = f"{_many(report['files'], 'file')} ({show_size(report['bytes'])})"
    elsewhere = [f"The copies at {', '.join(report['remotes'])} go too."] if report["remotes"] else []
    first = f"{_many(gone, 'bundle')} removed for good{more}; {bytes_gone} freed."
    return [first, *_said_of_shared(report), *elsewhere, *report["waiting"]]


def _said_of_shared(report: "Deletion") -> list[str]:
    if not report["shared"]:
        return []
    keepers, few = report["keepers"], ", ".join(report["keepers"][:_FEW])
    more = f" and {len(keepers) - _FEW} more" if len(keepers) > _FEW else ""
    stay = f"{_many(report['shared'], 'file')} {'stays' if report['shared'] == 1 else 'stay'}"
    return [f"{stay}, because other bundles have the same bytes: {few}{more}."]


def _said_of_older(staying: Mapping[str, int]) -> list[str]:
    return [
        f"{_many(count, 'older version')} of {name} {'stays' if count == 1 else 'stay'}; "
        f"to remove all: seedbed store rm {name} --all-versions"
        for name, count in staying.items()
    ]


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _in_brief(array: Mapping[str, Any]) -> str:
    items = array["items"]
    if array["type"] in ("file", "bundle", "link") or len(items) > _FEW:
        return f"{len(items)} {array['type']}{'' if len(items) == 1 else 's'}"
    return ", ".join(f"{item:.4g}" if isinstance(item, float) else str(item) for item in items)


def _tags(tags: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(tags.items()))
