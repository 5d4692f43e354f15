"""`seedbed labels`: labels from files of other tools, and into them; what was said of images."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seedbed.base.files import says_when_full
from seedbed.faces.cli.completion import PROJECTS
from seedbed.faces.cli.fetching import refuse_to_overwrite
from seedbed.faces.cli.options import Json, Limit
from seedbed.faces.cli.output import note, say, show_json, show_table, when
from seedbed.faces.cli.session import Session, session

if TYPE_CHECKING:
    from seedbed.faces.client.results import Change, Imported

app = typer.Typer(help="Labels of a project: in, out, and what was said.", no_args_is_help=True)
Ref = Annotated[str, typer.Argument(help="The project's name or id.", autocompletion=PROJECTS)]
_FORMATS = "csv, label-studio, coco, yolo, huggingface, folders"


@app.command("import")
def import_labels(
    ref: Ref,
    source: Annotated[Path | None, typer.Argument(help="A file, folder or archive; none with --format data.")] = None,
    format: Annotated[
        str, typer.Option(help=f"auto, {_FORMATS}; data: the classes that the images came with.")
    ] = "auto",
    known_classes: Annotated[
        bool, typer.Option("--known-classes", help="Refuse classes that the project lacks, instead of making them.")
    ] = False,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Pass over labels of images that are not there.")
    ] = False,
    golden: Annotated[
        bool, typer.Option("--golden", help="You are sure of them: others can be asked the same, as a check.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take labels in, all or none; taking the same file again adds nothing."""

    how = {"format": format, "add_classes": not known_classes, "skip_missing": skip_missing, "golden": golden}
    with session() as here:
        made = take_in(here, ref, source, **how)
    if as_json:
        show_json(made)
        return
    say(f"{made['count']:,} of {made['read']:,} labels are new.")
    if made["classes_added"]:
        say(f"New classes: {', '.join(made['classes_added'])}.")
    if made["skipped"]:
        note(f"{made['skipped']:,} labels are of images that are not there; they were passed over.")


def take_in(here: Session, ref: str, source: Path | None, **how: Any) -> "Imported":
    """Bring a file of labels of this machine to the project."""
    project = here.client.projects.get(ref)["id"]
    where = here.bring(source, project=project) if source else {}
    return here.client.projects.import_labels(project, **where, **how)


@app.command("export")
def export_labels(
    ref: Ref,
    target: Annotated[Path, typer.Argument(help="The file to write: CSV, JSON, or a zip where images go along.")],
    format: Annotated[str, typer.Option(help=f"{_FORMATS}.")] = "csv",
    images: Annotated[
        bool | None, typer.Option("--images/--no-images", help="With the images; else as is usual for the format.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Write the labels that count as other tools read them."""

    target = target.expanduser()
    refuse_to_overwrite([target], force=force)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with session() as here, says_when_full(target.parent):
            here.client.projects.export_labels(ref, draft, format=format, images=images)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    result = {"file": str(target), "format": format, "bytes": target.stat().st_size}
    show_json(result) if as_json else say(f"{target} is written.")


@app.command()
def history(
    ref: Ref,
    image: Annotated[str, typer.Argument(help="An image's id or file; none: the newest of all.")] = "",
    limit: Limit = 100,
    as_json: Json = False,
) -> None:
    """Everything that was ever said of an image, or what was said last."""

    with session() as here:
        found: list[Any] = [*here.client.projects.history(ref, image)] if image else _newest(here, ref, limit)
    if as_json:
        show_json(found)
        return
    rows = [(when(one["at"]), one["by"], one["label"] or one["mark"] or "(taken back)", one["image"]) for one in found]
    show_table(("at", "by", "said", "image"), rows, empty="Nothing was said yet.")


@app.command()
def disagreements(ref: Ref, as_json: Json = False) -> None:
    """Images that people call by different classes, and on how many they agree."""

    with session() as here:
        found = here.client.projects.disagreements(ref)
        pairs = here.client.projects.quality(ref)["pairs"]
    if as_json:
        show_json({"agreement": pairs, "disagreements": found})
        return
    rows = [(one["image"], ", ".join(f"{who}: {what}" for who, what in one["said"].items())) for one in found]
    show_table(("image", "said"), rows, empty="Nobody disagrees.")
    for pair in pairs:
        say(pair["sentence"])


@app.command()
def quality(ref: Ref, as_json: Json = False) -> None:
    """How far people agree, and how many of the golden labels that they were asked each got right."""

    with session() as here:
        found = here.client.projects.quality(ref)
    if as_json:
        show_json(found)
        return
    for one in (*found["pairs"], *found["checks"]):
        say(one["sentence"])
    if not found["pairs"]:
        say("No image was labelled by two people yet.")
    if not found["golden"]:
        note("There are no golden labels to check people with: seedbed labels import PROJECT FILE --golden")


def _newest(here: Session, ref: str, limit: int) -> "list[Change]":
    found: list[Change] = []
    page = here.client.projects.changes(ref)
    found += page["events"]
    while page["more"]:
        page = here.client.projects.changes(ref, page["last"])
        found = [*found, *page["events"]][-limit:]
    return found[-limit:]
