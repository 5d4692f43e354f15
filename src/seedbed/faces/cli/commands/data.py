"""`seedbed data`: bring images in, look at them."""

from pathlib import Path
from typing import Annotated

import typer

from seedbed.base.resources import show_size
from seedbed.faces.cli.options import Detach, Json, Limit, Project
from seedbed.faces.cli.output import say, short, show_json, show_record, show_table, when
from seedbed.faces.cli.session import session

app = typer.Typer(help="Data sets: bring images in, look at them.", no_args_is_help=True)


@app.command()
def add(
    source: Annotated[Path, typer.Argument(help="A folder, a zip or tar archive, or a CSV list of images.")],
    name: Annotated[str, typer.Option(help="The data set's name; else the source's.")] = "",
    to: Annotated[str, typer.Option(help="Add to this data set: a new version that shares the bytes.")] = "",
    project: Project = "",
    size: Annotated[int, typer.Option(min=8, max=1024, help="Side of the decoded cache in pixels.")] = 64,
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Take in images, with findings and statistics."""

    named = name or to or source.expanduser().resolve().name.split(".")[0]
    with session() as here:
        job = here.client.data.add(name=named, project=project, to=to, size=size, **here.bring(source, project=project))
        if not detach:
            job = here.run([job], quiet=as_json)[0]
        if as_json:
            show_json(job)
        elif detach:
            say(f"Queued as {job['id']}. Follow it: seedbed jobs show {job['id']}")
        else:
            say(f"{named} is in: {', '.join(job['outputs'].values())}. Look at it: seedbed data show {named}")


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
def show(ref: Annotated[str, typer.Argument(help="Name or uuid.")], as_json: Json = False) -> None:
    """Counts, classes, findings and statistics of a data set."""
    with session() as here:
        found = here.client.data.show(ref)
    if as_json:
        show_json(found)
        return
    plain = {name: value for name, value in found.items() if name not in ("classes", "findings")}
    show_record({**plain, "created": when(found["created"]), "size": show_size(found["size"])})
    show_table(("class", "images"), sorted(found["classes"].items()), empty="No image has a class yet.")
    for finding in found["findings"]:
        say(f"{finding['severity']}: {finding['sentence']}")
