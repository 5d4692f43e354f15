"""`seedbed data`: bring images in, look at them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from seedbed.base.resources import show_size
from seedbed.faces.cli.completion import DATA_SETS
from seedbed.faces.cli.options import Detach, Json, Limit, Project
from seedbed.faces.cli.output import say, short, show_json, show_record, show_table, when
from seedbed.faces.cli.session import session
from seedbed.methods.learn.settings import TrainSettings

app = typer.Typer(help="Data sets: bring images in, look at them.", no_args_is_help=True)


@app.command()
def add(
    source: Annotated[Path, typer.Argument(help="A folder, a zip or tar archive, or a CSV list of images.")],
    name: Annotated[str, typer.Option(help="The data set's name; else the source's.")] = "",
    to: Annotated[
        str, typer.Option(help="Add to this data set: a new version that shares the bytes.", autocompletion=DATA_SETS)
    ] = "",
    project: Project = "",
    size: Annotated[
        int, typer.Option(min=8, max=1024, help="Side of the decoded cache in pixels.")
    ] = TrainSettings().size,
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Take in images, with findings and statistics."""

    named = name or to or source.expanduser().resolve().name.split(".")[0]
    with session() as here:
        job = here.client.data.add(
            name=named, project=project, to=to, size=size, **here.bring(source, project=project, images=True)
        )
        if not detach:
            job = here.run([job], quiet=as_json)[0]
        if as_json:
            show_json(job)
        elif detach:
            say(f"Queued as {job['id']}. Follow it: seedbed jobs show {job['id']}")
        else:
            made = job["outputs"]["data"]  # its id, since by now the name may stand for a newer version
            say(f"{named} is in: {made}. Look at it: seedbed data show {made}")


@app.command("list")
def list_sets(project: Project = "", limit: Limit = 100, as_json: Json = False) -> None:
    """The latest version of every data set."""

    with session() as here:
        found = here.client.data.list(project=project or None, limit=limit)
    if as_json:
        show_json(found)
        return
    rows = [(short(one["uuid"]), one["name"], when(one["created"])) for one in found]
    show_table(("id", "name", "made"), rows, empty="No data set yet. Bring one in: seedbed data add FOLDER")


@app.command()
def show(
    ref: Annotated[str, typer.Argument(help="Name or uuid.", autocompletion=DATA_SETS)], as_json: Json = False
) -> None:
    """Counts, classes, findings and statistics of a data set."""
    with session() as here:
        found = here.client.data.show(ref)
    if as_json:
        show_json(found)
        return
    show_record(_in_words(found))
    show_table(("class", "images"), sorted(found["classes"].items()), empty="No image has a class yet.")
    for finding in found["findings"]:
        say(f"{finding['severity']}: {finding['sentence']}")


def _in_words(data: dict[str, Any]) -> dict[str, str]:
    numbers = data["statistics"]
    return {
        "id": data["uuid"],
        "name": data["name"],
        "project": data["project"],
        "made": when(data["created"]),
        "size": show_size(data["size"]),
        "images": f"{data['images']:,}",
        "without a class": f"{data['unlabelled']:,}",
        "formats": _counts(numbers["formats"]),
        "parts": _counts(numbers["splits"]),
        "width": _range(numbers["width"]),
        "height": _range(numbers["height"]),
        "columns": ", ".join(f"{name} ({count:,} values)" for name, count in numbers.get("columns", {}).items()),
        "findings": f"{len(data['findings'])}, below" if data["findings"] else "none",
    }


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _range(pixels: Sequence[int]) -> str:
    least, middle, most = pixels
    return f"{least} pixels" if least == most else f"{least} to {most} pixels, half of them up to {middle}"
